import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { deletionStateOf } from '../../src/deletion/state.ts';
import { ConfigError } from '../../src/errors.ts';
import { openDurableQueue } from '../../src/stores/open.ts';
import type { DurableQueue } from '../../src/stores/opened-queue.ts';
import { openEngine } from '../../src/app/open-engine.ts';
import { FakeClock } from '../fake-clock.ts';
import { newDelivery } from '../queue/new-delivery.ts';
import { sourcesTo } from '../service/serving.ts';
import { ask } from './sqlite/ask.ts';
import { temporaryFolder } from '../temporary-folder.ts';

const REACH = { allowPrivate: true, allowProxy: false };
const SILENT = { onEvent: () => {}, onUnrecorded: () => {} };
const LANE = { source: 'web', destination: 'Webhooks' };

type Settled = { readonly state: 'delivered' } | { readonly state: 'dead'; readonly reason: 'rejected' };

describe('the durable queue', () => {
  let clock: FakeClock;
  let open: DurableQueue;
  beforeEach(async () => {
    clock = new FakeClock();
    open = await openDurableQueue({ store: undefined, dataDir: temporaryFolder(), clock });
    const { close } = open;
    onTestFinished(close);
  });

  it('is counted over all lanes, and its check writes', async () => {
    await open.queue.add([
      newDelivery('d1', LANE),
      newDelivery('d2', { ...LANE, destination: 'Others' }),
      newDelivery('d3', { ...LANE, state: 'dead', reason: 'invalid', detail: 'no type' }),
    ]);
    expect(await open.lanes()).toMatchObject([
      { destination: 'Others', pending: 1, dead: 0 },
      { destination: LANE.destination, pending: 1, dead: 1 },
    ]);
    expect(await open.oldestAt()).toBe(newDelivery('d1').createdAt);
    await open.check();
    expect(await ask(open.place, 'SELECT checked_at FROM store_checks')).toEqual([
      `${Math.floor(clock.now())}`,
    ]);
  });

  it('tells the state of a deletion of which only the queue knows: killed, retried, dropped', async () => {
    const deletion = { id: 'r1', createdAt: 0, userIds: ['u1'], deliveryIds: new Map([['web', ['d1']]]) };
    await open.deletions.add(deletion, open.queue.add([newDelivery('d1', LANE)]));
    const state = async (): Promise<unknown> => {
      const web = (await open.deletions.get('r1'))?.sources['web'];
      return web && deletionStateOf(web);
    };
    const settle = async (settlement: Settled): Promise<void> => {
      const { claims } = await open.queue.claim({ ...LANE, limit: 1, leaseMs: 1_000 });
      for (const claim of claims) {
        await open.queue.settle(claim, { ...settlement, progress: claim.delivery.progress });
      }
    };
    expect(await state()).toBe('pending');
    await settle({ state: 'dead', reason: 'rejected' });
    expect(await state()).toBe('failed');
    expect(await open.inspection.retry(['d1'])).toEqual(['retried']);
    expect(await state()).toBe('pending');
    await settle({ state: 'delivered' });
    expect(await state()).toBe('delivered');
    expect(await open.inspection.drop(['d1'])).toEqual(['dropped']);
    expect(await state()).toBe('delivered');
  });

  it('forgets a deletion request when its dead letters are forgotten', async () => {
    await open.close();
    const retention = { deliveredMs: 1_000, deadMs: 500_000 };
    open = await openDurableQueue({ store: undefined, dataDir: temporaryFolder(), clock, retention });
    const { close } = open;
    onTestFinished(close);
    const createdAt = Math.floor(clock.now());
    await open.deletions.add(
      { id: 'r1', createdAt, userIds: ['u1'], deliveryIds: new Map([['web', ['d1']]]) },
      open.queue.add([newDelivery('d1', LANE)]),
    );
    await open.queue.claim({ ...LANE, limit: 1, leaseMs: 1_000 });
    await clock.advance(490_000);
    expect(await open.deletions.get('r1')).toMatchObject({ userIds: ['u1'] });
    await clock.advance(120_000);
    expect(await open.deletions.get('r1')).toBeUndefined();
    expect(await ask(open.place, 'SELECT * FROM deletion_deliveries')).toEqual([]);
  });

  it('is closed when there comes to be no engine over it', async () => {
    const parts = { ...REACH, ...SILENT, open };
    const opening = openEngine({ ...parts, sources: sourcesTo('not a URL') });
    await expect(opening).rejects.toThrow(ConfigError);
    await expect(open.check()).rejects.toThrow('The store is closed');
  });

  it('rejects a proxy that takes the check of addresses away, unless that is allowed', async () => {
    const env = { HTTPS_PROXY: 'http://127.0.0.1:9' };
    const parts = { ...SILENT, open, sources: sourcesTo('https://a.example/hook') };
    const guarded = { allowPrivate: false, allowProxy: false, proxyEnv: env };
    await expect(openEngine({ ...parts, ...guarded })).rejects.toThrow('HTTPS_PROXY names a proxy');
  });
});
