import { describe, expect, it } from 'vitest';
import { QueueError } from '../../src/errors.ts';
import { basic, bodyOf, closeAfterEach, Gate, serving, track, until, WRITE_KEY } from './serving.ts';

closeAfterEach();

describe('POST /v1/batch', () => {
  it('accepts valid messages, lists invalid ones and stores them as dead letters', async () => {
    const serve = await serving();
    const batch = [track('u1'), { type: 'track', userId: 'u2', writeKey: WRITE_KEY }, 3, track('u3')];
    const { status, body } = await serve.post('/v1/batch', { batch });
    expect(status).toBe(200);
    expect(body).toEqual({
      success: true,
      rejected: [
        {
          index: 1,
          code: 'invalid',
          message: 'Expected `event` to be a non-empty string, got nothing (track)',
        },
        { index: 2, code: 'invalid', message: 'Expected a message to be a JSON object, got 3' },
      ],
    });
    await until(() => serve.received.length === 2, 'both valid messages');
    const dead = serve.added.filter(({ state }) => state === 'dead');
    const letter = { source: 'web', destination: '', reason: 'invalid' };
    expect(dead).toMatchObject([
      { ...letter, type: 'track', body: Buffer.from('{"type":"track","userId":"u2"}') },
      { ...letter, type: '', body: Buffer.from('3') },
    ]);
  });

  it('delivers messages of an anonymous visitor without the empty user id', async () => {
    const serve = await serving();
    const visit = { ...track(''), anonymousId: 'visitor' };
    const { body } = await serve.post('/v1/batch', { batch: [visit] });
    expect(body).toEqual({ success: true });
    expect((await serve.post('/v1/track', visit)).status).toBe(200);
    await until(() => serve.received.length === 2, 'both messages');
    for (const request of serve.received) expect(bodyOf(request)).not.toHaveProperty('userId');
  });

  it('gives a repeated invalid message the same id', async () => {
    const serve = await serving();
    for (let time = 0; time < 3; time++) await serve.post('/v1/batch', { batch: [{ type: 'track' }] });
    const ids = serve.added.map(({ id }) => id);
    expect(ids).toHaveLength(3);
    expect(new Set(ids).size).toBe(1);
  });

  it('accepts the other messages if one has a number that JavaScript cannot represent', async () => {
    const serve = await serving();
    const text = ` { "context" : {"ip":"::1", "a":["batch",[0]]}, "batch" : [ {"type":"track","userId":"u1","event":"a, \\"]} b"} ,
      {"type":"track","userId":"u2","event":"E","properties":{"id":12345678901234567890,"key":"${WRITE_KEY}"}},
      {"type":"delete","userId":"u3"} ] , "sentAt":"2026-01-01T00:00:00Z" } `;
    const { status, body } = await serve.post('/v1/batch', text);
    expect(status).toBe(200);
    expect(body['rejected']).toEqual([
      {
        index: 1,
        code: 'invalid',
        message: expect.stringContaining('at `properties.id`, got 12345678901234567890'),
      },
    ]);
    await until(() => serve.received.length === 2, 'the others');
    expect(serve.received.map(bodyOf)).toMatchObject([
      { userId: 'u1', event: 'a, "]} b', context: { ip: '::1' } },
      { type: 'delete', userId: 'u3' },
    ]);
    const [letter] = serve.added.filter(({ state }) => state === 'dead');
    const kept = Buffer.from(letter?.body ?? []).toString();
    expect(kept).toContain('"id":12345678901234567890');
    expect(kept).not.toContain(WRITE_KEY);
  });

  it('masks write keys, however escaped, in messages that cannot be parsed without loss', async () => {
    const serve = await serving();
    const spelled = JSON.stringify(WRITE_KEY).replaceAll('-', String.raw`\u002d`);
    const other = String.raw`"k\/of\/another"`;
    const item = `{"id":12345678901234567890,"a":[${spelled}],"writeKey" : ${other},"write\\u004bey":"x","b":{"c":"\\"${WRITE_KEY}"}}`;
    await serve.post('/v1/batch', `{"batch":[${item}]}`);
    expect(serve.added.map(({ body }) => Buffer.from(body).toString())).toEqual([
      `{"id":12345678901234567890,"a":["***"],"writeKey" : "***","write\\u004bey":"***","b":{"c":"\\"${WRITE_KEY}"}}`,
    ]);
  });

  it('rejects loss outside of the messages and malformed JSON, with the position', async () => {
    const serve = await serving();
    const twice = await serve.post('/v1/batch', `{"batch":[${JSON.stringify(track('u'))}],"a":1,"a":2}`);
    expect([twice.status, twice.body['message']]).toEqual([400, 'Expected each key once, got `a` twice']);
    const cut = await serve.post('/v1/batch', '{"batch":[{"type":"track"');
    expect([cut.status, cut.body['code']]).toEqual([400, 'malformed']);
    expect(cut.body['message']).toContain('line 1, column 26');
    for (const body of ['[]', '{}', '{"batch":{}}', 'null']) {
      expect((await serve.post('/v1/batch', body)).status).toBe(400);
    }
    expect(serve.added).toEqual([]);
  });

  it('accepts an empty batch', async () => {
    const serve = await serving();
    expect(await serve.post('/v1/batch', { batch: [] })).toMatchObject({
      status: 200,
      body: { success: true },
    });
  });

  it('lists a message over 32 KB and accepts the others', async () => {
    const serve = await serving();
    const large = track('u1', { properties: { text: 'x'.repeat(33_000) } });
    const { body } = await serve.post('/v1/import', { batch: [large, track('u2')] });
    expect(body['rejected']).toMatchObject([{ index: 0, code: 'too-large' }]);
    await until(() => serve.received.length === 1, 'the other');
  });

  it('does not count fields of a client library against the 32 KB', async () => {
    const serve = await serving();
    const context = { library: { name: 'a-client', version: '1.0.0' } };
    const added = { type: 'track', messageId: 'm1', timestamp: '2026-01-01T00:00:00Z', context };
    const message = { ...sized(32_768, { userId: 'u1', event: 'E' }), ...added };
    expect((await serve.post('/v1/batch', { batch: [message] })).body).toEqual({ success: true });
    const larger = { ...sized(32_769, { userId: 'u1', event: 'E' }), ...added };
    const { body } = await serve.post('/v1/batch', { batch: [larger] });
    expect(body['rejected']).toMatchObject([{ code: 'too-large' }]);
  });

  it('counts all fields except the write key if no client library made the message', async () => {
    const serve = await serving();
    const fields = { type: 'track', userId: 'u1', event: 'E', messageId: 'm1' };
    const largest = { ...sized(32_768, fields), writeKey: WRITE_KEY };
    const { body } = await serve.post('/v1/batch', { batch: [largest, sized(32_769, fields)] });
    expect(body['rejected']).toMatchObject([{ index: 1, code: 'too-large' }]);
    const ofPath = { userId: 'u1', event: 'E' };
    expect((await serve.post('/v1/track', sized(32_768, ofPath))).status).toBe(200);
    expect((await serve.post('/v1/track', sized(32_769, ofPath))).status).toBe(413);
  });

  it('routes by write key and by integrations', async () => {
    const serve = await serving();
    const batch = [
      track('nobody', { integrations: { All: false } }),
      track('chosen', { integrations: { All: false, Elsewhere: true } }),
    ];
    expect((await serve.post('/v1/batch', { batch }, basic('wk-of-the-other'))).status).toBe(200);
    expect((await serve.post('/v1/batch', { batch: [track('off')] }, basic('wk-of-the-app'))).status).toBe(
      200,
    );
    await until(() => serve.received.length > 0, 'a delivery');
    expect(serve.added.map(({ source, destination }) => [source, destination])).toEqual([
      ['other', 'Elsewhere'],
    ]);
    expect(serve.received.map(bodyOf)).toMatchObject([{ userId: 'chosen' }]);
  });

  it.each([
    ['cannot be stored', new QueueError('the disk is full'), 503, 'unavailable'],
    ['find the storage busy', new QueueError('The queue is busy', { isBusy: true }), 429, 'overloaded'],
  ])('responds to messages that %s', async (_, error, expected, code) => {
    const serve = await serving({ add: () => Promise.reject(error) });
    const { status, headers, body } = await serve.post('/v1/batch', { batch: [track('u')] });
    expect([status, headers.get('retry-after'), body['code']]).toEqual([expected, '5', code]);
    expect(JSON.stringify(body)).not.toContain('disk');
    const logged = expect.objectContaining({ level: 'error', error: 'the disk is full' });
    if (expected === 503) expect(serve.log).toContainEqual(logged);
  });

  it('responds with 500 to an internal error', async () => {
    const serve = await serving({ add: () => Promise.reject(new TypeError('a bug')) });
    expect((await serve.post('/v1/batch', { batch: [track('u')] })).status).toBe(500);
  });
});

describe('POST /v1/track and similar paths', () => {
  it('accepts one message with the type of the path', async () => {
    const serve = await serving();
    expect(await serve.post('/v1/identify', { userId: 'u1' })).toMatchObject({
      status: 200,
      body: { success: true },
    });
    await until(() => serve.received.length === 1, 'it');
    expect(serve.received.map(bodyOf)).toMatchObject([
      { version: 1, type: 'identify', userId: 'u1', traits: {} },
    ]);
  });

  it('responds with 400 to an invalid message, another type and malformed JSON, and 413 to a large message', async () => {
    const serve = await serving();
    const invalid = await serve.post('/v1/track', { userId: 'u1' });
    expect([invalid.status, invalid.body['message']]).toEqual([
      400,
      'Expected `event` to be a non-empty string, got nothing (track)',
    ]);
    expect((await serve.post('/v1/track', { type: 'page', userId: 'u' })).status).toBe(400);
    expect((await serve.post('/v1/track', '{')).status).toBe(400);
    expect((await serve.post('/v1/track', '[]')).status).toBe(400);
    expect((await serve.post('/v1/track', track('u', { text: 'x'.repeat(40_000) }))).status).toBe(413);
    // Those that are one message are kept, once each.
    expect((await serve.post('/v1/track', { userId: 'u1' })).status).toBe(400);
    const letter = { source: 'web', destination: '', state: 'dead', reason: 'invalid', type: 'track' };
    expect(serve.added).toMatchObject([letter, letter, letter]);
    expect(new Set(serve.added.map(({ id }) => id)).size).toBe(2);
  });

  it('gives a message without a timestamp the time of the service', async () => {
    const serve = await serving();
    const before = Date.now();
    await serve.post('/v1/track', track('u'));
    await until(() => serve.received.length === 1, 'it');
    const at = Date.parse(String(serve.received.map(bodyOf)[0]?.['timestamp']));
    expect(at).toBeGreaterThanOrEqual(before - 1);
    expect(at).toBeLessThanOrEqual(Date.now() + 1);
  });
});

describe('a repeated message', () => {
  it('is accepted but not delivered again, even within a batch', async () => {
    const serve = await serving();
    const again = track('u1', { messageId: 'm1' });
    const first = await serve.post('/v1/batch', { batch: [again, again, track('u2', { messageId: 'm2' })] });
    const second = await serve.post('/v1/batch', { batch: [again, track('u3', { messageId: 'm3' })] });
    const single = await serve.post('/v1/track', again);
    expect([first.status, second.status, single.status]).toEqual([200, 200, 200]);
    expect(serve.added.map(({ messageId }) => messageId)).toEqual(['m1', 'm2', 'm3']);
    const metrics = await (await fetch(`${serve.url}/metrics`)).text();
    expect(metrics).toContain('hooks_ingest_messages_total{source="web",outcome="duplicate"} 3');
  });

  it('is delivered at another source', async () => {
    const serve = await serving();
    const message = track('u1', { messageId: 'm1' });
    await serve.post('/v1/track', message);
    await serve.post('/v1/track', message, basic('wk-of-the-other'));
    expect(serve.added.map(({ source }) => source)).toEqual(['web', 'other']);
  });

  it('is delivered if the first could not be stored or was invalid', async () => {
    let isBroken = true;
    const serve = await serving({
      add: async (deliveries, queue) => {
        if (isBroken) throw new QueueError('the disk is full');
        await queue.add(deliveries);
      },
    });
    const message = track('u1', { messageId: 'm1' });
    expect((await serve.post('/v1/track', message)).status).toBe(503);
    isBroken = false;
    await serve.post('/v1/batch', { batch: [{ ...message, event: '' }] });
    expect((await serve.post('/v1/track', message)).status).toBe(200);
    await until(() => serve.received.length === 1, 'it');
  });

  it('is accepted with an error in the log if it cannot be remembered', async () => {
    const serve = await serving({
      change: (open) => ({
        ...open,
        seen: {
          among: () => Promise.resolve(new Set<string>()),
          add: () => Promise.reject(new QueueError('the disk is full')),
        },
      }),
    });
    expect((await serve.post('/v1/track', track('u1', { messageId: 'm1' }))).status).toBe(200);
    expect(serve.added).toHaveLength(1);
    expect(serve.log).toContainEqual(
      expect.objectContaining({
        msg: 'messages were stored, but will not be recognized if they come again',
        error: 'the disk is full',
      }),
    );
  });

  it('is acknowledged only after the first is stored', async () => {
    const gate = new Gate();
    const serve = await serving({ add: gate.add });
    const answers: string[] = [];
    const send = async (name: string): Promise<void> => {
      const { status } = await serve.post('/v1/track', track('u1', { messageId: 'm1' }));
      answers.push(`${name} ${status}`);
    };
    const first = send('first');
    await until(() => gate.isReached, 'the first request to be in progress');
    const second = send('second');
    await serve.post('/v1/batch', { batch: [] });
    expect(answers).toEqual([]);
    gate.open();
    await Promise.all([first, second]);
    expect(answers.toSorted()).toEqual(['first 200', 'second 200']);
    expect(serve.added).toHaveLength(1);
  });
});

/** A message with this many bytes of JSON, including a two-byte character. */
function sized(bytes: number, fields: Readonly<Record<string, unknown>>): object {
  const sizeOf = (text: string): number =>
    Buffer.byteLength(JSON.stringify({ ...fields, properties: { text } }));
  return { ...fields, properties: { text: `é${'x'.repeat(bytes - sizeOf('é'))}` } };
}
