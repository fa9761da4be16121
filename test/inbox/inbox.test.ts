import { createHash, createHmac } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { sign } from '../../src/signature/sign.ts';
import { BODY, start, type Answer } from './start-inbox.ts';

/** A body with more changes to try than a receiver has time for. */
const LONG_BODY = JSON.stringify(
  {
    type: 'track',
    properties: Object.fromEntries(Array.from({ length: 400 }, (_, index) => [`k${index}`, { a: index }])),
  },
  undefined,
  1,
);

/** The first events of the stream, up to `wanted` requests. */
async function firstEvents(url: string, wanted: number): Promise<Record<string, unknown>[]> {
  const left = new AbortController();
  const response = await fetch(url, { signal: left.signal });
  const decoder = new TextDecoder();
  let told = '';
  const ids = (): number => told.match(/"id":/g)?.length ?? 0;
  for await (const chunk of response.body ?? []) {
    told += decoder.decode(chunk as Uint8Array, { stream: true });
    if (ids() >= wanted && told.endsWith('\n\n')) break;
  }
  left.abort();
  return [...told.matchAll(/^data: (.*)$/gm)].map(
    ([, json = '']) => JSON.parse(json) as Record<string, unknown>,
  );
}

describe('the page', () => {
  it('allows only its own script and style, and cannot be framed', async () => {
    const { ask } = await start();
    for (const path of ['/_hooks', '/_hooks/', '/_hooks?a=b']) {
      const { status, headers, text: html } = await ask(path);
      expect([status, headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
      const policy = headers['content-security-policy'] ?? '';
      expect(policy).toMatch(
        /^default-src 'none'; script-src 'sha256-[\w+/=]+'; style-src 'sha256-[\w+/=]+';/,
      );
      expect(policy).toContain("frame-ancestors 'none'");
      expect(policy).not.toContain('unsafe');
      expect(headers).toMatchObject({
        'x-content-type-options': 'nosniff',
        'cross-origin-resource-policy': 'same-origin',
        'cache-control': 'no-store',
        'referrer-policy': 'no-referrer',
      });
      expect(html).not.toMatch(/(?:src|href)="(?!data:)/);
    }
  });

  it('escapes its data', async () => {
    const { ask } = await start({ forwardUrl: 'http://a/"><script>alert(1)</script>' });
    const { text: html } = await ask('/_hooks');
    expect(html).not.toContain('<script>alert');
  });

  it.each(['POST', 'PUT', 'DELETE'])('rejects %s, and does not count it as a webhook', async (method) => {
    const { ask, requests } = await start();
    expect((await ask('/_hooks', { method, body: '{}' })).status).toBe(405);
    expect((await ask('/_hooks/requests/1/replay', { method, body: '{}' })).status).toBe(403);
    expect((await ask('/_hooks/nothing', { method })).status).toBe(403);
    expect(requests).toEqual([]);
  });

  it('ignores requests with a similar path', async () => {
    const { ask, requests } = await start();
    await ask('/_hooksy', { method: 'POST' });
    await ask('/a/_hooks', { method: 'POST' });
    expect(requests.map(({ path }) => path)).toEqual(['/_hooksy', '/a/_hooks']);
  });
});

describe('a client other than the page', () => {
  it.each([
    'evil.example',
    'evil.example:8787',
    'localhost.evil.example',
    '10.0.0.1',
    ':80',
    '127.0.0.1.nip.io',
  ])('is rejected with the host %j, even with the token (DNS rebinding)', async (host) => {
    const { ask, token } = await start();
    for (const path of ['/_hooks', `/_hooks/events?token=${token}`, `/_hooks/requests/1?token=${token}`]) {
      expect((await ask(path, { headers: { host } })).status).toBe(403);
    }
  });

  it.each(['localhost:1', 'LOCALHOST', '127.0.0.1:8787', '127.1.2.3', '[::1]:8787'])(
    'is accepted with the host %s',
    async (host) => {
      const { ask } = await start();
      expect((await ask('/_hooks', { headers: { host } })).status).toBe(200);
    },
  );

  it.each([
    '/_hooks/events',
    '/_hooks/requests/1',
    '/_hooks/requests/1/body',
    '/_hooks/requests/1/capture',
    '/_hooks/search?text=a',
  ])('cannot read %s without the current token', async (path) => {
    const { ask, post, token } = await start();
    await post();
    expect((await ask(path)).status).toBe(403);
    const wrong = `${token.startsWith('x') ? 'y' : 'x'}${token.slice(1)}`;
    expect((await ask(path, { headers: { 'x-hooks-token': wrong } })).status).toBe(403);
    expect((await ask(path, { headers: { 'x-hooks-token': token.slice(0, -1) } })).status).toBe(403);
  });

  it.each([
    ['another origin', 'http://evil.example'],
    ['another port of this machine', 'http://127.0.0.1:1'],
    ['another scheme', 'https://127.0.0.1'],
    ['a sandboxed page', 'null'],
    ['nowhere', undefined],
  ])('cannot act from %s, even with the token', async (_what, origin) => {
    const { ask, post, replays, token, receiver } = await start();
    await post();
    const headers = { host: `127.0.0.1:${receiver.port}`, 'x-hooks-token': token, ...(origin && { origin }) };
    for (const path of ['requests/1/replay', 'clear', 'export', 'respond']) {
      const body = JSON.stringify({ ids: [1], respond: '500' });
      const answer = await ask(`/_hooks/${path}`, { method: 'POST', headers, body });
      expect([path, answer.status]).toEqual([path, 403]);
      expect(answer.text).not.toContain('Signup');
    }
    expect(replays).toEqual([]);
    expect((await ask('/_hooks/requests/1', { headers })).status).toBe(200);
    expect((await fetch(receiver.url, { method: 'POST', body: '{}' })).status).toBe(200);
  });

  it.each([
    'Forwarded',
    'Via',
    'X-Forwarded-For',
    'X-Forwarded-Host',
    'X-Forwarded-Proto',
    'X-Forwarded-Port',
    'X-Real-IP',
    'CF-Connecting-IP',
    'True-Client-IP',
    'Fly-Client-IP',
    'X-Cluster-Client-IP',
  ])('needs the token to open the page through a tunnel to this machine: %s', async (name) => {
    const { ask, token } = await start();
    const headers = { [name]: '203.0.113.9' };
    const { status, text: said } = await ask('/_hooks', { headers });
    expect([status, said]).toEqual([403, expect.not.stringContaining(token)]);
    expect((await ask(`/_hooks?token=${token}`, { headers })).status).toBe(200);
  });
});

describe('an inbox that other machines can reach', () => {
  it('prints its address with the token, and accepts any IP address as host, but no foreign name', async () => {
    const { inboxUrl, printedUrl, token, ask } = await start({ host: '0.0.0.0' });
    expect(inboxUrl).toBe(printedUrl);
    expect(inboxUrl).toMatch(/\/_hooks\?token=[\w-]{32}$/);
    expect(inboxUrl).not.toContain(token);
    expect((await ask('/_hooks', { headers: { host: '192.168.1.5:8787' } })).status).toBe(200);
    expect((await ask('/_hooks', { headers: { host: 'evil.example' } })).status).toBe(403);
  });
});

describe('the page itself', () => {
  it('receives all requests in order, earlier ones first', async () => {
    const { post, receiver, token } = await start();
    for (let count = 0; count < 3; count++) await post();
    const events = await firstEvents(`${receiver.url}/_hooks/events?token=${token}`, 3);
    const [{ requests = [], firstId } = {}] = events as { requests?: unknown[]; firstId?: number }[];
    expect(firstId).toBe(1);
    expect(requests).toMatchObject([
      { id: 1 },
      { id: 2 },
      { id: 3, type: 'track', event: 'Signup', userId: 'u1' },
    ]);
    expect(JSON.stringify(events)).not.toContain('CANARY');
  });

  it('continues after the last request that it received', async () => {
    const { post, receiver, token } = await start();
    for (let count = 0; count < 3; count++) await post();
    const url = `${receiver.url}/_hooks/events?token=${token}`;
    const response = await fetch(url, { headers: { 'last-event-id': '2' } });
    const reader = response.body?.getReader();
    const { value } = (await reader?.read()) ?? {};
    expect(new TextDecoder().decode(value)).toMatch(/^id: 3\ndata: \{"requests":\[\{[^[]*"id":3,/);
    await reader?.cancel();
  });

  it('shows and searches the messages of a gzipped batch, without the write key', async () => {
    const { read, receiver } = await start();
    const batch = [
      { type: 'track', event: 'Signup', userId: 'u1' },
      { type: 'page', userId: 'u1', name: 'Needle' },
      { type: 'track', event: 'Lost' },
    ];
    const context = { library: { name: 'own', version: '2' } };
    const body = gzipSync(JSON.stringify({ batch, context, writeKey: 'CANARY' }));
    const headers = { 'content-encoding': 'gzip' };
    await fetch(`${receiver.url}/v1/batch`, { method: 'POST', body, headers });
    const { text: details } = await read('requests/1');
    expect(JSON.parse(details)).toMatchObject({
      summary: { messages: 3 },
      library: 'own 2',
      messages: batch,
      messageTitles: [
        'track "Signup" by u1',
        'page by u1',
        expect.stringMatching(/^track "Lost"; a tracking API rejects it: Expected `userId`/),
      ],
    });
    expect(details).not.toContain('CANARY');
    expect((await read('search?text=needle')).text).toBe('[1]');
  });

  it('shows the scheme of a valid request, and the scheme that a sender must name', async () => {
    const { ask, read, receiver } = await start({ secrets: ['s'], sendBy: 'github' });
    const headers = { 'X-Signature': sign('{}', 's'), 'webhook-id': 'm' };
    await fetch(receiver.url, { method: 'POST', body: '{}', headers });
    const details = await read('requests/1');
    expect(JSON.parse(details.text)).toMatchObject({ summary: { verdict: 'valid' }, scheme: 'segment' });
    expect((await ask('/_hooks')).text).toContain('&quot;sendBy&quot;:&quot;github&quot;');
  });

  it('shows exact bytes, and headers with masked secrets', async () => {
    const { read, post } = await start();
    await post(BODY, { Authorization: 'Bearer CANARY', Cookie: 'a=CANARY', 'X-Signature': 'abc' });
    expect(await read('requests/1/body')).toMatchObject({
      text: BODY,
      headers: {
        'content-type': 'application/octet-stream',
        'content-disposition': 'attachment; filename="body"',
      },
    });
    const [details, capture] = [await read('requests/1'), await read('requests/1/capture')];
    expect(details.text).toContain('["Authorization","***"]');
    expect(details.text).toContain('["X-Signature","abc"]');
    expect(JSON.parse(capture.text)).toMatchObject({ capture: 1, url: '/hook?token=***', body: BODY });
    expect(details.text + capture.text).not.toContain('CANARY');
    expect((await read('requests/2')).status).toBe(404);
  });

  it('shows the expected signature only on a page that was opened with the printed token', async () => {
    const { ask, post, token, printedUrl } = await start({ secrets: ['k'] });
    await post(BODY, { 'X-Signature': '0'.repeat(40) });
    const right = createHmac('sha1', 'k').update(BODY).digest('hex');
    const printed = new URL(printedUrl);
    const page = await ask(`${printed.pathname}${printed.search}`, { headers: { host: 'localhost' } });
    const pageToken = /token&quot;:&quot;([\w-]+)/.exec(page.text)?.[1] ?? '';
    expect(pageToken).toBe(printed.searchParams.get('token'));
    const detailsWith = async (given: string): Promise<unknown> =>
      JSON.parse((await ask('/_hooks/requests/1', { headers: { 'x-hooks-token': given } })).text);
    expect(await detailsWith(pageToken)).toMatchObject({ expected: right, got: '0'.repeat(40) });
    expect(JSON.stringify(await detailsWith(token))).not.toContain(right);
    const capture = await ask('/_hooks/requests/1/capture', { headers: { 'x-hooks-token': pageToken } });
    expect(capture.text).not.toContain(right);
  });

  it('searches longer for the cause of an opened mismatch whose diagnosis was cut short, once', async () => {
    const { post, read } = await start({ secrets: ['s3cret'] });
    const hmac = createHmac('sha1', 's3cret').update(LONG_BODY).digest('hex');
    await post(LONG_BODY, { 'X-Signature': createHash('sha1').update(hmac).digest('hex') });
    const diagnosisIn = async (path: string): Promise<unknown> =>
      (JSON.parse((await read(path)).text) as { diagnosis: unknown }).diagnosis;
    const unknown = expect.stringMatching(
      /cause is unknown.*cut short by its time limit\. Search longer/,
    ) as string;
    expect(await diagnosisIn('requests/1')).toMatchObject({
      code: 'no-match',
      hint: unknown,
      isCutShort: true,
    });
    const hint = expect.stringContaining('as SHA-1 of the hex digits of the right HMAC') as string;
    const found = { code: expect.not.stringMatching('no-match') as string, hint };
    for (const path of ['requests/1/diagnosis', 'requests/1/diagnosis', 'requests/1']) {
      expect(await diagnosisIn(path)).toEqual(found);
    }
  });

  it('does not search longer for a mismatch whose diagnosis is complete, or that was evicted', async () => {
    const { post, read } = await start({ secrets: ['s3cret'] });
    await post(BODY, { 'X-Signature': '00' });
    const details = JSON.parse((await read('requests/1')).text) as Record<string, unknown>;
    expect(details['diagnosis']).not.toHaveProperty('isCutShort');
    expect(JSON.parse((await read('requests/1/diagnosis')).text)).toEqual({
      diagnosis: details['diagnosis'],
    });
    expect((await read('requests/2/diagnosis')).status).toBe(404);
  });

  it('searches bodies, ignoring case', async () => {
    const { read, post } = await start();
    await post();
    await post('{"city":"Wien"}');
    expect((await read('search?text=PARIS')).text).toBe('[1]');
    expect((await read('search?text=nowhere')).text).toBe('[]');
  });

  it('replays the unchanged request with its secrets, and shows the problem of a URL', async () => {
    const { act, post, replays } = await start();
    await post(BODY, { Authorization: 'Bearer CANARY' });
    const replay = (wish: string): Promise<Answer> => act('requests/1/replay', wish);
    expect((await replay('{"url":"http://127.0.0.1:3000/"}')).text).toContain('"status":202');
    expect((await replay('{}')).status).toBe(200);
    expect(replays.map(({ url }) => url)).toEqual(['http://127.0.0.1:3000/', undefined]);
    expect(replays[0]?.request.rawHeaders).toContain('Bearer CANARY');
    expect(Buffer.from(replays[0]?.request.body ?? []).toString()).toBe(BODY);
    expect(await replay('{"url":"http://refused/"}')).toMatchObject({
      status: 400,
      text: 'Not there; go elsewhere\n',
    });
    expect((await replay('no JSON')).status).toBe(400);
    expect((await replay(`"${'x'.repeat(10_000)}"`)).status).toBe(400);
  });
});
