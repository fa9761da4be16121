import { describe, expect, it } from 'vitest';
import { rawPost } from './raw-connection.ts';
import { start } from './starting.ts';
import type { Forwarded } from '../../src/receiver/response/forwarding.ts';
import { until } from '../until.ts';
import { sign } from '../sign.ts';

const BODY = '{"version":1,"type":"track","userId":"u1","event":"Signup","properties":{}}';
/** Long enough to read the first bytes on a busy machine: a sender without bytes is disconnected without a report. */
const SOON = { headersMs: 500, requestMs: 500 };

describe('a hostile sender', () => {
  it('whose Content-Length is too large gets 413 before its body is read', async () => {
    const { connect, requests, rejections } = await start({ limits: { bodyBytes: 10 } });
    const client = await connect('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 11\r\n\r\n');
    expect(await client.until(/bytes\n$/)).toMatch(/^HTTP\/1\.1 413 .*at most 10 bytes\n$/s);
    expect(requests).toEqual([]);
    expect(rejections).toMatchObject([{ status: 413, reason: 'its body is over 10 bytes' }]);
  });

  it('whose chunked body is too large gets 413, and the connection serves the next request', async () => {
    const { connect, requests, rejections } = await start({ limits: { bodyBytes: 10 } });
    const client = await connect('POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n');
    client.write('8\r\n12345678\r\n');
    client.write('8\r\n12345678\r\n');
    await client.until(/ 413 /);
    client.write(`0\r\n\r\n${rawPost('0123456789')}`);
    await client.until(/ 200 /);
    expect(requests.map(({ body }) => body.length)).toEqual([10]);
    expect(rejections).toHaveLength(1);
  });

  it('whose headers are too slow gets 408', async () => {
    const { connect, rejections } = await start({ limits: SOON });
    const client = await connect('POST / HTTP/1.1\r\nHost: a\r\nX-Slow: ');
    expect((await client.closed()).received).toMatch(/^HTTP\/1\.1 408 /);
    expect(rejections).toMatchObject([{ status: 408, reason: 'it was sent too slowly' }]);
  });

  it('whose body is too slow gets 408', async () => {
    const { connect, requests, rejections } = await start({ limits: SOON });
    const client = await connect('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\n{');
    expect((await client.closed()).received).toMatch(/^HTTP\/1\.1 408 /);
    await until(() => rejections.length > 0, 'the rejection');
    expect(requests).toEqual([]);
    expect(rejections.map(({ status }) => status)).toEqual([408]);
  });

  it.each(['destroy', 'resetAndDestroy'] as const)(
    'that disconnects an idle connection by %s is not reported',
    async (how) => {
      const { connect, receiver, rejections } = await start();
      const client = await connect(rawPost(BODY));
      await client.until(/ 200 /);
      client.socket[how]();
      await client.closed();
      expect((await fetch(receiver.url)).status).toBe(200);
      expect(rejections).toEqual([]);
    },
  );

  it.each(['destroy', 'resetAndDestroy'] as const)(
    'that disconnects by %s during a body is reported as a rejection, not as a request',
    async (how) => {
      const { connect, requests, rejections } = await start();
      const client = await connect('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\n{');
      const visit = await connect('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
      await visit.until(/ 200 /);
      client.socket[how]();
      await until(() => rejections.length === 1, 'the rejection');
      expect(rejections).toMatchObject([
        { status: undefined, reason: 'its sender disconnected before the end of the request' },
      ]);
      expect(requests).toEqual([]);
    },
  );

  it.each([
    ['garbage', '\u0000\u0001\u0002 hello\r\n\r\n', 400],
    ['a TLS hello', Buffer.from('16030100f4010000f00303', 'hex'), 400],
    ['two lengths', 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab', 400],
    ['an escape in the path', 'POST /\u001b[2J HTTP/1.1\r\nHost: a\r\n\r\n', 400],
    ['20 KB of headers', `POST / HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`, 431],
  ])('that sends %s gets an error, and the receiver continues', async (_what, bytes, status) => {
    const { connect, requests, rejections } = await start();
    const client = await connect(bytes);
    expect((await client.closed()).received).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    expect(rejections).toMatchObject([{ status }]);
    const next = await connect(rawPost(BODY));
    await next.until(/ 200 /);
    expect(requests).toHaveLength(1);
  });

  it.each([
    ['an Expect that is not known', 'POST / HTTP/1.1\r\nHost: a\r\nExpect: 200-ok\r\n', 417],
    ['no Host', 'POST / HTTP/1.1\r\n', 400],
  ])(
    'that sends %s gets an error, and the connection serves the next request',
    async (_what, head, status) => {
      const { connect, requests, rejections } = await start();
      const client = await connect(`${head}Content-Length: 2\r\n\r\n{}${rawPost(BODY)}`);
      expect(await client.until(/ 200 /)).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
      expect(rejections).toMatchObject([{ status }]);
      expect(requests.map(({ body }) => body.length)).toEqual([BODY.length]);
    },
  );

  it('of CONNECT gets 405, even after another that disconnects early', async () => {
    const { connect, requests, rejections } = await start();
    const [hasty, patient] = [await connect(), await connect()];
    hasty.write('CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n');
    hasty.socket.resetAndDestroy();
    patient.write('CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n');
    expect((await patient.closed()).received).toMatch(/^HTTP\/1\.1 405 .*\r\nallow: POST\r\n/s);
    expect(rejections.at(-1)).toMatchObject({
      status: 405,
      reason: expect.stringContaining('CONNECT') as string,
    });
    const next = await connect(rawPost(BODY));
    await next.until(/ 200 /);
    expect(requests).toHaveLength(1);
  });

  it('of HTTP/1.0 needs no Host', async () => {
    const { connect, requests } = await start();
    const client = await connect('POST / HTTP/1.0\r\nContent-Length: 2\r\n\r\n{}');
    await client.until(/ 200 /);
    expect(requests).toHaveLength(1);
  });

  it.each([
    ['deep', '['.repeat(200_000)],
    ['deep and whole', `${'['.repeat(50_000)}${']'.repeat(50_000)}`],
    ['no UTF-8', Buffer.alloc(100_000, 0xff)],
    ['gzip, or so it says', Buffer.concat([Buffer.from('1f8b08', 'hex'), Buffer.alloc(1_000)])],
  ])('whose badly signed body is %s gets the verdict `invalid`', async (_what, body) => {
    const { receiver, requests } = await start({ secrets: ['s3cret'] });
    const headers = { 'X-Signature': sign('another body', 's3cret') };
    const response = await fetch(receiver.url, { method: 'POST', body, headers });
    expect(response.status).toBe(200);
    expect(requests.map(({ verdict }) => verdict)).toEqual(['invalid']);
  });

  it('gets 503 while the bodies of other requests leave no room', async () => {
    const passedOn: ((forwarded: Forwarded) => void)[] = [];
    const forward = () => new Promise<Forwarded>((resolve) => passedOn.push(resolve));
    const { connect, requests, rejections } = await start({ limits: { openBytes: 25 }, forward });
    const [first, second, third] = [await connect(), await connect(), await connect()];
    for (const client of [first, second]) {
      client.write(rawPost('0123456789'));
      await until(() => passedOn.length === (client === first ? 1 : 2), 'the body');
    }
    third.write(rawPost('0123456789'));
    expect(await third.until(/at once are over/)).toMatch(/^HTTP\/1\.1 503 .*retry-after: 1\r\n/s);
    const reason = 'the bodies of all requests at once are over 25 bytes';
    expect(rejections).toMatchObject([{ status: 503, reason }]);
    passedOn[0]?.({ url: 'http://a', status: 200, ms: 1 });
    await first.until(/ 200 /);
    third.write(rawPost('0123456789'));
    await until(() => passedOn.length === 3, 'room again');
    for (const give of passedOn) give({ url: 'http://a', status: 200, ms: 1 });
    await third.until(/ 200 /);
    await second.until(/ 200 /);
    expect(requests).toHaveLength(3);
  });

  it('is disconnected beyond the connection limit', async () => {
    const { connect, rejections } = await start({ limits: { connections: 2 } });
    const [first, second] = [await connect(), await connect()];
    for (const client of [first, second]) {
      client.write(rawPost(BODY));
      await client.until(/ 200 /);
    }
    const third = await connect();
    expect((await third.closed()).received).toBe('');
    expect(rejections).toMatchObject([{ reason: 'more than 2 connections at once' }]);
    first.socket.destroy();
    await first.closed();
    await until(() => rejections.length === 1, 'the rejection');
  });
});
