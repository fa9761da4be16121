// Needs redis-server, postgres.
import { describe, expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../src/clock.ts';
import { moveDeliveries } from '../../src/queue/move.ts';
import { openServer } from '../../src/stores/server/open-server.ts';
import { ServerInspection } from '../../src/stores/server/queue/server-inspection.ts';
import { ServerQueue } from '../../src/stores/server/queue/server-queue.ts';
import { hasServer, startServer, type ServerKind } from '../stores/server/servers.ts';
import { expectMoved, file, fill, idsIn, signal, type Opened } from './moving.ts';

async function serverOf(kind: ServerKind): Promise<Opened> {
  const running = await startServer(kind);
  const server = await openServer(running.url);
  onTestFinished(async () => {
    await server.close();
    await running.remove();
  });
  return {
    queue: new ServerQueue({ server, clock: systemClock }),
    inspection: new ServerInspection({ server, clock: systemClock }),
  };
}

describe('moveDeliveries', () => {
  it.skipIf(!hasServer('redis'))(
    'moves waiting deliveries and dead letters from a file to Redis and back',
    async () => {
      const [from, to, back] = [await file(), await serverOf('redis'), await file()];
      await fill(from);
      expect(await moveDeliveries({ from: from.inspection, to: to.queue, signal })).toEqual({
        waiting: 4,
        dead: 2,
        left: 0,
      });
      await moveDeliveries({ from: to.inspection, to: back.queue, signal });
      expect(await idsIn(to)).toEqual([]);
      await expectMoved(from, back);
    },
  );

  it.skipIf(!hasServer('postgres'))('moves from a file to PostgreSQL', async () => {
    const [from, to] = [await file(), await serverOf('postgres')];
    await fill(from);
    await moveDeliveries({ from: from.inspection, to: to.queue, signal });
    await expectMoved(from, to);
  });
});
