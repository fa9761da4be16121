import { describe, expect, it } from 'vitest';
import type { TrackCall } from '../../src/client/calls.ts';
import type { Receipt, Sink } from '../../src/client/sink.ts';
import { ClosedError, ValidationError } from '../../src/errors.ts';
import type { Message } from '../../src/message/types.ts';
import { RecordingSink } from './recording-sink.ts';
import { send, setUp, track } from './set-up.ts';

const NOW = '2026-01-01T00:00:00.000Z';
const message = { type: 'track', event: 'e', userId: 'u', timestamp: NOW } as const;

describe('the calls of a client', () => {
  it('make one message each, with the type, the time of the call and the fields of the caller', async () => {
    const { client, sink } = setUp();
    void client.identify({ userId: 'u', traits: { plan: 'pro' } });
    void client.track({ userId: 'u', event: 'Signup', properties: { at: 1 }, context: { ip: '::1' } });
    void client.page({ anonymousId: 'a', properties: { path: '/' } });
    void client.screen({ userId: 'u', name: 'Home' });
    void client.group({ userId: 'u', groupId: 'g' });
    void client.alias({ userId: 'new', previousId: 'old' });
    void client.delete({ userId: 'u', integrations: { All: false } });
    await client.close();
    const messages = sink.batches.flat().map(({ body }) => JSON.parse(textOf(body)) as Message);
    expect(messages.map(({ type }) => type)).toEqual([
      'identify',
      'track',
      'page',
      'screen',
      'group',
      'alias',
      'delete',
    ]);
    expect(messages.every(({ timestamp }) => timestamp === NOW)).toBe(true);
    expect(messages[1]).toMatchObject({ event: 'Signup', properties: { at: 1 }, context: { ip: '::1' } });
    expect(messages[5]).toMatchObject({ userId: 'new', previousId: 'old' });
    expect(messages[6]).toMatchObject({ integrations: { All: false } });
  });

  it('ignore a type of the caller', async () => {
    const { client, sink } = setUp();
    void client.track(Object.assign(track('a'), { type: 'delete' }));
    await client.flush();
    expect(sink.batches[0]?.[0]?.type).toBe('track');
  });

  it('keep a given messageId and make a UUID otherwise', async () => {
    const { client } = setUp({ flushAt: 2 });
    const [given, made] = await Promise.all([
      client.track(track('given')),
      client.track({ userId: 'u', event: 'e' }),
    ]);
    expect(given.messageId).toBe('given');
    expect(made.messageId).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  });

  it('accept a Date as timestamp', async () => {
    const { client, sink } = setUp({ flushAt: 1 });
    await client.track({ ...track('a'), timestamp: new Date(Date.UTC(2020, 1, 29)) });
    expect(JSON.parse(textOf(sink.batches[0]?.[0]?.body))).toMatchObject({
      timestamp: '2020-02-29T00:00:00.000Z',
    });
  });

  it('serialize their arguments before they return', async () => {
    const { client, sink } = setUp();
    const properties = { step: 1 };
    void client.track({ ...track('a'), properties });
    properties.step = 2;
    await client.flush();
    expect(textOf(sink.batches[0]?.[0]?.body)).toContain('"step":1');
  });

  it('throw for an invalid message and queue nothing', async () => {
    const { client, sink } = setUp({ flushAt: 1 });
    // As a caller without types would.
    expect(() => client.track({ userId: 'u' } as TrackCall)).toThrow(ValidationError);
    await client.close();
    expect(sink.batches).toEqual([]);
  });

  it('accept 32,768 bytes of UTF-8, without the type that they add, and throw for one more', async () => {
    const { client, sink } = setUp({ flushAt: 1 });
    await expect(client.track(sized(32_768))).resolves.toMatchObject({ accepted: true });
    expect(() => client.track(sized(32_769))).toThrow(ValidationError);
    expect(sink.batches).toHaveLength(1);
  });

  it.each([
    ['fields that are not sent', { integrations: { All: true }, writeKey: 'k'.repeat(500) }],
    ['null', { name: null }],
    ['a version', { version: 1 }],
    ['a long timestamp', { timestamp: `2026-11-20T21:10:05.${'0'.repeat(500)}Z` }],
  ])('count %s, although the body differs', (_, extra) => {
    const { client } = setUp({ flushAt: 1 });
    const bytes = Buffer.byteLength(JSON.stringify(extra)) - 1;
    expect(() => client.track({ ...sized(32_768 - bytes), ...extra })).not.toThrow();
    expect(() => client.track({ ...sized(32_769 - bytes), ...extra })).toThrow(ValidationError);
  });

  it('include enqueue, which accepts a complete message with its order keys and exact body', async () => {
    const { client, sink } = setUp({ flushAt: 2 });
    const exactBody = Buffer.from('{}');
    const receipts = await Promise.all([
      client.enqueue({ message, messageId: 'a', orderKeys: ['user:u'], exactBody }),
      client.enqueue({ message: { ...message, messageId: 'own' } }),
    ]);
    expect(receipts.map(({ messageId }) => messageId)).toEqual(['a', 'own']);
    expect(sink.batches[0]).toMatchObject([{ orderKeys: ['user:u'], body: exactBody }, { orderKeys: [] }]);
  });

  it('include enqueueThen, which calls back instead of returning a promise', async () => {
    const { client, sink } = setUp({ flushAt: 2 });
    const receipts: Receipt[] = [];
    for (const messageId of ['a', 'b', 'c']) {
      client.enqueueThen({ message, messageId }, (receipt) => receipts.push(receipt));
    }
    expect(receipts).toEqual([]);
    await client.close();
    expect(receipts.map(({ messageId }) => messageId)).toEqual(['a', 'b', 'c']);
    expect(sink.ids).toEqual([['a', 'b'], ['c']]);
    expect(() => client.enqueueThen({ message }, () => {})).toThrow(ClosedError);
  });
});

describe('close', () => {
  it('flushes, then closes the sink once', async () => {
    const { client, sink } = setUp();
    void send(client, ['a']);
    await Promise.all([client.close(), client.close()]);
    expect([sink.ids, sink.closed]).toEqual([[['a']], 1]);
  });

  it('waits for messages in flight and for calls that wait for room', async () => {
    const sink = new RecordingSink({ hold: true });
    const { client, clock } = setUp({ flushAt: 1, maxQueued: 1 }, sink);
    void send(client, ['a', 'b']);
    let closed = false;
    const closing = client.close().then(() => (closed = true));
    await clock.advance(0);
    sink.release();
    await clock.advance(0);
    expect([sink.ids, closed, sink.closed]).toEqual([[['a'], ['b']], false, 0]);
    sink.release();
    await closing;
    expect(sink.closed).toBe(1);
  });

  it('makes later calls throw', async () => {
    const { client, sink } = setUp();
    const closing = client.close();
    expect(() => client.track(track('a'))).toThrow(ClosedError);
    await closing;
    expect(() => client.track(track('b'))).toThrow(
      expect.objectContaining({
        code: 'ERR_HOOKS_CLOSED',
        message: 'Expected a client that is open, got a call after close()',
      }),
    );
    expect(sink.batches).toEqual([]);
  });
});

describe('a sink that fails', () => {
  it.each([
    ['rejects', () => Promise.reject(new Error('disk full'))],
    [
      'throws',
      () => {
        throw new Error('disk full');
      },
    ],
  ])('and %s leads to rejected receipts, and the client continues', async (_, submit) => {
    const { client } = setUp({ flushAt: 2 }, failing(submit));
    const receipts = await Promise.all(['a', 'b', 'c', 'd'].map((id) => client.track(track(id))));
    expect(receipts).toEqual(
      ['a', 'b', 'c', 'd'].map((messageId) => ({
        accepted: false,
        messageId,
        code: 'sink',
        reason: 'The sink failed: disk full',
      })),
    );
    await client.close();
  });

  it('to return a receipt leads to a rejected receipt for that message', async () => {
    const one: Receipt = { accepted: true, messageId: 'a', deliveries: [] };
    const { client } = setUp(
      { flushAt: 2 },
      failing(() => Promise.resolve([one])),
    );
    const receipts = await Promise.all(['a', 'b'].map((id) => client.track(track(id))));
    expect(receipts).toMatchObject([
      one,
      { accepted: false, messageId: 'b', reason: 'The sink failed: no receipt' },
    ]);
  });
});

function failing(submit: Sink['submit']): Sink {
  return Object.assign(new RecordingSink(), { submit });
}

/** A track with this many bytes of JSON, mostly two-byte characters. */
function sized(bytes: number): TrackCall {
  const call = { userId: 'u', event: 'e', properties: { text: '' } };
  const rest = bytes - Buffer.byteLength(JSON.stringify(call));
  return { ...call, properties: { text: 'é'.repeat(Math.floor(rest / 2)) + 'x'.repeat(rest % 2) } };
}

function textOf(body: Uint8Array = new Uint8Array()): string {
  return Buffer.from(body).toString();
}
