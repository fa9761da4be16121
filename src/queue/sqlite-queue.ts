import type { Clock } from '../clock.ts';
import { ClosedError } from '../errors.ts';
import type { Sql, Store } from '../store/store.ts';
import type { NewDelivery, Progress } from './delivery.ts';
import { LaneIds } from './lane-ids.ts';
import { giveBack, Owner } from './owner.ts';
import type { Claim, ClaimAnswer, ClaimRequest, Lane, Queue, Settlement } from './queue.ts';
import { Retention, type RetentionOptions } from './retention.ts';
import { leave, stopWaiting, wait, type Place } from './sqlite-lines.ts';
import { insert } from './sqlite-insert.ts';
import { DELIVERY_COLUMNS, OPEN, toDelivery, writeProgress, type Standing } from './sqlite-rows.ts';

export interface SqliteQueueOptions {
  /** Opened with QUEUE_TABLES. It stays open when the queue is closed. */
  readonly store: Store;
  readonly clock: Clock;
  /** How long what is settled is remembered. @default for ever */
  readonly retention?: RetentionOptions;
  /** For tests, which end the process there. */
  readonly failPoint?: (point: FailPoint) => void;
}

/** `settling`: an attempt has succeeded, and nothing of it is recorded. */
export type FailPoint = 'claimed' | 'renewed' | 'settling' | 'settled';

/** Whoever asks may look again after so long for what another process holds. */
const OTHERS_MS = 2_000;

/**
 * A queue in a file, which several processes may share. What was added survives a power cut once `add` has resolved. What
 * was claimed, renewed and settled survives the end of the process at once, and a power cut after BEAT_MS at most: what
 * was delivered in the last moments before one is delivered again. An fsync for each settlement would cost most of the
 * speed, and could not spare the receiver what was under way.
 */
export class SqliteQueue implements Queue {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #failPoint: (point: FailPoint) => void;
  readonly #owner: Owner;
  readonly #retention: Retention;
  readonly #lanes = new LaneIds();
  #claimCalls = 0;
  #isClosed = false;

  constructor({ store, clock, retention, failPoint = () => {} }: SqliteQueueOptions) {
    this.#store = store;
    this.#clock = clock;
    this.#failPoint = failPoint;
    this.#owner = new Owner(store, clock);
    this.#retention = new Retention({ store, clock, ...retention });
  }

  async add(deliveries: readonly NewDelivery[]): Promise<void> {
    this.#assertOpen();
    if (deliveries.length === 0) return;
    const lanes = await this.#store.write((sql) =>
      deliveries.map((delivery) => {
        const lane = this.#lanes.findOrMake(sql, delivery);
        insert(sql, delivery, lane);
        return lane;
      }),
    );
    deliveries.forEach((delivery, index) => {
      const lane = lanes[index];
      if (lane !== undefined) this.#lanes.remember(delivery, lane);
    });
  }

  async claim({ source, destination, limit, leaseMs }: ClaimRequest): Promise<ClaimAnswer> {
    this.#assertOpen();
    this.#retention.start();
    const name = { source, destination };
    const answer = await this.#store.write(
      (sql) => {
        const lane = this.#lanes.find(sql, name);
        if (lane === undefined) return { claims: [], nextDueAt: undefined };
        this.#owner.enter(sql);
        return this.#take(sql, { name, lane, limit, leaseMs });
      },
      { survives: 'exit' },
    );
    this.#failPoint('claimed');
    return answer;
  }

  async renew({ token }: Claim, progress: Progress, leaseMs: number): Promise<boolean> {
    this.#assertOpen();
    const leaseEndsAt = Math.ceil(this.#clock.now() + leaseMs);
    const isOurs = await this.#store.write(
      (sql) => {
        const { changes } = sql(
          'UPDATE claims SET lease_ends_at = ?, progress = ? WHERE seq = ? AND token = ?',
        ).run(leaseEndsAt, JSON.stringify(progress), seqOf(token), token);
        return Number(changes) === 1;
      },
      { survives: 'exit' },
    );
    this.#failPoint('renewed');
    return isOurs;
  }

  async settle({ delivery, token }: Claim, settlement: Settlement): Promise<boolean> {
    this.#assertOpen();
    this.#failPoint('settling');
    const settledAt = Math.floor(this.#clock.now());
    const isOurs = await this.#store.write(
      (sql) => {
        const seq = seqOf(token);
        const row = sql('DELETE FROM claims WHERE seq = ? AND token = ? RETURNING lane, due_at').get(
          seq,
          token,
        );
        if (row === undefined) return false;
        const place = { seq, lane: Number(row['lane']), dueAt: Number(row['due_at']) };
        if (settlement.state === 'retrying') {
          reschedule(sql, place, settlement);
        } else {
          leave(sql, place, delivery.orderKeys);
          writeProgress(sql, place, settlement.progress, standingOf(settlement, settledAt));
        }
        return true;
      },
      { survives: 'exit' },
    );
    this.#failPoint('settled');
    return isOurs;
  }

  async lanes(): Promise<readonly Lane[]> {
    this.#assertOpen();
    // Whoever is held is behind one that waits.
    const rows = await this.#store.read((sql) =>
      sql(
        'SELECT source, destination FROM lanes WHERE EXISTS (SELECT 1 FROM waiting WHERE lane = lanes.lane)',
      ).all(),
    );
    return rows.map(({ source, destination }) => ({
      source: String(source),
      destination: String(destination),
    }));
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#retention.close();
    await this.#owner.close();
  }

  #take(sql: Sql, { name, lane, limit, leaseMs }: Taking): ClaimAnswer {
    const now = this.#clock.now();
    this.#endLeases(sql, lane, now);
    const call = this.#claimCalls++;
    const rows = sql(CLAIMABLE).all(lane, now, limit);
    const insertClaim = sql('INSERT INTO claims VALUES (?, ?, ?, ?, ?, ?, NULL)');
    const leaseEndsAt = Math.ceil(now + leaseMs);
    const claims = rows.map((row): Claim => {
      const token = `${String(row['seq'])}.${this.#owner.id}.${call}`;
      const delivery = toDelivery(row, { ...name, state: 'sending' });
      insertClaim.run(Number(row['seq']), lane, delivery.dueAt, this.#owner.id, token, leaseEndsAt);
      return { delivery, token };
    });
    return { claims, nextDueAt: this.#nextDueAt(sql, lane, now) };
  }

  /** Of this owner; those of others end with their owner, since their clock need not be ours. */
  #endLeases(sql: Sql, lane: number, now: number): void {
    const over = sql('SELECT * FROM claims WHERE lane = ? AND owner = ? AND lease_ends_at <= ?').all(
      lane,
      this.#owner.id,
      now,
    );
    giveBack(sql, over);
  }

  #nextDueAt(sql: Sql, lane: number, now: number): number | undefined {
    const next = sql(NEXT_WAITING).get(lane)?.['due_at'];
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

interface Taking {
  readonly name: Lane;
  readonly lane: number;
  readonly limit: number;
  readonly leaseMs: number;
}

// CROSS JOIN keeps SQLite from any other order than that of the index: claims are few, what waits may be many.
const CLAIMABLE = `
  SELECT ${DELIVERY_COLUMNS}
  FROM waiting w CROSS JOIN deliveries d ON d.seq = w.seq LEFT JOIN progress p ON p.seq = w.seq
  WHERE w.lane = ? AND w.due_at <= ? AND NOT EXISTS (SELECT 1 FROM claims c WHERE c.seq = w.seq)
  ORDER BY w.due_at, w.seq LIMIT ?`;

const NEXT_WAITING = `
  SELECT w.due_at FROM waiting w
  WHERE w.lane = ? AND NOT EXISTS (SELECT 1 FROM claims c WHERE c.seq = w.seq)
  ORDER BY w.due_at LIMIT 1`;

function reschedule(
  sql: Sql,
  place: Place,
  { dueAt, progress }: Settlement & { readonly state: 'retrying' },
): void {
  stopWaiting(sql, place);
  wait(sql, { ...place, dueAt });
  writeProgress(sql, { ...place, dueAt }, progress, OPEN);
}

function standingOf(settlement: Exclude<Settlement, { state: 'retrying' }>, settledAt: number): Standing {
  const { state } = settlement;
  return { state, reason: state === 'dead' ? settlement.reason : null, detail: null, settledAt };
}

/** A token begins with the delivery's seq. */
function seqOf(token: string): number {
  return Number.parseInt(token, 10);
}
