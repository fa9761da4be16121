import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../src/message/types.ts';
import { messagesOf, libraryOf, messageFacts } from '../../../src/receiver/messages/messages-of.ts';
import { trackingCallOf, type TrackingCall } from '../../../src/receiver/messages/tracking-call.ts';
import { start } from '../starting.ts';

interface Posted {
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

const TRACK = { type: 'track', event: 'Signup', userId: 'u1' };

function call(body: unknown, { path = '/v1/batch', headers = {} }: Posted = {}): TrackingCall | undefined {
  const bytes =
    body instanceof Uint8Array ? body : Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
  return trackingCallOf({
    method: 'POST',
    path,
    rawHeaders: Object.entries(headers).flat(),
    body: bytes,
    at: 0,
  });
}

function values(found: TrackingCall | undefined): readonly unknown[] | undefined {
  return found?.messages.map(({ value }) => value);
}

/** The message that RudderStack's browser library sends for every anonymous visitor. */
const ANONYMOUS = { type: 'track', event: 'Signup', userId: '', anonymousId: 'visitor' };

describe('a call of a tracking API', () => {
  it('has no user if the user id is empty, and is accepted', () => {
    const { userId: _, ...absent } = ANONYMOUS;
    expect(call({ batch: [ANONYMOUS] })?.messages).toEqual([{ index: 0, value: absent }]);
    expect(messageFacts({ index: 0, value: ANONYMOUS })).toEqual(absent);
  });

  it.each([
    '/v1/batch',
    '/v1/import',
    '/v1/b',
    '/some/proxy/v1/batch',
    '/v1/batch?x=1',
    '/v1/batch/',
    '/',
    '/anything',
  ])('is recognized at %s by its batch', (path) => {
    expect(values(call({ batch: [TRACK, { ...TRACK, event: 'Login' }] }, { path }))).toEqual([
      TRACK,
      { ...TRACK, event: 'Login' },
    ]);
  });

  it.each([
    ['/v1/track', 'track'],
    ['/v1/t', 'track'],
    ['/proxy/v1/p', 'page'],
    ['/v1/screen', 'screen'],
    ['/v1/i', 'identify'],
    ['/v1/g', 'group'],
    ['/v1/alias', 'alias'],
  ])('is recognized at %s by its path, which determines the type', (path, type) => {
    expect(values(call({ userId: 'u1' }, { path }))).toEqual([{ userId: 'u1', type }]);
  });

  it.each([
    ['a webhook', '/hook', TRACK],
    ['a batch of something else', '/hook', { batch: [1, 2] }],
    ['an empty batch', '/hook', { batch: [] }],
    ['a batch of objects without a type', '/hook', { batch: [{ id: 1 }] }],
    ['a path that only begins alike', '/v1/batches', TRACK],
    ['the path of another version', '/v2/batch', { batch: [] }],
    ['no JSON', '/hook', '"batch"'],
  ])('is not %s', (_what, path, body) => {
    expect(call(body, { path })).toBeUndefined();
  });

  it('is read with any content type, even gzipped', () => {
    const headers = { 'Content-Type': 'text/plain', 'Content-Encoding': 'gzip' };
    for (const path of ['/v1/batch', '/anything']) {
      expect(values(call(gzipSync(JSON.stringify({ batch: [TRACK] })), { path, headers }))).toEqual([TRACK]);
    }
  });

  it('adds the common fields of the batch to each message; own values take precedence', () => {
    const context = { library: { name: 'x', version: '1' }, locale: 'de' };
    const found = call({
      batch: [TRACK, { ...TRACK, context: { locale: 'en' } }],
      context,
      integrations: { All: true },
    });
    expect(values(found)).toEqual([
      { ...TRACK, context, integrations: { All: true } },
      { ...TRACK, context: { ...context, locale: 'en' }, integrations: { All: true } },
    ]);
    expect(libraryOf(found?.messages ?? [])).toBe('x 1');
  });

  it('separates the write keys of the call and its messages from the values', () => {
    const Authorization = `Basic ${Buffer.from('key:').toString('base64')}`;
    expect(call({ batch: [TRACK] }, { headers: { Authorization } })?.writeKey).toBe('key');
    expect(call({ batch: [{ ...TRACK, writeKey: 'key' }], writeKey: 'key' })).toMatchObject({
      writeKey: 'key',
      messages: [{ value: TRACK, writeKey: 'key' }],
    });
    const [own, called] =
      call({ batch: [{ ...TRACK, writeKey: 'own' }, TRACK], writeKey: 'called' })?.messages ?? [];
    expect([own, called]).toMatchObject([{ writeKey: 'own' }, { writeKey: 'called' }]);
    expect(JSON.stringify([own?.value, called?.value])).not.toMatch(/own|called|writeKey/);
  });

  it.each([
    ['no JSON', '{"batch":[', 400, /ends inside/],
    ['no batch', '{}', 400, /array `batch`/],
    ['over the limit', JSON.stringify({ batch: [], x: 'x'.repeat(512_000) }), 413, /512,000 bytes/],
    ['not UTF-8', Buffer.from([0x7b, 0xff]), 400, /UTF-8/],
    ['an undeclared gzip', gzipSync('{"batch":[]}'), 400, /gzipped/],
    ['deep', `{"batch":${'['.repeat(10_000)}`, 400, /512 levels/],
  ])('has no messages, and a rejection, if it is %s', (_what, body, status, reason) => {
    expect(call(body)).toMatchObject({
      messages: [],
      rejection: { status, message: expect.stringMatching(reason) as string },
    });
  });

  it('stops unpacking at the limit', () => {
    const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024, ' '));
    const before = process.memoryUsage().arrayBuffers;
    const found = call(bomb, { headers: { 'content-encoding': 'gzip' } });
    expect(found).toMatchObject({ messages: [], rejection: { status: 413 } });
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(8 * 1024 * 1024);
  });

  it('reads the time of a message under both names', () => {
    const [early, late] = ['2019-05-01T10:00:00.000Z', '2026-11-20T10:00:00.000Z'];
    const found = call({
      batch: [
        { ...TRACK, originalTimestamp: early },
        { ...TRACK, timestamp: early, originalTimestamp: late },
        TRACK,
      ],
    });
    const times = found?.messages.map(({ value }) => (value as JsonObject)['timestamp']);
    expect(times).toEqual([early, early, undefined]);
  });

  it('has the rejections of its messages', () => {
    const large = { ...TRACK, properties: { text: 'x'.repeat(40_000) } };
    const found = call({
      batch: [TRACK, { type: 'track', userId: 'u1' }, { ...TRACK, userId: undefined }, large],
    });
    expect(found?.messages.map(({ rejection }) => rejection)).toEqual([
      undefined,
      { code: 'invalid', message: expect.stringContaining('`event`') as string },
      { code: 'invalid', message: expect.stringContaining('`userId` or `anonymousId`') as string },
      {
        code: 'too-large',
        message: expect.stringContaining('32,768') as string,
        bytes: Buffer.byteLength(JSON.stringify(large)),
      },
    ]);
  });

  it('has the value of a rejected message with a number that JavaScript cannot represent', () => {
    const found = call(
      '{"batch":[{"type":"track","event":"A","userId":"u1","properties":{"id":12345678901234567890}}]}',
    );
    expect(found?.messages).toMatchObject([
      {
        value: { event: 'A' },
        rejection: { code: 'invalid', message: expect.stringContaining('properties.id') as string },
      },
    ]);
  });
});

async function post(url: string, body: unknown, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(url, {
    method: 'POST',
    body: typeof body === 'string' ? body : JSON.stringify(body),
    headers,
  });
}

/** The preflight of version 3.34 for a retry from a page of another origin. */
const RUDDERSTACK_PREFLIGHT = {
  method: 'OPTIONS',
  headers: {
    origin: 'http://localhost:3000',
    'access-control-request-method': 'POST',
    'access-control-request-headers': 'anonymousid,authorization,content-type,rsa-since-last-attempt,sentat',
  },
};

describe('a receiver', () => {
  it('responds to a call like a tracking API and reports its messages as unchecked', async () => {
    const { receiver, requests } = await start({ secrets: ['s'] });
    const response = await post(`${receiver.url}/v1/batch`, { batch: [TRACK, TRACK] });
    expect([response.status, await response.json()]).toEqual([200, { success: true }]);
    expect(response.headers.get('access-control-allow-origin')).toBe('*');
    expect(requests).toMatchObject([
      { verdict: 'unchecked', call: { messages: [{ value: TRACK }, { value: TRACK }] } },
    ]);
    const broken = await post(`${receiver.url}/v1/batch`, '{');
    expect([broken.status, await broken.json()]).toMatchObject([400, { success: false, code: 'malformed' }]);
  });

  it('responds to a call with 401 if it requires a signature, and with its script', async () => {
    const strict = await start({ secrets: ['s'], requireSignature: true });
    const rejected = await post(`${strict.receiver.url}/v1/batch`, { batch: [TRACK] });
    expect([rejected.status, await rejected.text()]).toEqual([401, 'the X-Signature header is missing\n']);
    const failing = await start({
      script: [{ response: { kind: 'status', status: 503, headers: [], delayMs: 0 }, times: 1 }],
    });
    const response = await post(`${failing.receiver.url}/v1/t`, TRACK);
    expect([response.status, await response.text()]).toEqual([503, '']);
  });

  it("responds to a browser library's requests for settings and to CORS preflights of any origin", async () => {
    const { receiver, requests } = await start();
    const { port } = receiver;
    const settings = await fetch(`${receiver.url}/v1/projects/my%20key/settings`);
    expect(settings.headers.get('access-control-allow-origin')).toBe('*');
    expect(await settings.json()).toMatchObject({
      integrations: {
        'Segment.io': {
          apiKey: 'my key',
          apiHost: `127.0.0.1:${port}/v1`,
          protocol: 'http',
          deliveryStrategy: { strategy: 'standard' },
        },
      },
      metrics: { sampleRate: 0 },
    });
    const preflight = await fetch(`${receiver.url}/v1/t`, {
      method: 'OPTIONS',
      headers: { 'access-control-request-private-network': 'true' },
    });
    expect([preflight.status, preflight.headers.get('access-control-allow-private-network')]).toEqual([
      204,
      'true',
    ]);
    expect(requests).toEqual([]);
    await fetch(`${receiver.url}/hook`, { method: 'OPTIONS' });
    expect(requests).toHaveLength(1);
  });

  it('responds to the settings requests and preflights of the browser library of RudderStack', async () => {
    let preflights = 0;
    const { receiver, requests } = await start({ onPreflight: () => (preflights += 1) });
    for (const path of ['/sourceConfig/?p=npm&writeKey=k', '/v1/track', '/v1/batch', '/proxy/v1/p']) {
      const preflight = await fetch(receiver.url + path, RUDDERSTACK_PREFLIGHT);
      expect([preflight.status, preflight.headers.get('access-control-allow-headers')]).toEqual([
        204,
        'anonymousid, authorization, content-type, rsa-since-last-attempt, sentat',
      ]);
      expect(preflight.headers.get('access-control-allow-origin')).toBe('*');
      expect(preflight.headers.has('access-control-allow-credentials')).toBe(false);
    }
    const settings = await fetch(`${receiver.url}/sourceConfig/?p=npm&writeKey=k`);
    expect([settings.status, settings.headers.get('access-control-allow-origin')]).toEqual([200, '*']);
    expect(await settings.json()).toMatchObject({ source: { enabled: true, config: {}, destinations: [] } });
    expect([preflights, requests]).toEqual([4, []]);
  });

  it.each([
    ['invalid names', 'x-ok, a b, x:y, é, , x-fine', 'x-ok, x-fine'],
    ['over 1 KB of names', `x-${'a'.repeat(1_024)}`, 'authorization, content-type, content-encoding'],
    ['no names', '', 'authorization, content-type, content-encoding'],
  ])('allows only valid headers in the preflight with %s', async (_, asked, allowed) => {
    const { connect } = await start();
    const connection = await connect(
      `OPTIONS /v1/t HTTP/1.1\r\nHost: x\r\nAccess-Control-Request-Headers: ${asked}\r\nConnection: close\r\n\r\n`,
    );
    const { received } = await connection.closed();
    expect(/^access-control-allow-headers: (.*?)\r?$/im.exec(received)?.[1]).toBe(allowed);
  });

  it('rejects preflights for deletions and the inbox', async () => {
    const { receiver, requests } = await start();
    for (const path of ['/v1/deletions', '/_hooks', '/_hooks/api/requests', '/hook']) {
      const preflight = await fetch(receiver.url + path, RUDDERSTACK_PREFLIGHT);
      expect([
        preflight.status,
        [...preflight.headers.keys()].filter((name) => name.startsWith('access')),
      ]).toEqual([405, []]);
    }
    expect(requests).toHaveLength(4);
  });

  it('reads one message of a webhook, each object of a list, and none of other bodies', async () => {
    const { receiver, requests } = await start();
    for (const body of [
      TRACK,
      [TRACK, TRACK],
      [1],
      'text',
      '',
      '{"id":12345678901234567890}',
      { 'User ID': 'u2', type: 'alias' },
    ]) {
      await post(receiver.url, body);
    }
    await fetch(receiver.url, { method: 'PUT', body: '{}' });
    expect(requests.map((request) => messagesOf(request).length)).toEqual([1, 2, 0, 0, 0, 1, 1, 0]);
    const [alias] = messagesOf(requests[6] ?? expect.fail());
    expect(messageFacts(alias ?? expect.fail())).toEqual({ type: 'alias', userId: 'u2' });
  });
});
