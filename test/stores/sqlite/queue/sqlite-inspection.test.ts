import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { moveDeliveries } from '../../../../src/queue/move.ts';
import { SqliteInspection } from '../../../../src/stores/sqlite/queue/sqlite-inspection.ts';
import { SqliteQueue } from '../../../../src/stores/sqlite/queue/sqlite-queue.ts';
import { QUEUE_TABLES } from '../../../../src/stores/sqlite/queue/queue-tables.ts';
import { openStore } from '../../../../src/stores/sqlite/file/open-store.ts';
import { FakeClock } from '../../../fake-clock.ts';
import { temporaryFolder } from '../../../temporary-folder.ts';
import { inspectionConformance } from '../../../queue/inspection-conformance.ts';
import { LANE, newDelivery } from '../../../queue/new-delivery.ts';

inspectionConformance('SqliteQueue', async () => {
  const clock = new FakeClock();
  const file = join(temporaryFolder(), 'hooks.db');
  const [store, other] = await Promise.all(
    [1, 2].map(() => openStore(file, { clock, tables: [QUEUE_TABLES] })),
  );
  if (store === undefined || other === undefined) throw new Error('not opened');
  const queue = new SqliteQueue({ store, clock });
  return {
    queue,
    inspection: new SqliteInspection({ store: other, clock }),
    clock,
    close: async () => {
      await queue.close();
      await Promise.all([store.close(), other.close()]);
    },
  };
});

describe('the claims of a killed process, if no process delivers', () => {
  it('are counted and listed as waiting, with the round that had begun', async () => {
    const { inspection } = await left();
    expect(await inspection.stats()).toMatchObject([{ sending: 0, retrying: 1, pending: 1 }]);
    const { deliveries } = await (await left()).inspection.list({ states: ['retrying'], limit: 10 });
    expect(deliveries).toMatchObject([{ id: 'a', progress: { rounds: 1 } }]);
  });

  it('can be dropped', async () => {
    const { inspection } = await left();
    expect(await inspection.drop(['a', 'b'])).toEqual(['dropped', 'dropped']);
  });

  it('can be moved', async () => {
    const { inspection, to } = await left();
    const { signal } = new AbortController();
    expect(await moveDeliveries({ from: inspection, to, signal })).toEqual({ waiting: 2, dead: 0, left: 0 });
    const { claims } = await to.claim({ ...LANE, limit: 10, leaseMs: 10_000 });
    expect(claims.map(({ delivery }) => delivery.id)).toEqual(['a']);
    await to.close();
  });
});

interface Left {
  readonly inspection: SqliteInspection;
  readonly to: SqliteQueue;
}

/** `a` is claimed by a process that has ended; `b` waits behind it. */
async function left(): Promise<Left> {
  const clock = new FakeClock();
  const [store, other] = await Promise.all(
    [1, 2].map(() => openStore(join(temporaryFolder(), 'hooks.db'), { clock, tables: [QUEUE_TABLES] })),
  );
  if (store === undefined || other === undefined) throw new Error('not opened');
  onTestFinished(async () => {
    await Promise.all([store.close(), other.close()]);
  });
  const queue = new SqliteQueue({ store, clock });
  await queue.add(['a', 'b'].map((id) => newDelivery(id, { orderKeys: ['u'] })));
  await queue.claim({ ...LANE, limit: 1, leaseMs: 10_000 });
  const { pid } = spawnSync(process.execPath, ['--version']);
  await store.write((sql) => sql('UPDATE owners SET pid = ?').run(pid));
  return {
    inspection: new SqliteInspection({ store, clock }),
    to: new SqliteQueue({ store: other, clock }),
  };
}
