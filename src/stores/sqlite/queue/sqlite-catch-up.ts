import type { Clock } from '../../../clock.ts';
import type { LaneId } from '../../../queue/queue.ts';
import type { Sql, Store } from '../file/store.ts';

/** Deliveries per transaction: few enough not to hold up other writes. */
const STEP = 1_000;

/** The last delivery of a step: the next step continues after it. */
interface Position {
  readonly dueAt: number;
  readonly seq: number;
}

/**
 * Makes the deliveries of a lane that wait for a retry due now, as described at OpenQueue. Does not sync to the disk: after a
 * power cut, each is delivered at its own time.
 */
export async function makeLaneRowsDue(
  { store, clock }: { readonly store: Store; readonly clock: Pick<Clock, 'now'> },
  { source, destination }: LaneId,
  goesOn: () => boolean,
): Promise<void> {
  const now = Math.floor(clock.now());
  const lane = await store.read((sql) => sql(LANE).get(source, destination)?.['lane']);
  if (typeof lane !== 'number') return;
  let last: Position | undefined = { dueAt: now, seq: Number.MAX_SAFE_INTEGER };
  while (last !== undefined) {
    const after: Position = last;
    last = await store.write((sql) => makeStepDue(sql, { lane, now, after }), { survives: 'exit' });
    if (!goesOn()) return;
  }
}

interface Step {
  readonly lane: number;
  readonly now: number;
  readonly after: Position;
}

/** Returns the last delivery of the step. Undefined if there are no more. */
function makeStepDue(sql: Sql, { lane, now, after }: Step): Position | undefined {
  const rows = sql(LATER).all(lane, after.dueAt, after.seq, now, STEP);
  const seqs = JSON.stringify(rows.map(({ seq }) => Number(seq)));
  sql('DELETE FROM waiting WHERE lane = ? AND due_at > ? AND seq IN (SELECT value FROM json_each(?))').run(
    lane,
    now,
    seqs,
  );
  sql('INSERT INTO waiting SELECT ?, ?, value FROM json_each(?)').run(lane, now, seqs);
  sql('UPDATE progress SET due_at = ? WHERE seq IN (SELECT value FROM json_each(?))').run(now, seqs);
  const last = rows.length === STEP ? rows.at(-1) : undefined;
  return last && { dueAt: Number(last['due_at']), seq: Number(last['seq']) };
}

const LANE = 'SELECT lane FROM lanes WHERE source = ? AND destination = ?';

/** Deliveries that are due later, not in flight, and whose webhooks have not asked for a longer wait. */
const LATER = `
  SELECT w.due_at, w.seq FROM waiting w CROSS JOIN progress p ON p.seq = w.seq
  WHERE w.lane = ? AND (w.due_at, w.seq) > (?, ?)
    AND NOT EXISTS (SELECT 1 FROM json_each(p.not_before) WHERE value > ?)
    AND NOT EXISTS (SELECT 1 FROM claims c WHERE c.seq = w.seq)
  ORDER BY w.due_at, w.seq LIMIT ?`;
