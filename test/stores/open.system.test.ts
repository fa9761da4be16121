// Needs redis-server.
import { Redis } from 'ioredis';
import { expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../src/clock.ts';
import { openDurableQueue } from '../../src/stores/open.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { hasServer, startServer } from './server/servers.ts';

it.skipIf(!hasServer('redis'))(
  'a deletion request is forgotten on a server no sooner than what was delivered',
  async () => {
    const running = await startServer('redis');
    const retention = { deliveredMs: 3_600_000, deadMs: 0 };
    const there = await openDurableQueue({
      store: running.url,
      dataDir: temporaryFolder(),
      clock: systemClock,
      retention,
    });
    onTestFinished(async () => {
      await there.close();
      await running.remove();
    });
    const deletion = { id: 'r1', createdAt: Date.now(), userIds: ['u1'], deliveryIds: new Map() };
    await there.deletions.add(deletion, Promise.resolve());
    const admin = new Redis(running.url);
    onTestFinished(() => admin.disconnect());
    const [key = ''] = await admin.keys('hooks:deletion-request:*');
    const leftMs = await admin.pttl(key);
    expect(leftMs).toBeGreaterThan(retention.deliveredMs - 60_000);
    expect(leftMs).toBeLessThanOrEqual(retention.deliveredMs);
  },
);
