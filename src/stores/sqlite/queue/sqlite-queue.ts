import type { Clock } from '../../../clock.ts';
import { ClosedError } from '../../../errors.ts';
import type { Row } from '../file/sqlite.ts';
import type { Sql, Store } from '../file/store.ts';
import { withRound, type Delivery, type Progress } from '../../../queue/delivery.ts';
import { LaneRows } from './lane-rows.ts';
import { giveBack, Owner, seqOf } from './owner.ts';
import type {
  Claim,
  ClaimResult,
  ClaimRequest,
  LaneId,
  OnceMessages,
  Queue,
  Settlement,
  SettlingOptions,
} from '../../../queue/queue.ts';
import { forgetOldest, SqliteRetention, type SqliteRetentionOptions } from './sqlite-retention.ts';
import { reschedule } from './sqlite-changes.ts';
import { hasHeld, leave, leaveAllLines } from './sqlite-lines.ts';
import { insertDeliveries } from './sqlite-insert.ts';
import { laneOf, rowToDelivery, writeProgress } from './sqlite-rows.ts';
import { watchFile } from './watch-file.ts';
import { rememberMessages } from '../sqlite-seen.ts';

export interface SqliteQueueOptions {
  /** The store, opened with QUEUE_TABLES. Closing the queue does not close the store. */
  readonly store: Store;
  readonly clock: Clock;
  /** How long settled deliveries are kept. @default forever */
  readonly retention?: SqliteRetentionOptions;
}

const NONE: ReadonlySet<string> = new Set();

/** Commit options for writes that concern one lane or delivery: an unreadable page fails only the writes that need it. */
const PER_LANE = { survives: 'exit', separable: true } as const;

/** Milliseconds after which a caller should claim again, if another process has claimed deliveries of the lane. */
const OTHERS_MS = 2_000;

/**
 * A queue in a file, which several processes may share. Added deliveries survive a power cut when `add` resolves. Claims,
 * renewals and settlements survive the end of the process when their promise resolves (a settlement waits some milliseconds
 * for other writes), but a power cut only after BEAT_MS at most: the last deliveries before a power cut are repeated. An
 * fsync per settlement would cost most of the speed, and would not prevent
 * repeating the deliveries in flight.
 */
export class SqliteQueue implements Queue {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #owner: Owner;
  readonly #retention: SqliteRetention;
  readonly #lanes = new LaneRows();
  readonly claimsAddedInTurn = true;
  readonly addsOnce = true;
  #claimCalls = 0;
  #onAdded: ((lane: LaneId) => void) | undefined;
  #endWatch: (() => void) | undefined;
  #isClosed = false;

  constructor({ store, clock, retention }: SqliteQueueOptions) {
    this.#store = store;
    this.#clock = clock;
    this.#owner = new Owner(store, clock);
    this.#retention = new SqliteRetention({ store, clock, ...retention });
  }

  async add(deliveries: readonly Delivery[], once?: OnceMessages): Promise<ReadonlySet<string>> {
    this.#assertOpen();
    if (deliveries.length === 0 && once === undefined) return NONE;
    const stored = await this.#store.write(
      (sql) => {
        const known = once === undefined ? NONE : rememberMessages(sql, once, this.#clock.now());
        const fresh =
          known.size === 0 ? deliveries : deliveries.filter(({ messageId }) => !known.has(messageId));
        const lanes = insertDeliveries(sql, fresh, this.#lanes);
        return { sql, lanes, known };
      },
      { adds: true },
    );
    for (const [lane, delivery] of stored.lanes) this.#lanes.remember(stored.sql, delivery, lane);
    return stored.known;
  }

  async claim(request: ClaimRequest): Promise<ClaimResult> {
    this.#assertOpen();
    this.#retention.start();
    // The time of the call, not of the write: the caller has checked its own leases for this time, and until the write, the
    // clock may change or the process stop.
    const askedAt = this.#clock.now();
    return this.#store.write((sql) => {
      // Called even if the lane does not exist, because this write detects a replaced file.
      this.#owner.enter(sql);
      const lane = this.#lanes.find(sql, request);
      if (lane === undefined) return { claims: [], nextDueAt: undefined };
      return this.#take(sql, { ...request, lane, askedAt });
    }, PER_LANE);
  }

  async renew({ token }: Claim, progress: Progress, leaseMs: number): Promise<boolean> {
    this.#assertOpen();
    const leaseEndsAt = Math.ceil(this.#clock.now() + leaseMs);
    return this.#store.write((sql) => {
      const { changes } = sql(
        'UPDATE claims SET lease_ends_at = ?, progress = ? WHERE seq = ? AND token = ?',
      ).run(leaseEndsAt, JSON.stringify(progress), seqOf(token), token);
      return Number(changes) === 1;
    }, PER_LANE);
  }

  async settle(
    { delivery, token }: Claim,
    settlement: Settlement,
    { claimsNext = true }: SettlingOptions = {},
  ): Promise<boolean> {
    this.#assertOpen();
    const settledAt = Math.floor(this.#clock.now());
    let isFreed = false;
    const isOurs = await this.#store.write(
      (sql) => {
        const seq = seqOf(token);
        const { changes } = sql('DELETE FROM claims WHERE seq = ? AND token = ?').run(seq, token);
        const lane = this.#lanes.find(sql, delivery);
        if (Number(changes) === 0 || lane === undefined) return false;
        const place = { seq, lane, dueAt: delivery.dueAt };
        if (settlement.state === 'retrying') {
          reschedule(sql, place, settlement);
        } else {
          isFreed = delivery.isDamaged ? leaveAllLines(sql, place) : leave(sql, place, delivery.orderKeys);
          const reason = settlement.state === 'dead' ? settlement.reason : null;
          const standing = { state: settlement.state, reason, detail: null, settledAt };
          writeProgress(sql, place, settlement.progress, standing);
          if (this.#store.room.isScarce) forgetOldest(sql);
        }
        return true;
      },
      { ...PER_LANE, mayWait: !claimsNext },
    );
    if (isFreed && !claimsNext) this.#onAdded?.(delivery);
    return isOurs;
  }

  async lanes(): Promise<readonly LaneId[]> {
    this.#assertOpen();
    // Looks only at `waiting`, because a held delivery is always behind a waiting one of its lane.
    const rows = await this.#store.read((sql) =>
      sql(
        'SELECT source, destination FROM lanes WHERE EXISTS (SELECT 1 FROM waiting WHERE lane = lanes.lane)',
      ).all(),
    );
    return rows.map(laneOf);
  }

  watch(onAdded: (lane: LaneId) => void): () => void {
    this.#onAdded = onAdded;
    this.#endWatch = watchFile(this.#store, this.#clock, onAdded);
    return this.#endWatch;
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#endWatch?.();
    this.#retention.close();
    await this.#owner.close();
  }

  #take(sql: Sql, { source, destination, lane, limit, leaseMs, askedAt }: Taking): ClaimResult {
    this.#endLeases(sql, lane, askedAt);
    const now = this.#clock.now();
    const call = this.#claimCalls++;
    const rows = sql(CLAIMABLE).all(lane, now, limit);
    const insertClaim = sql('INSERT INTO claims VALUES (?, ?, ?, ?, ?, ?, ?)');
    const leaseEndsAt = Math.ceil(now + leaseMs);
    const claims = rows.map((row): Claim => {
      const seq = Number(row['seq']);
      const token = `${seq}.${this.#owner.id}.${call}`;
      const whole = row['is_new'] === 1 ? row : { ...row, ...sql(PROGRESS).get(seq) };
      const delivery = rowToDelivery(whole, { source, destination, state: 'sending' });
      const begun = JSON.stringify(withRound(delivery.progress, now));
      insertClaim.run(seq, lane, delivery.dueAt, this.#owner.id, token, leaseEndsAt, begun);
      return { delivery, token };
    });
    const nextDueAt = this.#nextDueAt(sql, { lane, now, last: rows.at(-1) });
    return { claims, nextDueAt, hasHeld: hasHeld(sql) };
  }

  /**
   * Ends the expired leases of this process. A lease of another process, whose clock may differ, ends when that process is
   * dead.
   */
  #endLeases(sql: Sql, lane: number, askedAt: number): void {
    const over = sql('SELECT * FROM claims WHERE lane = ? AND owner = ? AND lease_ends_at <= ?').all(
      lane,
      this.#owner.id,
      askedAt,
    );
    giveBack(sql, over);
  }

  #nextDueAt(
    sql: Sql,
    { lane, now, last }: { readonly lane: number; readonly now: number; readonly last: Row | undefined },
  ): number | undefined {
    const { due_at: dueAt = -Infinity, seq = 0 } = last ?? {};
    const next = sql(NEXT_WAITING).get(lane, dueAt, seq)?.['due_at'];
    const lease = sql(
      'SELECT min(CASE owner WHEN ? THEN lease_ends_at ELSE ? END) AS at FROM claims WHERE lane = ?',
    ).get(this.#owner.id, now + OTHERS_MS, lane)?.['at'];
    const times = [next, lease].filter((time) => typeof time === 'number');
    return times.length === 0 ? undefined : Math.min(...times);
  }

  #assertOpen(): void {
    if (this.#isClosed) throw new ClosedError('The queue is closed');
  }
}

interface Taking extends ClaimRequest {
  readonly lane: number;
  readonly askedAt: number;
}

// CROSS JOIN makes SQLite read `waiting` by its index, as many deliveries may wait. Progress is read separately: each column
// costs time, and most deliveries have no progress.
const CLAIMABLE = `
  SELECT d.seq, d.id, d.message_id, d.type, d.order_keys, d.trace, d.created_at, d.body, w.due_at,
    d.checksum, d.lane <> w.lane AS is_astray,
    NOT EXISTS (SELECT 1 FROM progress p WHERE p.seq = w.seq) AS is_new
  FROM waiting w CROSS JOIN deliveries d ON d.seq = w.seq
  WHERE w.lane = ? AND w.due_at <= ? AND NOT EXISTS (SELECT 1 FROM claims c WHERE c.seq = w.seq)
  ORDER BY w.due_at, w.seq LIMIT ?`;

const PROGRESS =
  'SELECT rounds, first_attempt_at, attempts, rejected_by, not_before FROM progress WHERE seq = ?';

// SQL for the next due time of a lane. Looks only behind the last delivery that was just claimed, to skip the claimed ones.
const NEXT_WAITING = `
  SELECT w.due_at FROM waiting w
  WHERE w.lane = ? AND (w.due_at, w.seq) > (?, ?) AND NOT EXISTS (SELECT 1 FROM claims c WHERE c.seq = w.seq)
  ORDER BY w.due_at LIMIT 1`;
