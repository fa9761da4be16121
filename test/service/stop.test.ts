import { describe, expect, it } from 'vitest';
import { rawPost, RawConnection } from '../receiver/raw-connection.ts';
import { closeAfterEach, Gate, serving, track, until, WRITE_KEY } from './serving.ts';

closeAfterEach();

const AUTHORIZATION = `Authorization: Basic ${Buffer.from(`${WRITE_KEY}:`).toString('base64')}`;

describe('close', () => {
  it('responds to what is being stored, and takes no more', async () => {
    const gate = new Gate();
    let isAdding = false;
    const serve = await serving({
      add: async (deliveries, queue) => {
        isAdding = true;
        await gate.opened;
        await queue.add(deliveries);
      },
    });
    const idle = await RawConnection.open(serve.port);
    idle.write('GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n');
    await idle.until(/ok/);
    const call = serve.post('/v1/track', track('u'));
    await until(() => isAdding, 'the call to be under way');
    const closed = serve.close();
    await idle.closed();
    gate.open();
    const { status, headers } = await call;
    expect([status, headers.get('connection')]).toEqual([200, 'close']);
    await closed;
    await expect(fetch(serve.url)).rejects.toThrow('fetch failed');
  });

  it('rejects what comes over a connection that is still there with 503', async () => {
    const releases: (() => void)[] = [];
    const serve = await serving({
      add: async (deliveries, queue) => {
        await new Promise<void>((resolve) => {
          releases.push(resolve);
        });
        await queue.add(deliveries);
      },
    });
    const connection = await RawConnection.open(serve.port);
    const body = JSON.stringify(track('u'));
    connection.write(rawPost(body, [AUTHORIZATION], '/v1/track'));
    await until(() => releases.length === 1, 'the first to be under way');
    const slow = await RawConnection.open(serve.port);
    const late = rawPost(body, [AUTHORIZATION], '/v1/track');
    slow.write(late.slice(0, 20));
    // The server has the beginning of the request when it responds to another one that was sent after it.
    await fetch(`${serve.url}/healthz`);
    const closed = serve.close();
    slow.write(late.slice(20));
    await slow.until(/^HTTP\/1\.1 503 /);
    releases[0]?.();
    await closed;
    expect((await connection.closed()).received).toMatch(/^HTTP\/1\.1 200 /);
  });

  it('cuts off who is still sending when the grace time is over', async () => {
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
  it('queues and sends nothing', async () => {
    const serve = await serving({ deliver: false });
    expect((await serve.post('/v1/track', track('u'))).status).toBe(200);
    const metrics = await (await fetch(`${serve.url}/metrics`)).text();
    expect(metrics).toContain(
      'hooks_queue_deliveries{source="web",destination="Webhooks",state="pending"} 1',
    );
    expect(serve.received).toEqual([]);
  });
});
