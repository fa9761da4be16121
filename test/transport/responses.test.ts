import { describe, expect, it } from 'vitest';
import {
  answers,
  answersBytes,
  answersOk,
  closesBeforeAnswer,
  dripsBody,
  endlessBody,
  hugeBody,
  hugeHeaders,
  receiver as newReceiver,
} from '../hostile-receivers.ts';
import { createUndiciTransport } from '../../src/transport/undici-transport.ts';
import { newTransport, requestTo, sendTo, SHORT_MS, started } from './sending.ts';
import { until } from '../until.ts';

const FEW_MB = 8_000_000;

describe('a request', () => {
  it('is a POST with the headers as given, in latin1, and the exact bytes of the body', async () => {
    const receiver = await started(answersOk());
    const headers = ['User-Agent', 'hooks/1', 'X-Note', 'caf\u00e9\t!', 'X-Twice', '1', 'X-Twice', '2'];
    await sendTo(`${receiver.url}?a=1&b=%20`, { headers, body: Buffer.from('{"é":1}') });
    const [request] = receiver.requests;
    expect(request?.head[0]).toBe('POST /hook?a=1&b=%20 HTTP/1.1');
    expect(request?.head).toEqual(
      expect.arrayContaining(['User-Agent: hooks/1', 'X-Note: caf\u00e9\t!', 'X-Twice: 1', 'X-Twice: 2']),
    );
    expect(request?.body.toString()).toBe('{"é":1}');
  });

  it.each([
    ['/a/../b/./c', '/a/../b/./c'],
    ['/%2e%2e/%7Ea?b=%20', '/%2e%2e/%7Ea?b=%20'],
    ['/é?q={"a":[1]}|', '/%C3%A9?q=%7B%22a%22:%5B1%5D%7D%7C'],
    ['/100%', '/100%25'],
    ['', '/'],
  ])('has the path as given: %s', async (path, target) => {
    const receiver = await started(answersOk());
    const url = `http://127.0.0.1:${receiver.port}${path}`;
    expect(await sendTo(url)).toMatchObject({ status: 200 });
    expect(receiver.requests[0]?.head[0]).toBe(`POST ${target} HTTP/1.1`);
  });

  it('asks for an unencoded response', async () => {
    const receiver = await started(answersOk());
    await sendTo(receiver.url);
    expect(receiver.requests[0]?.head).toContain('accept-encoding: identity');
  });

  it("leaves the caller's Accept-Encoding alone", async () => {
    const receiver = await started(answersOk());
    await sendTo(receiver.url, { headers: ['Accept-Encoding', 'br'] });
    expect(receiver.requests[0]?.head.filter((line) => /^accept-encoding/i.test(line))).toEqual([
      'Accept-Encoding: br',
    ]);
  });

  it('has a length of 0 if the body is empty', async () => {
    const receiver = await started(answersOk());
    await sendTo(receiver.url, { body: Buffer.alloc(0) });
    expect(receiver.requests[0]?.head).toContain('content-length: 0');
  });

  it('reaches a receiver on IPv6', async () => {
    const receiver = await started(answersOk({ host: '::1' }));
    expect(receiver.url).toContain('[::1]');
    expect(await sendTo(receiver.url)).toMatchObject({ status: 200 });
    expect(receiver.requests).toHaveLength(1);
  });

  it('opens as many connections as there are attempts at once, and reuses them', async () => {
    const receiver = await started(answersOk());
    const transport = newTransport();
    const burst = () => Promise.all([1, 2, 3].map(() => transport.send(requestTo(receiver.url))));
    await burst();
    await until(() => receiver.requests.length === 3, 'the requests');
    await burst();
    expect(receiver.requests).toHaveLength(6);
    expect(receiver.connections).toBe(3);
  });

  it.each([
    ['ftp://127.0.0.1/x', 'scheme'],
    ['no url', 'url'],
  ])('cannot go to %s', async (url, kind) => {
    await expect(sendTo(url)).rejects.toMatchObject({ name: 'TransportError', kind });
  });

  it('cannot have a header that HTTP does not allow, and leaves no connection behind', async () => {
    const receiver = await started(answersOk());
    const sending = sendTo(receiver.url, { headers: ['x-bad', 'a\r\nb'] });
    await expect(sending).rejects.toMatchObject({ name: 'TransportError', kind: 'request' });
    expect(receiver.requests).toHaveLength(0);
  });
});

describe('a response', () => {
  it.each([200, 201, 204, 299])('of status %i ends the attempt at its headers', async (status) => {
    const receiver = await started(answers(status));
    const result = await sendTo(receiver.url);
    expect(result).toEqual({ kind: 'response', status, ms: expect.any(Number), reconnected: false });
  });

  it('of another status has the beginning of its body and its Retry-After', async () => {
    const receiver = await started(answers(503, { headers: ['Retry-After: 7'], body: 'é'.repeat(9_000) }));
    const result = await sendTo(receiver.url);
    expect(result).toMatchObject({ status: 503, retryAfter: '7', body: 'é'.repeat(8_192) });
  });

  it('that redirects is not followed', async () => {
    const elsewhere = await started(answersOk());
    const receiver = await started(answers(302, { headers: [`Location: ${elsewhere.url}`] }));
    expect(await sendTo(receiver.url)).toMatchObject({ status: 302 });
    expect(elsewhere.requests).toHaveLength(0);
  });

  it('has its body for every status, if requested', async () => {
    const receiver = await started(answers(200, { body: '{"rejected":[]}' }));
    const transport = newTransport();
    expect(await transport.send(requestTo(receiver.url, { responseBytes: 1_000 }))).toMatchObject({
      status: 200,
      body: '{"rejected":[]}',
    });
    expect(await transport.send(requestTo(receiver.url, { responseBytes: 4 }))).toMatchObject({
      body: '{"re',
    });
  });

  it('of 200 with an endless body is a success at once', async () => {
    const receiver = await started(dripsBody());
    expect(await sendTo(receiver.url, { timeoutMs: 60_000 })).toMatchObject({ status: 200 });
  });

  it('of 500 with an endless body ends at the timeout, and the connection is dropped', async () => {
    const receiver = await started(dripsBody(500));
    const result = await sendTo(receiver.url, { timeoutMs: SHORT_MS });
    expect(result).toMatchObject({ status: 500, body: expect.stringMatching(/^a+$/) });
    await until(() => receiver.openConnections === 0, 'the connections to be closed');
  });

  it.each([200, 500])(
    'of %i with an endless body is read up to a limit before the connection is dropped',
    async (status) => {
      const receiver = await started(endlessBody(status));
      expect(await sendTo(receiver.url, { timeoutMs: 60_000 })).toMatchObject({ status });
      await until(() => receiver.openConnections === 0, 'the connections to be closed');
      expect(receiver.bytesWritten).toBeLessThan(FEW_MB);
    },
  );

  it('of 300 MB, declared as gzip, is neither decoded nor read', async () => {
    const receiver = await started(hugeBody());
    expect(await sendTo(receiver.url)).toMatchObject({ status: 200 });
    await until(() => receiver.openConnections === 0, 'the connections to be closed');
    expect(receiver.bytesWritten).toBeLessThan(FEW_MB);
  });

  it('that breaks in its body has the status it began with', async () => {
    const receiver = await started(
      closesBeforeAnswer({ after: 'HTTP/1.1 500 Oops\r\nContent-Length: 100\r\n\r\nhalf' }),
    );
    expect(await sendTo(receiver.url)).toMatchObject({ status: 500, body: 'half' });
  });

  it('without a length ends with the connection', async () => {
    const receiver = await started(closesBeforeAnswer({ after: 'HTTP/1.1 404 No\r\n\r\nnothing here' }));
    expect(await sendTo(receiver.url)).toMatchObject({
      status: 404,
      body: 'nothing here',
    });
  });

  it('with a slow body is read to its end when the transport is closed', async () => {
    const endings: string[] = [];
    const written = ['bo', 'dy'];
    const receiver = await started(
      newReceiver((socket) => {
        socket.once('error', () => endings.push('reset')).once('end', () => endings.push('ended'));
        socket.write('HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n');
        // In parts, so that a closed connection still receives bytes, which resets it.
        const parts = [...written];
        const writing = setInterval(() => {
          const part = parts.shift();
          if (part === undefined || socket.destroyed) clearInterval(writing);
          else socket.write(part);
        }, 1);
      }),
    );
    const transport = createUndiciTransport();
    expect(await transport.send(requestTo(receiver.url))).toMatchObject({ status: 200 });
    await transport.close();
    await until(() => endings.length > 0, 'the end of the connection');
    expect(endings).toEqual(['ended']);
    expect(receiver.bytesWritten).toBe('HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nbody'.length);
  });

  it('with an endless body does not delay closing', async () => {
    const receiver = await started(dripsBody());
    const transport = createUndiciTransport();
    expect(await transport.send(requestTo(receiver.url, { timeoutMs: 60_000 }))).toMatchObject({
      status: 200,
    });
    await transport.close();
    await until(() => receiver.openConnections === 0, 'the last connection to go');
  });

  it('after interim ones is the final one', async () => {
    const receiver = await started(
      answersBytes(
        'HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 204 Done\r\n\r\n',
      ),
    );
    expect(await sendTo(receiver.url)).toMatchObject({ status: 204 });
  });

  it.each([
    ['more than 16 KB of headers', () => hugeHeaders(), 'the response has more than 16 KB of headers'],
    ['no HTTP', () => answersBytes('garbage\r\n\r\n'), 'Response does not match the HTTP/1.1 protocol'],
    ['HTTP/0.9', () => answersBytes('<html>hello</html>'), 'the response is not one of HTTP/1'],
    ['a wrong version', () => answersBytes('HTTP/9.9 200 OK\r\n\r\n'), 'the response is not one of HTTP/1'],
    [
      'another protocol',
      () => answersBytes('HTTP/1.1 101 Go\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n'),
      'another protocol',
    ],
    ['100 Continue unasked', () => answersBytes('HTTP/1.1 100 Continue\r\n\r\n'), '100 Continue'],
  ])('of %s is a protocol error', async (_, hostile, detail) => {
    const receiver = await started(hostile());
    const result = await sendTo(receiver.url);
    expect(result).toMatchObject({ error: 'protocol', detail: expect.stringContaining(detail) });
    expect(receiver.requests).toHaveLength(1);
  });
});

describe('receivers whose bodies never end', () => {
  it('do not hold more than a bounded number of connections', async () => {
    const receiver = await started(dripsBody());
    const transport = newTransport();
    for (let sent = 0; sent < 100; sent++) {
      await transport.send(requestTo(receiver.url, { timeoutMs: 60_000 }));
    }
    await until(() => receiver.openConnections <= 65, 'the connections to be closed');
    expect(receiver.connections).toBe(100);
    expect(receiver.openConnections).toBeLessThanOrEqual(65);
  });
});
