import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { moveDeliveries } from '../../../../src/queue/move.ts';
import type { SqliteInspection } from '../../../../src/stores/sqlite/queue/sqlite-inspection.ts';
import type { SqliteQueue } from '../../../../src/stores/sqlite/queue/sqlite-queue.ts';
import { FakeClock } from '../../../fake-clock.ts';
import { inspectionConformance } from '../../../queue/inspection-conformance.ts';
import { LANE, newDelivery } from '../../../queue/new-delivery.ts';
import { openQueueFile } from '../../queue-file.ts';

inspectionConformance('SqliteQueue', async () => {
  const clock = new FakeClock();
  const { file, queue, close } = await openQueueFile(undefined, { clock });
  const other = await openQueueFile(file, { clock });
  return {
    queue,
    inspection: other.inspection,
    clock,
    close: async () => {
      await close();
      await other.close();
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
  });
});

interface Left {
  readonly inspection: SqliteInspection;
  readonly to: SqliteQueue;
}

/** `a` is claimed by a process that has ended; `b` waits behind it. */
async function left(): Promise<Left> {
  const clock = new FakeClock();
  const { store, queue, inspection } = await openQueueFile(undefined, { clock });
  const { queue: to } = await openQueueFile(undefined, { clock });
  await queue.add(['a', 'b'].map((id) => newDelivery(id, { orderKeys: ['u'] })));
  await queue.claim({ ...LANE, limit: 1, leaseMs: 10_000 });
  const { pid } = spawnSync(process.execPath, ['--version']);
  await store.write((sql) => sql('UPDATE owners SET pid = ?').run(pid));
  return { inspection, to };
}
