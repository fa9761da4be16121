import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { ByteShare } from '../../src/service/request/byte-share.ts';
import { WeightedSemaphore } from '../../src/weighted-semaphore.ts';
import { rawPost, RawConnection } from '../receiver/raw-connection.ts';
import { basic, bodyOf, closeAfterEach, Gate, serving, track, until, WRITE_KEY } from './serving.ts';

closeAfterEach();

const AUTHORIZATION = `Basic ${Buffer.from(`${WRITE_KEY}:`).toString('base64')}`;
const GZIP = { ...basic(WRITE_KEY), 'content-encoding': 'gzip' };

/** A batch whose body has this many bytes. */
function batchOf(bytes: number): string {
  const message = JSON.stringify(track('u'));
  const messages = Array.from({ length: 100 }, () => message).join(',');
  return `{"batch":[${messages}]${' '.repeat(bytes - messages.length - '{"batch":[]}'.length)}}`;
}

describe('a body', () => {
  it('may have at most 512,000 bytes', async () => {
    const serve = await serving({ deliver: false });
    expect((await serve.post('/v1/batch', batchOf(512_000))).status).toBe(200);
    expect((await serve.post('/v1/batch', batchOf(512_001))).status).toBe(413);
  });

  it('may be gzipped, with the same limit on the unpacked bytes', async () => {
    const serve = await serving({ deliver: false });
    const statusOf = async (body: string): Promise<number> =>
      (await serve.post('/v1/batch', gzipSync(body), GZIP)).status;
    expect([await statusOf(batchOf(512_000)), await statusOf(batchOf(512_001))]).toEqual([200, 413]);
  });

  it('is unpacked before it is delivered', async () => {
    const serve = await serving();
    await serve.post('/v1/batch', gzipSync(JSON.stringify({ batch: [track('zipped')] })), GZIP);
    await until(() => serve.received.length === 1, 'it');
    expect(serve.received.map(bodyOf)).toMatchObject([{ userId: 'zipped' }]);
  });

  it('that is a zip bomb uses no more memory than the limit', async () => {
    const serve = await serving({ limits: { bytesInFlight: 700_000 } });
    const bomb = gzipSync(Buffer.alloc(100_000_000));
    const before = process.memoryUsage.rss();
    expect((await serve.post('/v1/batch', bomb, GZIP)).status).toBe(413);
    expect(process.memoryUsage.rss() - before).toBeLessThan(60_000_000);
    expect((await serve.post('/v1/batch', { batch: [track('u')] })).status).toBe(200);
  });

  it('is unpacked even if it has several members or declares a wrong size', async () => {
    const serve = await serving({ deliver: false, limits: { bytesInFlight: 600_000 } });
    const [start, end] = [gzipSync(`{"batch":[${JSON.stringify(track('u'))}`), gzipSync(']}')];
    expect((await serve.post('/v1/batch', Buffer.concat([start, end]), GZIP)).status).toBe(200);
    expect(serve.added).toHaveLength(1);
    const liar = gzipSync(batchOf(600_000));
    liar.writeUInt32LE(5, liar.length - 4);
    expect((await serve.post('/v1/batch', liar, GZIP)).status).toBe(413);
  });

  it('that is small and gzipped reserves few bytes', async () => {
    const serve = await serving({ deliver: false, limits: { bytesInFlight: 100_000 } });
    const small = gzipSync(JSON.stringify({ batch: [track('u')] }));
    const replies = await Promise.all(Array.from({ length: 50 }, () => serve.post('/v1/batch', small, GZIP)));
    expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([200]));
  });

  it('that does not match Content-Encoding is rejected', async () => {
    const serve = await serving();
    const plain = await serve.post('/v1/batch', '{"batch":[]}', GZIP);
    expect([plain.status, plain.body['message']]).toEqual([400, 'The body is not gzip']);
    const cut = await serve.post('/v1/batch', gzipSync('{"batch":[]}').subarray(0, 15), GZIP);
    expect([cut.status, cut.body['message']]).toEqual([400, 'The gzipped body is cut off']);
    const brotli = await serve.post('/v1/batch', 'x', { ...GZIP, 'content-encoding': 'br' });
    expect([brotli.status, brotli.body['code']]).toEqual([415, 'encoding']);
    expect(await serve.post('/v1/batch', gzipSync('{"batch":[]}'))).toMatchObject({
      status: 400,
      body: { hint: 'send Content-Encoding: gzip' },
    });
  });

  it('is rejected before it is read if its Content-Length is too large', async () => {
    const serve = await serving();
    const connection = await RawConnection.open(serve.port);
    connection.write(
      `POST /v1/batch HTTP/1.1\r\nHost: a\r\nAuthorization: ${AUTHORIZATION}\r\nContent-Length: 9999999\r\n\r\n`,
    );
    await connection.until(/^HTTP\/1\.1 413 /);
  });
});

function context(bytes: number): object {
  return { text: 'x'.repeat(bytes) };
}

function tracks(count: number): object[] {
  return Array.from({ length: count }, () => track('u'));
}

describe('the context of a batch', () => {
  it('may add at most eight times the largest batch; otherwise the batch is rejected', async () => {
    const serve = await serving({ deliver: false });
    for (const text of ['', ',"n":12345678901234567890']) {
      const item = JSON.stringify(track('u')).replace('}', `${text}}`);
      const batch = `{"context":{"text":"${'x'.repeat(30_000)}"},"batch":[${Array.from({ length: 200 }, () => item).join(',')}]}`;
      const { status, body } = await serve.post('/v1/batch', batch);
      expect([status, body['code'], body['message']]).toEqual([
        413,
        'too-large',
        'Expected `context` and `integrations` of the batch to add at most 4,096,000 bytes to its 200 messages, got 6,004,600',
      ]);
    }
    expect(serve.added).toEqual([]);
    const usual = await serve.post('/v1/batch', { context: context(1_000), batch: tracks(4_000) });
    expect(usual.status).toBe(200);
  });

  it('is omitted from the dead letters of messages that it makes too large', async () => {
    const serve = await serving();
    const { body } = await serve.post('/v1/batch', { context: context(60_000), batch: tracks(2) });
    expect(body['rejected']).toMatchObject([{ code: 'too-large' }, { code: 'too-large' }]);
    expect(serve.added.map((letter) => Buffer.from(letter.body).toString())).toEqual(
      tracks(2).map((each) => JSON.stringify(each)),
    );
  });

  it('counts in the bytes in flight once per message', async () => {
    const serve = await serving({ deliver: false, limits: { bytesInFlight: 300_000 } });
    const { status } = await serve.post('/v1/batch', { context: context(20_000), batch: tracks(20) });
    expect(status).toBe(429);
    expect((await serve.post('/v1/batch', { context: context(20_000), batch: tracks(10) })).status).toBe(200);
  });
});

describe('overload', () => {
  it('gets 429 with Retry-After until requests are finished', async () => {
    const gate = new Gate();
    const serve = await serving({ limits: { bytesInFlight: 300_000 }, add: gate.add });
    const held = serve.post('/v1/batch', batchOf(200_000));
    await until(() => gate.isReached, 'the first request to be in progress');
    const rejected = await serve.post('/v1/batch', batchOf(200_000));
    expect([rejected.status, rejected.headers.get('retry-after'), rejected.body['code']]).toEqual([
      429,
      '5',
      'overloaded',
    ]);
    const gzipped = await serve.post('/v1/batch', gzipSync(batchOf(200_000)), GZIP);
    expect(gzipped.status).toBe(429);
    gate.open();
    expect((await held).status).toBe(200);
    expect((await serve.post('/v1/batch', batchOf(200_000))).status).toBe(200);
  });

  it('ends when its sender disconnects', async () => {
    const serve = await serving({ limits: { bytesInFlight: 1_000 } });
    const half = 'x'.repeat(900);
    const connection = await RawConnection.open(serve.port);
    connection.write(
      `POST /v1/batch HTTP/1.1\r\nHost: a\r\nAuthorization: ${AUTHORIZATION}\r\nContent-Length: 5000\r\n\r\n${half}`,
    );
    let refused = 0;
    // The bytes may not have arrived yet.
    for (let turn = 0; turn < 100 && refused !== 429; turn++) {
      refused = (await serve.post('/v1/track', track('u', { pad: half.slice(0, 200) }))).status;
    }
    expect(refused).toBe(429);
    connection.socket.destroy();
    let status = 429;
    for (let turn = 0; turn < 100 && status === 429; turn++) {
      ({ status } = await serve.post('/v1/track', track('u', { pad: half.slice(0, 200) })));
    }
    expect(status).toBe(200);
  });
});

describe('many large batches at once', () => {
  it('are stored or rejected with 429, and none is lost', async () => {
    const serve = await serving({ deliver: false, limits: { bytesInFlight: 2_000_000 } });
    const body = batchOf(400_000);
    const replies = await Promise.all(Array.from({ length: 40 }, () => serve.post('/v1/batch', body)));
    const taken = replies.filter(({ status }) => status === 200).length;
    expect(replies.filter(({ status }) => status === 429)).toHaveLength(40 - taken);
    expect(taken).toBeGreaterThan(0);
    expect(serve.added).toHaveLength(100 * taken);
  });
});

describe('ByteShare', () => {
  it('grows and shrinks within the common limit', () => {
    const inFlight = new WeightedSemaphore(10);
    const [a, b] = [new ByteShare(inFlight), new ByteShare(inFlight)];
    expect([a.grow(6), b.grow(5), b.grow(4), inFlight.inside]).toEqual([true, false, true, 10]);
    a.shrinkTo(1);
    expect([inFlight.inside, b.grow(5), b.grow(1)]).toEqual([5, true, false]);
    a.shrinkTo(0);
    b.shrinkTo(0);
    expect(inFlight.inside).toBe(0);
  });
});

describe('a slow sender', () => {
  it('is disconnected after headersMs or requestMs while other senders are served', async () => {
    const serve = await serving({ limits: { headersMs: 1_000, requestMs: 1_500 } });
    const slowHeaders = await RawConnection.open(serve.port);
    slowHeaders.write('POST /v1/batch HTTP/1.1\r\nHost: a\r\n');
    const slowBody = await RawConnection.open(serve.port);
    slowBody.write(rawPost('x'.repeat(100), [`Authorization: ${AUTHORIZATION}`], '/v1/batch').slice(0, -50));
    expect((await serve.post('/v1/track', track('u'))).status).toBe(200);
    await Promise.all([slowHeaders.closed(), slowBody.closed()]);
    expect(serve.added).toHaveLength(1);
  });
});
