// Needs redis-server.
import { expect, it } from 'vitest';
import { systemClock } from '../../src/clock.ts';
import { openServer } from '../../src/stores/server/open-server.ts';
import { ServerQueue } from '../../src/stores/server/queue/server-queue.ts';
import { newDelivery } from '../queue/new-delivery.ts';
import { hasServer, startServer } from '../stores/server/servers.ts';
import { examined } from './examined.ts';

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
