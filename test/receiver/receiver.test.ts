import { EventEmitter, once } from 'node:events';
import { createServer } from 'node:net';
import { describe, expect, it } from 'vitest';
import { listening } from '../answers/counterparts.ts';
import { FakeClock } from '../fake-clock.ts';
import { rawPost } from './raw-connection.ts';
import { answered, start } from './starting.ts';
import { until } from '../until.ts';
import { sign } from '../sign.ts';

const BODY = '{"version":1,"type":"track","userId":"u1","event":"Signup","properties":{}}';

describe('a request', () => {
  it('is reported with its exact bytes, its headers in order and its response', async () => {
    const { connect, requests } = await start();
    const client = await connect();
    const body = Buffer.from([0x7b, 0xff, 0x00, 0x7d]);
    client.write('POST /a/b?c=d HTTP/1.1\r\nHost: a\r\nX-One: 1\r\nx-ONE: 2\r\nContent-Length: 4\r\n\r\n');
    client.write(body);
    expect(await client.until(/\r\n\r\n/)).toMatch(/^HTTP\/1\.1 200 OK\r\n(?=.*content-length: 0\r\n)/s);
    expect(requests).toHaveLength(1);
    expect(requests[0]).toMatchObject({ method: 'POST', path: '/a/b?c=d', answered: 'status', status: 200 });
    expect(requests[0]?.rawHeaders.slice(2, 6)).toEqual(['X-One', '1', 'x-ONE', '2']);
    expect(Buffer.from(requests[0]?.body ?? []).equals(body)).toBe(true);
  });

  it.each([
    ['valid', ['s3cret'], [`X-Signature: ${sign(BODY, 's3cret')}`], 1],
    ['valid', ['new', 's3cret'], [`x-signature: ${sign(BODY, 's3cret')}`], 2],
    ['invalid', ['s3cret'], [`X-Signature: ${sign(BODY, 'other')}`], undefined],
    ['invalid', ['s3cret'], ['X-Signature:'], undefined],
    ['unsigned', ['s3cret'], [], undefined],
    ['unchecked', [], [`X-Signature: ${sign(BODY, 'other')}`], undefined],
  ])(
    'is %s with the secrets %j, the headers %j and the secret %j',
    async (verdict, secrets, headers, secret) => {
      const { connect, requests } = await start({ secrets });
      const client = await connect(rawPost(BODY, headers));
      await client.until(/ 200 /);
      expect(requests.map((request) => [request.verdict, request.secret])).toEqual([[verdict, secret]]);
      expect(requests[0]?.diagnosis !== undefined).toBe(/^(?:invalid|unsigned)$/.test(verdict));
    },
  );

  it('is diagnosed if it is one of the first ten mismatches in a second', async () => {
    const clock = new FakeClock();
    const { connect, requests } = await start({ secrets: ['s3cret'], clock });
    const client = await connect();
    const post = async (count: number): Promise<void> => {
      client.write(rawPost(BODY, [`X-Signature: ${sign(`${BODY}\n`, 's3cret')}`]).repeat(count));
      const all = requests.length + count;
      await until(() => requests.length === all, 'the reports');
    };
    await post(25);
    await clock.advance(1_000);
    await post(1);
    const codes = requests.map(({ diagnosis }) => diagnosis?.code);
    expect(codes).toEqual([
      ...Array<string>(10).fill('trailing-newline'),
      ...Array<string>(15).fill('no-match'),
      'trailing-newline',
    ]);
    expect(requests[24]?.diagnosis?.hint).toBe(
      `Signature does not match: computed over ${BODY.length} bytes; not diagnosed: too many other mismatches came within a second. ` +
        'Send one of these requests by itself to learn why',
    );
  });

  it.each([
    ['valid', 100_000],
    ['invalid', 200_000],
  ])(
    'that matches only after stringifying is %s with %d bytes, regardless of the diagnosis quota',
    async (verdict, size) => {
      const { connect, requests } = await start({ secrets: ['s3cret'], clock: new FakeClock() });
      const client = await connect();
      const body = { event: 'x'.repeat(size) };
      const post = rawPost(JSON.stringify(body, null, 1), [
        `X-Signature: ${sign(JSON.stringify(body), 's3cret')}`,
      ]);
      client.write(post.repeat(12));
      await until(() => requests.length === 12, 'the reports');
      expect(new Set(requests.map((request) => request.verdict))).toEqual(new Set([verdict]));
      if (verdict === 'valid') return;
      expect(requests[0]?.diagnosis).toMatchObject({
        code: 'pretty-printed',
        hint: expect.stringContaining(
          'it matches the JSON-stringified body, which counts for bodies up to 128 KiB',
        ),
      });
      expect(requests[11]?.diagnosis?.code).toBe('no-match');
    },
  );

  it('is invalid with two signatures, even if both match', async () => {
    const { connect, requests } = await start({ secrets: ['s3cret'] });
    const client = await connect();
    const header = `X-Signature: ${sign(BODY, 's3cret')}`;
    client.write(rawPost(BODY, [header, header]));
    await client.until(/ 200 /);
    expect(requests[0]).toMatchObject({
      verdict: 'invalid',
      diagnosis: { code: 'no-match', hint: 'the request has 2 X-Signature headers; send exactly one' },
    });
  });

  it('without a valid signature gets 401 if one is required, and uses no step of the script', async () => {
    const { connect, requests } = await start({
      secrets: ['s3cret'],
      requireSignature: true,
      ...answered('503,200'),
    });
    const client = await connect(rawPost(BODY));
    expect(await client.until(/ 401 .*\n$/s)).toContain('the X-Signature header is missing');
    client.write(rawPost(BODY, [`X-Signature: ${sign(BODY, 'other')}`]));
    await client.until(/does not match\n$/);
    client.write(rawPost(BODY, [`X-Signature: ${sign(BODY, 's3cret')}`]));
    await client.until(/ 503 /);
    expect(requests.map(({ status }) => status)).toEqual([401, 401, 503]);
  });

  it('is reported with the problem that `check` returns', async () => {
    const { connect, requests } = await start({
      check: (body) => (body.length > 2 ? 'too long' : undefined),
    });
    await connect(rawPost('{}') + rawPost('{ }'));
    await until(() => requests.length === 2, 'the request');
    expect(requests.map(({ problem }) => problem)).toEqual([undefined, 'too long']);
  });

  it('is in flight until it is reported or rejected', async () => {
    const busy: boolean[] = [];
    const { connect, requests, rejections } = await start({
      ...answered('timeout,200'),
      limits: { bodyBytes: 100 },
      onBusy: (isBusy) => busy.push(isBusy),
    });
    const [held, half, large] = [await connect(), await connect(), await connect()];
    held.write(rawPost(BODY));
    half.write('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\n{}');
    await until(() => busy.length > 0, 'the first request');
    large.write('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 101\r\n\r\n');
    await large.until(/ 413 /);
    half.socket.destroy();
    await until(() => rejections.length === 2, 'both rejections');
    expect(busy).toEqual([true]);
    held.socket.destroy();
    await until(() => requests.length === 1, 'the request');
    expect(busy).toEqual([true, false]);
  });

  it('of another method gets 405 and is reported', async () => {
    const { connect, requests } = await start(answered('503'));
    const client = await connect('PUT /a HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n');
    expect(await client.until(/ 405 /)).toMatch(/allow: POST\r\n/);
    expect(requests[0]).toMatchObject({ method: 'PUT', status: 405 });
  });

  it('for GET / gets a greeting and is not reported', async () => {
    const { receiver, requests } = await start({ secrets: ['s'], requireSignature: true });
    const response = await fetch(`${receiver.url}/?from=browser`);
    expect([response.status, await response.text()]).toEqual([
      200,
      'hooks is listening; POST webhooks here\n',
    ]);
    expect((await fetch(receiver.url, { method: 'HEAD' })).status).toBe(200);
    expect(requests).toEqual([]);
  });
});

describe('a response', () => {
  it('waits for the reader of the reports', async () => {
    const reader = new EventEmitter();
    const drained = once(reader, 'drain');
    const { connect, requests } = await start({ drained: () => drained });
    const client = await connect(rawPost(BODY));
    await until(() => requests.length === 1, 'the request');
    const visit = await connect('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    await visit.until(/ 200 /);
    expect(client.socket.bytesRead).toBe(0);
    reader.emit('drain');
    await client.until(/ 200 /);
  });

  it('of a pipelined request is dropped if its sender disconnects while it waits for the reader', async () => {
    const reader = new EventEmitter();
    const drained = once(reader, 'drain');
    const clock = new FakeClock();
    const { connect, requests } = await start({
      ...answered('timeout,slow-body'),
      clock,
      drained: () => drained,
    });
    const client = await connect(rawPost(BODY).repeat(2));
    await until(() => requests.length === 1, 'the second request');
    client.socket.destroy();
    await until(() => requests.length === 2, 'the first request');
    reader.emit('drain');
    await clock.advance(0);
    expect(clock.pendingTimers).toBe(0);
  });

  it('is sent when the receiver closes, since it is reported', async () => {
    const { connect, receiver, requests } = await start({ drained: () => new Promise(() => {}) });
    const client = await connect(rawPost(BODY));
    await until(() => requests.length === 1, 'the request');
    await receiver.close();
    expect((await client.closed()).received).toMatch(/^HTTP\/1\.1 200 OK/);
  });
});

describe('a scripted response', () => {
  it('is sent in order of the script with its headers', async () => {
    const { connect, requests } = await start(answered('503x2,429@Retry-After=3,204,200'));
    const client = await connect();
    for (const status of [503, 503, 429, 204, 200]) {
      const before = requests.length;
      client.write(rawPost(BODY));
      await until(() => requests.length > before, 'the request');
      expect(requests.at(-1)?.status).toBe(status);
    }
    const answers = (await client.until(/ 200 OK/)).split(/(?=HTTP\/1\.1)/);
    expect(answers[2]).toMatch(/^HTTP\/1\.1 429 .*Retry-After: 3\r\n/s);
    expect(answers[3]).not.toMatch(/content-length/i);
  });

  it('reset ends the connection with a TCP reset without a byte of a response', async () => {
    const { connect, requests } = await start(answered('reset'));
    const client = await connect(rawPost(BODY));
    expect(await client.closed()).toEqual({ ending: 'reset', received: '' });
    expect(requests[0]).toMatchObject({ answered: 'reset', status: undefined });
  });

  it('timeout sends no response and is reported when the sender gives up', async () => {
    const { connect, requests } = await start(answered('timeout,200'));
    const patient = await connect(rawPost(BODY));
    const next = await connect(rawPost('{}'));
    await next.until(/ 200 /);
    expect(requests).toHaveLength(1);
    patient.socket.destroy();
    await until(() => requests.length === 2, 'the request');
    expect(requests[1]).toMatchObject({ answered: 'timeout', status: undefined });
  });

  it('timeout lasts longer than the limit on slow senders', async () => {
    const { connect, requests } = await start({
      ...answered('timeout'),
      limits: { headersMs: 500, requestMs: 500 },
    });
    const client = await connect(rawPost(BODY));
    // The slow sender shows that the limit was enforced in the meantime.
    const slow = await connect('POST');
    await slow.closed();
    expect(client.socket.closed).toBe(false);
    expect(requests).toEqual([]);
  });

  it('timeout is reported if the receiver closes first', async () => {
    const { connect, receiver, requests } = await start(answered('timeout'));
    const client = await connect(rawPost(BODY));
    const visit = await connect('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    await visit.until(/ 200 /);
    await receiver.close();
    expect(requests.map((request) => request.answered)).toEqual(['timeout']);
    expect((await client.closed()).received).toBe('');
  });

  it('delay waits that long, and its report includes the time', async () => {
    const clock = new FakeClock();
    const { connect, requests } = await start({ ...answered('delay=5100ms'), clock });
    const client = await connect(rawPost(BODY));
    await until(() => clock.pendingTimers === 1, 'the timer');
    await clock.advance(5_099);
    expect(requests).toEqual([]);
    await clock.advance(1);
    await client.until(/ 200 /);
    expect(requests[0]).toMatchObject({ status: 200, ms: 5_100 });
  });

  it('delay is reported as `nothing` if its sender disconnects', async () => {
    const clock = new FakeClock();
    const { connect, requests } = await start({ ...answered('500@delay=5s'), clock });
    const client = await connect(rawPost(BODY));
    await until(() => clock.pendingTimers === 1, 'the timer');
    client.socket.destroy();
    await until(() => requests.length === 1, 'the request');
    expect(requests[0]).toMatchObject({ answered: 'nothing', status: undefined });
    expect(clock.pendingTimers).toBe(0);
  });

  it('is dropped with all pipelined responses if its sender disconnects', async () => {
    const clock = new FakeClock();
    const busy: boolean[] = [];
    const { connect, requests } = await start({
      ...answered('timeout,timeout,slow-body,500@delay=5s'),
      clock,
      onBusy: (isBusy) => busy.push(isBusy),
    });
    const client = await connect(rawPost(BODY).repeat(4));
    await until(() => clock.pendingTimers === 2, 'the timers of the last two');
    client.socket.destroy();
    await until(() => busy.length === 2, 'the end of all');
    expect(requests.map((request) => request.answered)).toEqual([
      'slow-body',
      'timeout',
      'timeout',
      'nothing',
    ]);
    expect(clock.pendingTimers).toBe(0);
  });

  it('slow-body sends status and headers at once and then an endless body', async () => {
    const { connect, receiver, requests } = await start({
      ...answered('slow-body@x-a=b'),
      limits: { dripMs: 10 },
    });
    const client = await connect(rawPost(BODY));
    const received = await client.until(/(\r\n1\r\n\.){3}/);
    expect(received).toMatch(/^HTTP\/1\.1 200 OK\r\nx-a: b\r\n/);
    expect(requests[0]).toMatchObject({ answered: 'slow-body', status: 200 });
    await receiver.close();
    expect((await client.closed()).received).not.toMatch(/\r\n0\r\n\r\n$/);
  });
});

describe('a receiver', () => {
  it('listens on a free port of loopback by default', async () => {
    const { receiver } = await start();
    expect(receiver.url).toBe(`http://127.0.0.1:${receiver.port}`);
    expect(receiver.port).toBeGreaterThan(0);
  });

  it('has a reachable URL if it listens on all addresses', async () => {
    const { receiver } = await start({ host: '0.0.0.0' });
    expect(receiver.url).toBe(`http://127.0.0.1:${receiver.port}`);
    expect((await fetch(receiver.url)).status).toBe(200);
  });

  it('reports a port that is in use', async () => {
    const { port, close } = await listening(createServer());
    await expect(start({ port })).rejects.toMatchObject({
      message: `Cannot listen on 127.0.0.1 port ${port}: something else is listening there`,
      hint: 'choose another port, or --port 0 for any free one',
    });
    await close();
  });

  it('requires a secret if it requires signatures', async () => {
    await expect(start({ requireSignature: true })).rejects.toThrow(
      'Expected a secret to verify the required signatures with, got none',
    );
  });

  it('rejects an empty secret, which would accept every sender', async () => {
    await expect(start({ secrets: ['s', ''] })).rejects.toThrow(
      'Expected `secrets` to hold no blank secret, got one',
    );
  });

  it.each<[options: object, message: string, hint: string]>([
    [{ secret: 's' }, 'Expected an option, got `secret`', 'did you mean `secrets`?'],
    [{ requireSignatures: true }, 'Expected an option, got `requireSignatures`', '`requireSignature`?'],
    [{ respond: '503' }, 'Expected an option, got `respond`', 'did you mean `script`?'],
    [{ limits: { body: 1 } }, 'Expected an option of `limits`, got `body`', 'the options are bodyBytes'],
    [{ limits: { headers: 1 } }, 'Expected an option of `limits`, got `headers`', '`headersMs`?'],
    [{ secrets: 's' }, 'Expected `secrets` to be a list, got a string', 'put it into a list'],
    [{ requireSignature: 'yes' }, 'Expected `requireSignature` to be a boolean, got a string', 'its default'],
    [{ onRequest: undefined }, 'Expected `onRequest` to be a function, got nothing', 'cannot be left out'],
  ])('rejects the options %j', async (options, message, hint) => {
    await expect(start(options)).rejects.toMatchObject({
      message,
      hint: expect.stringContaining(hint) as string,
    });
  });

  it('closes once, and at once with idle, half-sent and unused connections', async () => {
    const { connect, receiver } = await start();
    const [idle, halfSent, unused] = [await connect(), await connect(), await connect()];
    idle.write(rawPost(BODY));
    await idle.until(/ 200 /);
    halfSent.write('POST / HTTP/1.1\r\nHost:');
    await Promise.all([receiver.close(), receiver.close()]);
    await Promise.all([idle.closed(), halfSent.closed(), unused.closed()]);
    await expect(connect()).rejects.toThrow('ECONNREFUSED');
  });

  it('sends the response of the request whose report closes it', async () => {
    const { receiver, connect } = await start({
      onRequest: () => queueMicrotask(() => void receiver.close()),
    });
    const client = await connect(rawPost(BODY));
    expect((await client.closed()).received).toMatch(/^HTTP\/1\.1 200 OK/);
  });
});
