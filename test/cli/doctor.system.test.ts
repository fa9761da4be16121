// Needs redis-server, and root to mount a disk.
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { systemClock } from '../../src/clock.ts';
import { openServer } from '../../src/stores/server/open-server.ts';
import { ServerQueue } from '../../src/stores/server/queue/server-queue.ts';
import { MAY_MOUNT, SmallDisk } from '../failing-disk.ts';
import { newDelivery } from '../queue/new-delivery.ts';
import { hasServer, startServer } from '../stores/server/servers.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { examined } from './examined.ts';
import { filledQueue } from './filled-queue.ts';

it.skipIf(!hasServer('redis'))(
  'hooks doctor reports waiting deliveries and dead letters of a queue on a server',
  async () => {
    const running = await startServer('redis');
    const server = await openServer(running.url);
    const queue = new ServerQueue({ server, clock: systemClock });
    const dueAt = Date.now() - 60_000;
    const dead = { state: 'dead', reason: 'rejected' } as const;
    await queue.add([newDelivery('late', { dueAt }), newDelivery('dead', { dueAt, ...dead })]);
    await queue.close();
    await server.close();
    const { of } = await examined({ config: { store: running.url } });
    expect(of('queue')[0]).toMatchObject({ status: 'warn', said: '1 waiting, but some are overdue' });
    expect(of('queue')[0]?.hint).toContain('start hooks worker');
    expect(of('dead-letters')).toMatchObject([{ status: 'warn', said: '1 dead letter' }]);
    await running.remove();
  },
);

it.skipIf(!MAY_MOUNT)(
  'hooks doctor reports a full disk as the cause that nothing can be queued',
  async () => {
    const disk = new SmallDisk(join(temporaryFolder(), 'disk'), 4 * 1024 * 1024);
    try {
      await filledQueue(disk.path);
      const env = { HOOKS_DATA_DIR: disk.path };
      disk.fill();
      const { code, of } = await examined({ config: {}, env });
      expect(code).toBe(1);
      // SQLite can still open a file whose log has room.
      const failures = [...of('store'), ...of('disk')].filter(({ status }) => status === 'fail');
      expect(failures.length).toBeGreaterThan(0);
      for (const { said, hint } of failures) {
        expect(said).toContain('the disk is full');
        expect(hint).toContain('make room');
      }
    } finally {
      disk.remove();
    }
  },
);
