import { createHmac } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, it, onTestFinished } from 'vitest';
import { signedAgain } from '../../src/app/replaying.ts';
import type { InboxOptions } from '../../src/inbox/inbox.ts';
import type { Details } from '../../src/inbox/wire.ts';
import { BUILT_IN_SCHEMES } from '../../src/signature/schemes/built-in.ts';
import { hooks } from '../cli/run-in-process.ts';
import { receiving } from '../end-to-end/receiving.ts';
import { BODY, start, type Started } from './start-inbox.ts';

const SECRET = 's3cret-of-the-inbox';
const signatureOf = (body: string): string => createHmac('sha1', SECRET).update(body).digest('hex');

const signing = (): Promise<Started> =>
  start({
    secrets: [SECRET],
    sign: (request) => signedAgain(request, { secrets: [SECRET], schemes: undefined }),
  });

const edited = (body: string, isSigned: boolean): object => ({
  url: 'http://localhost:3000/',
  edited: {
    headers: [
      ['X-Signature', 'abc'],
      ['X-New', 'one'],
    ],
    body,
    isSigned,
  },
});

describe('a page without the printed token', () => {
  it('reads, replays to the forwarding URL, and may do nothing else', async () => {
    const { act, read, post, replays, receiver, token } = await start({ forwardUrl: 'http://forward/' });
    await post();
    const wishes: readonly (readonly [path: string, body: object])[] = [
      ['clear', {}],
      ['export', { ids: [1] }],
      ['respond', { respond: '500' }],
      ['requests/1/replay', { url: 'http://127.0.0.1:6379/' }],
      ['requests/1/replay', edited('{}', false)],
      ['requests/1/replay', { url: 'http://forward/', edited: { headers: [], body: '', isSigned: false } }],
    ];
    for (const [path, body] of wishes) {
      const answer = await act(path, body, { token });
      expect([path, answer]).toEqual([
        path,
        expect.objectContaining({
          status: 403,
          text: 'this needs the token: open the whole address that `hooks listen` printed\n',
        }),
      ]);
    }
    expect(replays).toEqual([]);
    expect((await fetch(receiver.url, { method: 'POST', body: '{}' })).status).toBe(200);
    expect((await read('requests/1')).status).toBe(200);
    for (const body of [{}, { url: 'http://forward/' }]) {
      expect((await act('requests/1/replay', body, { token })).status).toBe(200);
    }
    expect(replays.map(({ url }) => url)).toEqual([undefined, 'http://forward/']);
  });
});

describe('clearing', () => {
  it('removes all requests, notifies the page, and does not reuse numbers', async () => {
    const { act, read, post, receiver, token } = await start();
    const feed = await fetch(`${receiver.url}/_hooks/events?token=${token}`);
    const reader = feed.body?.getReader();
    const next = async (): Promise<string> => new TextDecoder().decode((await reader?.read())?.value);
    await next();
    await post();
    await post();
    let told = '';
    while (!told.includes('"newestId":2')) told = await next();
    expect((await act('clear', {})).status).toBe(200);
    expect(await next()).toContain('{"requests":[],"firstId":3,"newestId":2,"evicted":0,');
    expect((await read('requests/2')).status).toBe(404);
    expect((await read('search?text=paris')).text).toBe('[]');
    await post();
    expect((await read('requests/3')).status).toBe(200);
    await reader?.cancel();
  });

  it.each(['clear', 'export', 'respond'])(
    'rejects a GET for %s, and a body that is not an object',
    async (path) => {
      const { act, read } = await start();
      expect((await read(path)).status).toBe(405);
      expect((await act(path, 'null')).status).toBe(400);
    },
  );
});

describe('an export', () => {
  it('can be replayed unchanged, and verified', async () => {
    const { act, post, receiver } = await start({ secrets: [SECRET] });
    const chinese = '{"type":"track","userId":"王小明","event":"订单完成","properties":{"标题":"\\u8d44"}}';
    const bytes = Buffer.from([0x7b, 0xff, 0x7d]);
    for (const body of [BODY, chinese]) await post(body, { 'X-Signature': signatureOf(body) });
    await fetch(receiver.url, { method: 'POST', body: bytes });
    await post(BODY, { Authorization: 'Bearer CANARY' });
    const { text, headers } = await act('export', { ids: [1, 2, 3, 4, 99] });
    expect(headers['content-disposition']).toBe('attachment; filename="captures.ndjson"');
    const captures = text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(captures.map(({ verdict }) => verdict)).toEqual(['valid', 'valid', 'unsigned', 'unsigned']);
    expect(captures[2]?.['bodyBase64']).toBe(bytes.toString('base64'));
    expect(text).not.toContain('CANARY');

    const other = await receiving({ secret: SECRET });
    const file = await fileOf((await act('export', { ids: [2, 1] })).text);
    const replay = await hooks([
      'replay',
      file,
      '--exact',
      '--order',
      'none',
      '--url',
      other.url,
      '--secret',
      SECRET,
    ]);
    expect(replay).toMatchObject({ code: 0 });
    expect(other.bodies().toSorted()).toEqual([BODY, chinese].toSorted());
    expect(other.requests.map(({ verdict }) => verdict)).toEqual(['valid', 'valid']);
    for (const id of [1, 2]) {
      const stdin = (await act('export', { ids: [id] })).text;
      expect(await hooks(['verify', '--secret', SECRET], { stdin })).toMatchObject({ code: 0 });
      const wrong = await hooks(['verify', '--secret', 'another-one'], { stdin });
      expect(wrong).toMatchObject({ code: 1 });
    }
  });

  it('rejects a body of another shape', async () => {
    const { act } = await start();
    expect((await act('export', {})).status).toBe(400);
    expect(await act('export', { ids: ['1', null, {}] })).toMatchObject({ status: 200, text: '' });
  });
});

describe('a response that is changed on the page', () => {
  it('applies to the next requests until it is removed', async () => {
    const { act, requests, receiver } = await start({ respond: '204' });
    const statusOf = async (): Promise<number> =>
      (await fetch(receiver.url, { method: 'POST', body: '{}' })).status;
    expect((await act('respond', { respond: '503x2@retry-after=3,201' })).status).toBe(200);
    expect([await statusOf(), await statusOf(), await statusOf(), await statusOf()]).toEqual([
      503, 503, 201, 201,
    ]);
    expect(requests[0]?.response).toEqual({
      headers: [
        ['retry-after', '3'],
        ['content-length', '0'],
      ],
      body: '',
    });
    expect(await act('respond', { respond: '999' })).toMatchObject({
      status: 400,
      text: expect.stringContaining('Expected a status from 200 to 599, got `999`') as string,
    });
    expect(await statusOf()).toBe(201);
    await act('respond', { respond: ' ' });
    expect(await statusOf()).toBe(200);
  });

  it('replaces the response of a tracking API, and is shown with headers and body', async () => {
    const { act, read, receiver } = await start();
    const call = async (): Promise<number> =>
      (await fetch(`${receiver.url}/v1/track`, { method: 'POST', body: '{"userId":"u","event":"E"}' }))
        .status;
    expect(await call()).toBe(200);
    await act('respond', { respond: '429' });
    expect(await call()).toBe(429);
    const details = await read('requests/1');
    expect(JSON.parse(details.text)).toMatchObject({
      response: {
        headers: expect.arrayContaining([['content-type', 'application/json']]) as unknown,
        body: '{"success":true}',
      },
    });
  });
});

describe('an edited request', () => {
  it('is sent with the original write key, of which the page has the last characters', async () => {
    const { act, read, receiver, replays } = await start();
    const body = '{"batch":[{"type":"page","userId":"u1"}], "writeKey": "KEY-$&-CANARY"}';
    await fetch(`${receiver.url}/v1/batch`, { method: 'POST', body });
    const { text } = await read('requests/1/body');
    expect(text).toBe(body.replace(/KEY.*CANARY/, '…NARY'));
    expect((await read('requests/1')).text).toContain('"writeKey":"…NARY"');
    await act('requests/1/replay', { edited: { headers: [], body: text, isSigned: false } });
    expect(Buffer.from(replays[0]?.request.body ?? []).toString()).toBe(body);
  });

  it('is sent as edited, with the original values of masked headers', async () => {
    const { act, post, replays } = await start();
    await post(BODY, { Authorization: 'Bearer CANARY', 'X-Old': '1' });
    const headers = [
      ['Authorization', '***'],
      ['X-Other', '***'],
      ['X-New', 'two'],
    ];
    await act('requests/1/replay', { edited: { headers, body: '{}', isSigned: false } });
    expect(replays[0]?.request.rawHeaders).toEqual([
      'Authorization',
      'Bearer CANARY',
      'X-Other',
      '***',
      'X-New',
      'two',
    ]);
    expect(Buffer.from(replays[0]?.request.body ?? []).toString()).toBe('{}');
  });

  it('is signed only for a page that was opened with the printed token', async () => {
    const { act, post, replays, ask, token: pageToken, printedUrl } = await signing();
    await post();
    const changed = '{"type":"track","userId":"新","event":"Changed"}';
    const wish = edited(changed, true);
    expect(await act('requests/1/replay', wish, { token: pageToken })).toMatchObject({ status: 403 });
    expect(replays).toEqual([]);
    expect((await act('requests/1/replay', wish)).status).toBe(200);
    expect(replays[0]?.request.rawHeaders).toEqual(['X-New', 'one', 'X-Signature', signatureOf(changed)]);
    expect((await act('requests/1/replay', edited(changed, false))).status).toBe(200);
    expect(replays[1]?.request.rawHeaders).toEqual(['X-Signature', 'abc', 'X-New', 'one']);
    expect((await ask('/_hooks')).text).toContain('&quot;canSign&quot;:false');
    expect((await ask(`/_hooks${new URL(printedUrl).search}`)).text).toContain('&quot;canSign&quot;:true');
  });

  it.each([
    [[['bad name', 'x']], 'Expected the name of a header, got `bad name`'],
    [[['X-A', 'a\r\nX-B: b']], 'Expected a value without control characters in the header X-A'],
    [[['X-A']], 'malformed request'],
    ['X-A: b', 'malformed request'],
  ])('is rejected with the headers %j', async (headers, told) => {
    const { act, post, replays } = await start();
    await post();
    const answer = await act('requests/1/replay', { edited: { headers, body: '', isSigned: false } });
    expect(answer).toMatchObject({ status: 400, text: expect.stringContaining(told) as string });
    expect(replays).toEqual([]);
  });

  it('is signed by the named schemes, otherwise by those of the request', () => {
    const body = Buffer.from('{}');
    const github = BUILT_IN_SCHEMES.filter(({ name }) => name === 'github');
    const digest = `sha256=${createHmac('sha256', SECRET).update('{}').digest('hex')}`;
    const options = { secrets: [SECRET], schemes: undefined };
    const came = { rawHeaders: ['x-hub-signature-256', 'sha256=00', 'A', 'b'], body };
    expect(signedAgain(came, options).rawHeaders).toEqual(['A', 'b', 'X-Hub-Signature-256', digest]);
    const unsigned = { rawHeaders: [], body };
    expect(signedAgain(unsigned, { ...options, schemes: github }).rawHeaders).toEqual([
      'X-Hub-Signature-256',
      digest,
    ]);
    expect(signedAgain(unsigned, options).rawHeaders).toEqual(['X-Signature', signatureOf('{}')]);
  });
});

describe('a batch in the list', () => {
  it('lists the types, events and users of its messages, or why it was rejected', async () => {
    const { read, receiver } = await start();
    const batch = Array.from({ length: 30 }, (_, id) => ({ type: 'track', event: `E${id}`, userId: 'u1' }));
    await fetch(`${receiver.url}/v1/batch`, {
      method: 'POST',
      body: gzipSync(JSON.stringify({ batch })),
      headers: { 'content-encoding': 'gzip' },
    });
    await fetch(`${receiver.url}/v1/batch`, { method: 'POST', body: 'no JSON' });
    const detailsOf = async (id: number): Promise<unknown> => JSON.parse((await read(`requests/${id}`)).text);
    const among = { types: ['track'], events: batch.slice(0, 10).map(({ event }) => event), users: ['u1'] };
    expect(await detailsOf(1)).toMatchObject({ summary: { messages: 30, among } });
    expect(await detailsOf(2)).toMatchObject({
      summary: { problem: expect.stringMatching(/^Expected a value, got `no`/) as string },
    });
  });
});

const violations: InboxOptions['violations'] = (message) =>
  JSON.stringify(message).includes('Wrong') ? ['Violates the plan at `a`', 'Violates the plan at `b`'] : [];

describe('a tracking plan', () => {
  it('marks requests that violate it, and lists what their messages violate', async () => {
    const { read, post, receiver } = await start({ violations });
    await post();
    await post('{"type":"track","event":"Wrong","userId":"u1"}');
    const wrong = { type: 'track', event: 'Wrong', userId: 'u1' };
    const batch = [{ type: 'page', userId: 'u1' }, ...Array.from({ length: 60 }, () => wrong)];
    await fetch(`${receiver.url}/v1/batch`, { method: 'POST', body: JSON.stringify({ batch }) });
    const detailsOf = async (id: number): Promise<Details> =>
      JSON.parse((await read(`requests/${id}`)).text) as Details;
    const [right, single, several] = [await detailsOf(1), await detailsOf(2), await detailsOf(3)];
    expect([right.summary.unplanned, right.violations]).toEqual([undefined, undefined]);
    expect(single).toMatchObject({
      summary: { unplanned: 1 },
      violations: ['Violates the plan at `a`', 'Violates the plan at `b`'],
    });
    expect(several.summary.unplanned).toBe(60);
    expect(several.violations).toHaveLength(101);
    expect(several.violations?.[0]).toBe('2. track "Wrong" by u1: Violates the plan at `a`');
    expect(several.violations?.at(-1)).toBe('20 more violations');
  });
});

async function fileOf(text: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'hooks-export-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const file = join(folder, 'captures.ndjson');
  await writeFile(file, text);
  return file;
}
