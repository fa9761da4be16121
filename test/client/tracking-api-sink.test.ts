import { describe, expect, it } from 'vitest';
import { TrackingApiSink } from '../../src/client/tracking-api-sink.ts';
import type { Answer, ReceivedBatch } from './batch-receiver.ts';
import { anyNumber, trackingApi, tracks } from './tracking-api.ts';

describe('a batch request', () => {
  it('is a POST to /v1/batch with the write key as Basic auth', async () => {
    const { receiver, trackOne } = await trackingApi();
    await trackOne();
    expect(receiver.received).toMatchObject([
      {
        path: '/v1/batch',
        headers: {
          authorization: `Basic ${Buffer.from('w-key:').toString('base64')}`,
          'content-type': 'application/json',
          'user-agent': 'hooks-cli/1.2.3',
        },
        sentAt: '2026-01-01T00:00:00.000Z',
      },
    ]);
  });

  it('goes to the path of the endpoint if the endpoint has a path', async () => {
    const { receiver, setUp } = await trackingApi();
    await setUp({}, { endpoint: `${receiver.url}/collect?x=1` }).track({ userId: 'u', event: 'e' });
    expect(receiver.received[0]?.path).toBe('/collect?x=1');
  });

  it('holds each message with its messageId, timestamp, type and context.library', async () => {
    const { receiver, setUp } = await trackingApi();
    const client = setUp({ flushAt: 3 });
    await Promise.all([
      client.track({ userId: 'u', event: 'e', messageId: 'm', integrations: { All: false, Webhooks: true } }),
      client.identify({ userId: 'u', context: { ip: '::1', library: { name: 'other' } } }),
      client.alias({ userId: 'new', previousId: 'old' }),
    ]);
    const library = { name: 'hooks-cli', version: '1.2.3' };
    expect(receiver.received[0]?.batch).toMatchObject([
      {
        type: 'track',
        messageId: 'm',
        userId: 'u',
        event: 'e',
        timestamp: '2026-01-01T00:00:00.000Z',
        context: { library },
        integrations: { All: false, Webhooks: true },
      },
      { type: 'identify', context: { ip: '::1', library: { name: 'other' } } },
      { type: 'alias', userId: 'new', previousId: 'old', context: { library } },
    ]);
  });

  it('holds the name and category of a page as top-level fields', async () => {
    const { receiver, setUp } = await trackingApi();
    const message = { type: 'page', timestamp: '2026-01-01T00:00:00.000Z', userId: 'u' } as const;
    await setUp().enqueue({
      message: { ...message, properties: { name: 'Home', category: 'Docs', path: '/' } },
    });
    expect(receiver.received[0]?.batch).toMatchObject([
      { name: 'Home', category: 'Docs', properties: { path: '/' } },
    ]);
  });

  it('is at most 500,000 bytes; further messages form the next request', async () => {
    const { receiver, setUp } = await trackingApi();
    const client = setUp({ flushAt: 1_000 });
    const ids = Array.from({ length: 40 }, (_, index) => `m${index}`);
    const receipts = ids.map((messageId) =>
      client.track({ userId: 'u', event: 'e', messageId, properties: { text: '😀'.repeat(7_000) } }),
    );
    await client.flush();
    expect((await Promise.all(receipts)).every(({ accepted }) => accepted)).toBe(true);
    const sizes = receiver.received.map(({ bodyBytes }) => bodyBytes);
    expect(sizes).toHaveLength(3);
    // As full as possible with whole messages.
    expect(sizes.slice(0, 2).every((bytes) => bytes > 470_000 && bytes <= 500_000)).toBe(true);
    expect(receiver.received.flatMap(({ batch }) => batch.map(({ messageId }) => messageId))).toEqual(ids);
  });

  it('has as many bytes as its messages and envelope', async () => {
    const { receiver, sinkOptions } = await trackingApi();
    const sink = new TrackingApiSink(sinkOptions());
    const timestamp = '2026-01-01T00:00:00.000Z';
    const message = { type: 'track', event: 'é', userId: '😀', timestamp } as const;
    const encoded = sink.encode({ message }, 'm');
    await sink.submit([encoded]);
    expect(receiver.received[0]?.bodyBytes).toBe(
      encoded.body.byteLength + Buffer.byteLength(`{"batch":[],"sentAt":"${timestamp}"}`),
    );
  });

  it('keeps the order of the calls over several batches and retries', async () => {
    const { receiver, setUp } = await trackingApi();
    receiver.answers.push({ status: 500 }, { status: 200 }, { status: 503 });
    const client = setUp({ flushAt: 2 });
    await Promise.all(['a', 'b', 'c', 'd', 'e', 'f'].map((event) => client.track({ userId: 'u', event })));
    expect(receiver.events.map((events) => events.join(''))).toEqual(['ab', 'ab', 'cd', 'cd', 'ef']);
  });
});

describe('an accepted batch', () => {
  it('has receipts with its attempts', async () => {
    const { receiver, setUp } = await trackingApi();
    expect(await setUp().track({ userId: 'u', event: 'e', messageId: 'm' })).toEqual({
      accepted: true,
      messageId: 'm',
      deliveries: [],
      attempts: [
        {
          at: Date.UTC(2026, 0, 1),
          url: `${receiver.url}/v1/batch`,
          round: 1,
          result: 'delivered',
          status: 200,
          ms: anyNumber,
        },
      ],
    });
  });

  it.each(['', 'OK', '{"success":true}', '{"rejected":[]}'])('can have the response %j', async (body) => {
    const { receiver, trackOne } = await trackingApi();
    receiver.answers.push({ status: 200, body });
    expect(await trackOne()).toMatchObject({ accepted: true });
  });

  it('excludes the messages that the response lists as rejected', async () => {
    const { receiver, setUp } = await trackingApi();
    const body = JSON.stringify({
      success: true,
      rejected: [{ index: 1, code: 'invalid', message: 'no \u001b[31mevent' }],
    });
    receiver.answers.push({ status: 200, body });
    expect(await tracks(setUp({ flushAt: 3 }), 3)).toMatchObject([
      { accepted: true },
      { accepted: false, messageId: 'm1', code: 'invalid', reason: 'no \\u001b[31mevent' },
      { accepted: true },
    ]);
  });

  it('has reasons without the write key, even if the response repeats it', async () => {
    const { receiver, trackOne } = await trackingApi();
    const basic = Buffer.from('w-key:').toString('base64');
    const rejected = [{ index: 0, code: 'no-w-key', message: `w-key? Basic ${basic}` }];
    receiver.answers.push({ status: 200, body: JSON.stringify({ rejected }) });
    const receipt = await trackOne();
    expect(receipt).toMatchObject({ accepted: false, code: 'no-***', reason: '***? Basic ***' });
  });

  it.each([
    '{"rejected":[{"index":0',
    '{"rejected":true}',
    '{"rejected":[null]}',
    '{"rejected":[{"index":"0"}]}',
  ])('becomes rejected if its list of rejected messages is %j', async (body) => {
    const { receiver, trackOne } = await trackingApi();
    receiver.answers.push({ status: 200, body });
    expect(await trackOne()).toMatchObject({
      accepted: false,
      code: 'protocol',
      reason: 'The response lists rejected messages, but the list cannot be parsed',
    });
  });
});

describe('a batch that is too large for the tracking API', () => {
  it('is sent in halves, in order, until it fits', async () => {
    const { receiver, setUp } = await trackingApi();
    receiver.answers.push(...Array.from({ length: 20 }, () => atMostTwo));
    const receipts = await tracks(setUp({ flushAt: 5 }), 5);
    const ids = ['m0', 'm1', 'm2', 'm3', 'm4'];
    expect(receipts.map(({ accepted, messageId }) => [accepted, messageId])).toEqual(
      ids.map((id) => [true, id]),
    );
    const taken = receiver.received.filter(({ batch }) => batch.length <= 2);
    expect(taken.flatMap(({ batch }) => batch.map(({ messageId }) => messageId))).toEqual(ids);
  });

  it('is rejected if it has only one message', async () => {
    const { receiver, trackOne } = await trackingApi();
    receiver.answers.push({ status: 413 });
    expect(await trackOne()).toMatchObject({ accepted: false, code: 'http-4xx' });
  });
});

function atMostTwo({ batch }: ReceivedBatch): Answer {
  return { status: batch.length > 2 ? 413 : 200 };
}
