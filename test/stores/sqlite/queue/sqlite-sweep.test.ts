import { describe, expect, it } from 'vitest';
import { NO_PROGRESS } from '../../../../src/queue/delivery.ts';
import type { Queue } from '../../../../src/queue/queue.ts';
import type { DurableQueue } from '../../../../src/stores/opened-queue.ts';
import { claim, newDelivery } from '../../../queue/new-delivery.ts';
import { ask, run } from '../ask.ts';
import { newQueueFile, openQueueIn } from '../../queue-file.ts';

const PROGRESS = { ...NO_PROGRESS, rounds: 1, firstAttemptAt: 1 };
const SETTLED = ['a0', 'a1', 'dead'];
const FREE = Array.from({ length: 12 }, (_, index) => `a${index}`);
const LINED = Array.from({ length: 6 }, (_, index) => `b${index}`);

/** Two delivered deliveries, a dead letter, a retry, an open claim, and six deliveries in lines of two keys. */
async function filled(): Promise<DurableQueue> {
  const durable = await openQueueIn(newQueueFile());
  const { queue } = durable;
  await queue.add([
    ...FREE.map((id, index) => newDelivery(id, { dueAt: index + 1 })),
    ...LINED.map((id, index) => newDelivery(id, { dueAt: index + 20, orderKeys: ['u', `u${index % 2}`] })),
    newDelivery('dead', { state: 'dead', reason: 'rejected' }),
  ]);
  const [one, two, three] = await claim(queue, 3);
  if (one === undefined || two === undefined || three === undefined) throw new Error('Expected three claims');
  await queue.settle(one, { state: 'delivered', progress: PROGRESS });
  await queue.settle(two, { state: 'delivered', progress: PROGRESS });
  await queue.settle(three, { state: 'retrying', dueAt: 7, progress: PROGRESS });
  await claim(queue, 1);
  return durable;
}

/** Returns the ids in the order of delivery, without the open claim. */
async function deliverAll(queue: Queue): Promise<readonly string[]> {
  const ids: string[] = [];
  for (let claims = await claim(queue); claims.length > 0; claims = await claim(queue)) {
    for (const each of claims) {
      ids.push(each.delivery.id);
      await queue.settle(each, { state: 'delivered', progress: PROGRESS });
    }
  }
  return ids;
}

const FIRST = '(SELECT min(seq) FROM waiting)';

describe('a sweep', () => {
  it.each([
    ['waits under the number of none', `UPDATE waiting SET seq = seq + 16384 WHERE seq = ${FIRST} + 5`],
    ['waits under the number of another', `UPDATE waiting SET seq = ${FIRST} WHERE seq = ${FIRST} + 1`],
    ['waits under the number of a delivered one', `UPDATE waiting SET seq = 1 WHERE seq = ${FIRST} + 5`],
    ['waits in no lane', `UPDATE waiting SET lane = 77 WHERE seq = ${FIRST} + 5`],
    ['is retried and waits nowhere', 'DELETE FROM waiting WHERE seq = 3'],
    ['waits nowhere, as all others', 'DELETE FROM waiting'],
    ['is held by more than there are', 'UPDATE held SET held_by = held_by + 1'],
    ['is held nowhere', 'DELETE FROM held WHERE seq = (SELECT max(seq) FROM held)'],
    ['is held and waits', 'INSERT INTO held SELECT seq, lane, due_at, 1 FROM waiting LIMIT 3'],
    ['stands behind none that is there', "UPDATE order_lines SET seq = seq - 1000 WHERE order_key = 'u1'"],
    ['stands behind a delivered one', "INSERT INTO order_lines SELECT lane, 'u', 1 FROM lanes"],
  ])('restores a delivery that %s', async (_, damage) => {
    const { queue, place, sweep, close } = await filled();
    await run(place, damage);
    const isLost = (await sweep?.()) ?? 0;
    expect([isLost > 0 || damage.includes('INSERT'), await sweep?.()]).toEqual([true, 0]);
    const ids = await deliverAll(queue);
    const expected = [...FREE, ...LINED].filter((id) => !SETTLED.includes(id));
    expect(ids.toSorted()).toEqual(expected.filter((id) => id !== 'a3').toSorted());
    expect(ids.filter((id) => id.startsWith('b'))).toEqual(LINED);
    expect(await ask(place, 'SELECT count(*) FROM held')).toEqual(['0']);
    expect(await sweep?.()).toBe(0);
    await close();
  });

  it('changes nothing in an undamaged queue', async () => {
    const { queue, place, sweep, close } = await filled();
    const tables = ['waiting', 'held', 'order_lines', 'claims', 'progress'];
    const shape = (): Promise<string[][]> =>
      Promise.all(tables.map((table) => ask(place, `SELECT * FROM ${table}`)));
    const before = await shape();
    expect([await sweep?.(), await shape()]).toEqual([0, before]);
    await deliverAll(queue);
    expect(await sweep?.()).toBe(0);
    await close();
  });
});
