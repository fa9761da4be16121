import { describe, expect, it } from 'vitest';
import { rawPost, RawConnection } from '../receiver/raw-connection.ts';
import { closeAfterEach, Gate, serving, track, until, WRITE_KEY } from './serving.ts';

closeAfterEach();

const AUTHORIZATION = `Authorization: Basic ${Buffer.from(`${WRITE_KEY}:`).toString('base64')}`;

describe('close', () => {
  it('responds to requests that are being stored, and accepts no more', async () => {
    const gate = new Gate();
    const serve = await serving({ add: gate.add });
    const idle = await RawConnection.open(serve.port);
    idle.write('GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n');
    await idle.until(/ok/);
    const call = serve.post('/v1/track', track('u'));
    await until(() => gate.isReached, 'the call to be in progress');
    const closed = serve.close();
    await idle.closed();
    gate.open();
    const { status, headers } = await call;
    expect([status, headers.get('connection')]).toEqual([200, 'close']);
    await closed;
    await expect(fetch(serve.url)).rejects.toThrow('fetch failed');
  });

  it('rejects further requests over open connections with 503', async () => {
    const gate = new Gate();
    const serve = await serving({ add: gate.add });
    const connection = await RawConnection.open(serve.port);
    const body = JSON.stringify(track('u'));
    connection.write(rawPost(body, [AUTHORIZATION], '/v1/track'));
    await until(() => gate.isReached, 'the first request to be in progress');
    const slow = await RawConnection.open(serve.port);
    const late = rawPost(body, [AUTHORIZATION], '/v1/track');
    slow.write(late.slice(0, 20));
    // When the server responds to a later request, it has the beginning of this one.
    await fetch(`${serve.url}/healthz`);
    const closed = serve.close();
    slow.write(late.slice(20));
    await slow.until(/^HTTP\/1\.1 503 /);
    gate.open();
    await closed;
    expect((await connection.closed()).received).toMatch(/^HTTP\/1\.1 200 /);
  });

  it('cuts requests that are still being received after the grace time', async () => {
    const serve = await serving({ limits: { graceMs: 20 } });
    const slow = await RawConnection.open(serve.port);
    slow.write(rawPost(JSON.stringify(track('u')), [AUTHORIZATION], '/v1/track').slice(0, -10));
    await fetch(`${serve.url}/healthz`);
    await serve.close();
    expect((await slow.closed()).received).toBe('');
    expect(serve.added).toEqual([]);
  });

  it('finishes the attempts in flight', async () => {
    const serve = await serving({ respond: 'delay=40ms' });
    await serve.post('/v1/track', track('u'));
    await serve.close();
    expect(serve.log).toContainEqual(expect.objectContaining({ msg: 'delivered', status: 200 }));
    expect(serve.log.at(-1)).toMatchObject({ msg: 'stopped' });
  });

  it('may be called twice', async () => {
    const serve = await serving();
    await Promise.all([serve.close(), serve.close()]);
  });
});

describe('--no-deliver', () => {
  it('queues without sending', async () => {
    const serve = await serving({ deliver: false });
    expect((await serve.post('/v1/track', track('u'))).status).toBe(200);
    const metrics = await (await fetch(`${serve.url}/metrics`)).text();
    expect(metrics).toContain(
      'hooks_queue_deliveries{source="web",destination="Webhooks",state="pending"} 1',
    );
    expect(serve.received).toEqual([]);
  });
});
