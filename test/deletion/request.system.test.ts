// Needs redis-server, postgres.
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { ServerDeletionStore } from '../../src/stores/server/server-deletion-store.ts';
import { hasServer, SERVER_KINDS } from '../stores/server/servers.ts';
import { useServer } from '../stores/server/use-server.ts';
import { deletionSuite, setUp, states } from './conformance.ts';

for (const kind of SERVER_KINDS) {
  describe.skipIf(!hasServer(kind))(`a deletion request on ${kind}`, () => {
    const empty = useServer(kind);
    deletionSuite(async () => new ServerDeletionStore(await empty()));

    it('is shared with other processes, which can settle its deliveries', async () => {
      const server = await empty();
      const [one, other] = [new ServerDeletionStore(server), new ServerDeletionStore(server)];
      const { deletions } = setUp(one);
      await deletions.create({ userIds: ['u1'] });
      await Promise.all([
        one.settled('r-1', 'web', { deliveryId: 'd1', isDelivered: true }),
        other.settled('r-1', 'web', { deliveryId: 'd2', isDelivered: false }),
      ]);
      for (const store of [one, other]) {
        expect(states(await store.get('r-1'))).toContainEqual(['web', 'failed']);
      }
    });

    it('is read only once for all its deliveries', async () => {
      const server = await empty();
      const store = new ServerDeletionStore(server);
      const ids = Array.from({ length: 20 }, (_, index) => `d${index}`);
      const fact = { createdAt: Date.now(), userIds: ['u1'], deliveryIds: new Map([['web', ids]]) };
      await store.add({ id: 'r-1', ...fact }, Promise.resolve());
      const get = vi.spyOn(server.facts, 'get');
      onTestFinished(() => get.mockRestore());
      for (const deliveryId of ids) await store.settled('r-1', 'web', { deliveryId, isDelivered: true });
      await store.settled('r-1', 'web', { deliveryId: 'of another', isDelivered: true });
      expect(get).toHaveBeenCalledOnce();
      expect(await store.get('r-1')).toMatchObject({ sources: { web: { delivered: 20, failed: 0 } } });
    });

    it('is forgotten after keepMs', async () => {
      const server = await empty();
      const store = new ServerDeletionStore(server, { keepMs: 1_000 });
      const old = { createdAt: Date.now() - 2_000, userIds: ['u1'], deliveryIds: new Map([['web', ['d1']]]) };
      await store.add({ id: 'old', ...old }, Promise.resolve());
      await store.settled('old', 'web', { deliveryId: 'd1', isDelivered: true });
      const young = { id: 'young', createdAt: Date.now() + 60_000, userIds: ['u2'], deliveryIds: new Map() };
      await store.add(young, Promise.resolve());
      expect([await store.get('old'), (await store.get('young'))?.id]).toEqual([undefined, 'young']);
    });
  });
}
