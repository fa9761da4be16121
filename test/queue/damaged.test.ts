import { describe, expect, it } from 'vitest';
import { moveDeliveries } from '../../src/queue/move.ts';
import type { SqliteQueue } from '../../src/stores/sqlite/queue/sqlite-queue.ts';
import { FakeClock } from '../fake-clock.ts';
import { run } from '../stores/sqlite/ask.ts';
import { claim, claimOne, newDelivery } from './new-delivery.ts';
import { openQueueFile } from '../stores/queue-file.ts';

const LEASE_MS = 10_000;
const clock = new FakeClock();

const damage = (file: string, id: string, column = 'body'): Promise<void> =>
  run(file, `UPDATE deliveries SET ${column} = CAST('{"version":2}' AS BLOB) WHERE id = '${id}'`);

async function damagedIds(queue: SqliteQueue): Promise<readonly string[]> {
  return (await claim(queue)).filter(({ delivery }) => delivery.isDamaged).map(({ delivery }) => delivery.id);
}

describe('a delivery whose row is damaged', () => {
  it.each(['body', 'message_id', 'order_keys', 'checksum'])(
    'is detected by its %s when it is claimed',
    async (column) => {
      const { file, queue } = await openQueueFile(undefined, { clock });
      await queue.add([
        newDelivery('a'),
        newDelivery('b', { messageId: 'nul\0l', orderKeys: ['\0k', '\ud800'] }),
      ]);
      await damage(file, 'a', column);
      expect(await damagedIds(queue)).toEqual(['a']);
    },
  );

  it('is detected if its body is no blob', async () => {
    const { file, queue } = await openQueueFile(undefined, { clock });
    await queue.add([newDelivery('a'), newDelivery('b')]);
    await run(file, `UPDATE deliveries SET body = '{"version":1}' WHERE id = 'a'`);
    expect(await damagedIds(queue)).toEqual(['a']);
  });

  it('is detected if it waits in another lane', async () => {
    const { file, queue } = await openQueueFile(undefined, { clock });
    await queue.add([newDelivery('a'), newDelivery('other', { destination: 'Other' })]);
    await run(
      file,
      "UPDATE waiting SET lane = 1 WHERE seq = (SELECT seq FROM deliveries WHERE id = 'other')",
    );
    expect(await damagedIds(queue)).toEqual(['other']);
  });

  it('becomes a dead letter that releases later ones, even with damaged order keys', async () => {
    const { file, queue, inspection } = await openQueueFile(undefined, { clock });
    await queue.add([newDelivery('a', { orderKeys: ['u'] }), newDelivery('b', { orderKeys: ['u'] })]);
    await damage(file, 'a', 'order_keys');
    const first = await claimOne(queue);
    const { progress } = first.delivery;
    await queue.settle(first, { state: 'dead', reason: 'damaged', progress });
    expect((await claim(queue)).map(({ delivery }) => delivery.id)).toEqual(['b']);
    expect(await inspection.get('a')).toMatchObject({ state: 'dead', reason: 'damaged', isDamaged: true });
  });

  it('becomes a dead letter when it is read, and can be dropped but not retried', async () => {
    const { file, queue, inspection } = await openQueueFile(undefined, { clock });
    await queue.add([newDelivery('a', { orderKeys: ['u'] }), newDelivery('b', { orderKeys: ['u'] })]);
    await damage(file, 'a');
    expect(await inspection.get('a')).toMatchObject({ state: 'dead', reason: 'damaged', isDamaged: true });
    expect(await inspection.stats()).toMatchObject([{ pending: 1, dead: 1 }]);
    expect(await inspection.retry(['a'])).toEqual(['damaged']);
    const page = await inspection.list({ states: ['pending', 'dead'], limit: 10 });
    expect(page.deliveries.map(({ id, state }) => [id, state])).toEqual([
      ['a', 'dead'],
      ['b', 'pending'],
    ]);
    expect((await claim(queue)).map(({ delivery }) => delivery.id)).toEqual(['b']);
    expect(await inspection.drop(['a'])).toEqual(['dropped']);
  });

  it('stays damaged after a move, whatever its reason was', async () => {
    const { file, queue, inspection } = await openQueueFile(undefined, { clock });
    await queue.add([
      newDelivery('a'),
      newDelivery('bad', { state: 'dead', reason: 'invalid', detail: 'no event' }),
    ]);
    await damage(file, 'a');
    await damage(file, 'bad');
    const other = await openQueueFile(undefined, { clock });
    const { signal } = new AbortController();
    await moveDeliveries({ from: inspection, to: other.queue, signal });
    const page = await other.inspection.list({ states: ['dead'], limit: 10 });
    expect(page.deliveries).toMatchObject([
      { id: 'a', reason: 'damaged', isDamaged: true },
      { id: 'bad', reason: 'damaged', detail: 'no event', isDamaged: true },
    ]);
    expect(await other.inspection.retry(['a', 'bad'])).toEqual(['damaged', 'damaged']);
  });

  it('with unreadable progress does not block others', async () => {
    const { file, queue } = await openQueueFile(undefined, { clock });
    await queue.add([newDelivery('a'), newDelivery('b')]);
    const [a, b] = await claim(queue);
    if (a === undefined || b === undefined) throw new Error('nothing to claim');
    const progress = { ...a.delivery.progress, rounds: 1, firstAttemptAt: 1 };
    await queue.settle(a, { state: 'retrying', dueAt: 0, progress });
    await queue.renew(b, progress, LEASE_MS);
    await run(file, `UPDATE progress SET attempts = '[', not_before = '}'; UPDATE claims SET progress = '{'`);
    await clock.advance(LEASE_MS + 1);
    expect((await claim(queue)).map(({ delivery }) => [delivery.id, delivery.progress.rounds])).toEqual([
      ['a', 1],
      ['b', 0],
    ]);
  });
});
