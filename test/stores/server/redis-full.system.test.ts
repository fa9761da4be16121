// Needs redis-server.
import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { Redis } from 'ioredis';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../../src/clock.ts';
import { NO_PROGRESS, type Delivery } from '../../../src/queue/delivery.ts';
import type { Settlement } from '../../../src/queue/queue.ts';
import { openServer } from '../../../src/stores/server/open-server.ts';
import { ServerInspection } from '../../../src/stores/server/queue/server-inspection.ts';
import { ServerQueue } from '../../../src/stores/server/queue/server-queue.ts';
import type { Server } from '../../../src/stores/server/server.ts';
import { startHooks } from '../../end-to-end/hooks.ts';
import { LANE, newDelivery } from '../../queue/new-delivery.ts';
import { temporaryFolder } from '../../temporary-folder.ts';
import { until } from '../../until.ts';
import { hasServer, startServer, type TestServer } from './servers.ts';

const COUNT = 30;
const LEASE_MS = 60_000;

/** What waits: every third of one order key. */
const WAITING = Array.from({ length: COUNT }, (_, number) =>
  newDelivery(`d${number}`, { createdAt: number, orderKeys: number % 3 === 0 ? ['u'] : [] }),
);

describe.skipIf(!hasServer('redis'))('a Redis whose memory is full', { timeout: 120_000 }, () => {
  let running: TestServer;
  let server: Server;
  let admin: Redis;
  const fill = (): Promise<unknown> => admin.config('SET', 'maxmemory', '1');

  beforeEach(async () => {
    running = await startServer('redis');
    server = await openServer(running.url);
    admin = new Redis(running.url);
    onTestFinished(async () => {
      admin.disconnect();
      await server.close();
      await running.remove();
    });
  });

  it('can be emptied by delivering, retrying and giving up, in the order of the keys', async () => {
    const parts = { server, clock: systemClock, recoverMs: 20 };
    const [queue, killed] = [new ServerQueue(parts), new ServerQueue({ ...parts, lockMs: 100 })];
    await queue.add(WAITING);
    await fill();
    await expect(queue.add([newDelivery('more')])).rejects.toThrow('is full');
    await expect(server.check()).rejects.toThrow('is full');
    await server.check({ toAdd: false });
    // A process that takes some and ends.
    expect((await killed.claim({ ...LANE, limit: 3, leaseMs: LEASE_MS })).claims).toHaveLength(3);
    await killed.close();
    const settled: Delivery[] = [];
    const repeated = new Set<string>();
    const settlementOf = ({ id }: Delivery): Settlement => {
      const number = Number(id.slice(1));
      const isRepeated = number % 5 === 0 && !repeated.has(id);
      const progress = { ...NO_PROGRESS, rounds: 1 };
      if (isRepeated) return { state: 'retrying', dueAt: Date.now(), progress };
      if (number % 7 === 0) return { state: 'dead', reason: 'rejected', progress: NO_PROGRESS };
      return { state: 'delivered', progress: NO_PROGRESS };
    };
    const areAll = async (): Promise<boolean> => {
      const { claims } = await queue.claim({ ...LANE, limit: 10, leaseMs: LEASE_MS });
      for (const claim of claims) {
        const settlement = settlementOf(claim.delivery);
        expect(await queue.renew(claim, NO_PROGRESS, LEASE_MS)).toBe(true);
        expect(await queue.settle(claim, settlement)).toBe(true);
        if (settlement.state === 'retrying') repeated.add(claim.delivery.id);
        else settled.push(claim.delivery);
      }
      return settled.length === COUNT;
    };
    await until(areAll, 'all to be settled', { seconds: 60 });
    expect(new Set(settled.map(({ id }) => id)).size).toBe(COUNT);
    const keyed = settled.filter(({ orderKeys }) => orderKeys.length > 0).map(({ createdAt }) => createdAt);
    expect(keyed).toEqual(keyed.toSorted((one, other) => one - other));
    const stats = await new ServerInspection(parts).stats();
    expect(stats).toMatchObject([{ pending: 0, retrying: 0, sending: 0, delivered: COUNT - 5, dead: 5 }]);
    expect(await admin.keys('hooks:line:*')).toEqual([]);
  });

  it('can be emptied by a serve and a worker that start meanwhile, and accepts calls when there is room', async () => {
    await new ServerQueue({ server, clock: systemClock }).add(WAITING);
    await fill();
    let received = 0;
    const receiver = createServer((request, response) => {
      received++;
      request.resume().on('end', () => response.end());
    }).listen(0, '127.0.0.1');
    await once(receiver, 'listening');
    onTestFinished(() => void receiver.close());
    const { port } = receiver.address() as AddressInfo; // of a TCP server
    const cwd = temporaryFolder({
      '.hooksrc.yaml': `sources:\n  web:\n    writeKey: k\n    destinations:\n      Webhooks:\n        webhooks: [http://127.0.0.1:${port}/]\n        sharedSecret: s\n`,
    });
    const start = (...words: readonly string[]) =>
      startHooks([...words, '--store', running.url, '--allow-private'], { cwd, timeoutMs: 110_000 });
    const delivering = start('serve', '--port', '0', '-o', 'json');
    const worker = start('worker');
    const queueing = start('serve', '--no-deliver', '--port', '0', '-o', 'json');
    await until(() => received >= COUNT, 'all to be delivered', { seconds: 60 });
    await until(() => queueing.stderr().includes('is full; waiting for it up to 60 s'), 'the line', {
      seconds: 20,
    });
    const { url } = JSON.parse((await delivering.lines.next()).value ?? '') as { url: string }; // as cli.md says
    const status = async (): Promise<number> => (await fetch(`${url}/readyz`)).status;
    expect(await status()).toBe(503);
    await admin.config('SET', 'maxmemory', '0');
    await until(async () => (await status()) === 200, 'it to be ready');
    expect(JSON.parse((await queueing.lines.next()).value ?? '')).toMatchObject({ ready: true });
    expect(received).toBe(COUNT);
    for (const each of [delivering, worker, queueing]) expect(await each.stop()).toMatchObject({ code: 0 });
  });
});
