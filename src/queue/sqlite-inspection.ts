import type { Clock } from '../clock.ts';
import type { Row } from '../store/sqlite.ts';
import type { Sql, Store } from '../store/store.ts';
import { NO_PROGRESS, type Delivery, type DeliveryState } from './delivery.ts';
import type { DropAnswer, LaneStats, Page, QueueInspection, RetryAnswer, Selection } from './inspection.ts';
import { buryGoneOwners, hasGoneOwners } from './owner.ts';
import { join, leave } from './sqlite-lines.ts';
import { DELIVERY_COLUMNS, OPEN, toDelivery, writeProgress } from './sqlite-rows.ts';

/** Looks into the file of a SqliteQueue, from its process or another. `store` is opened with QUEUE_TABLES. */
export class SqliteInspection implements QueueInspection {
  readonly #store: Store;
  readonly #clock: Clock;

  constructor({ store, clock }: { readonly store: Store; readonly clock: Clock }) {
    this.#store = store;
    this.#clock = clock;
  }

  async stats(): Promise<readonly LaneStats[]> {
    await this.#buryGoneOwners();
    return this.#store.read((sql) => sql(STATS).all().map(toStats).filter(hasAny));
  }

  async list({ states, since = 0, after = 0, limit }: Selection): Promise<Page> {
    if (after === 0) await this.#buryGoneOwners();
    return this.#store.read((sql) => {
      const rows = sql(LIST).all(after, since, JSON.stringify(states), limit);
      const last = rows.at(-1)?.['seq'];
      return {
        deliveries: rows.map(read),
        next: rows.length === limit && typeof last === 'number' ? last : undefined,
      };
    });
  }

  get(id: string): Promise<Delivery | undefined> {
    return this.#store.read((sql) => {
      const row = find(sql, id);
      return row === undefined ? undefined : read(row);
    });
  }

  getAll(ids: readonly string[]): Promise<readonly (Delivery | undefined)[]> {
    return this.#store.read((sql) =>
      ids.map((id) => {
        const row = find(sql, id);
        return row === undefined ? undefined : read(row);
      }),
    );
  }

  states(ids: readonly string[]): Promise<ReadonlyMap<string, DeliveryState>> {
    return this.#store.read((sql) => {
      const rows = sql(STATES).all(JSON.stringify(ids));
      return new Map(rows.map(({ id, state }) => [String(id), state as DeliveryState])); // as STATE says
    });
  }

  retry(ids: readonly string[]): Promise<readonly RetryAnswer[]> {
    const now = Math.floor(this.#clock.now());
    return this.#store.write((sql) => ids.map((id) => retry(sql, id, now)));
  }

  drop(ids: readonly string[]): Promise<readonly DropAnswer[]> {
    return this.#store.write((sql) => {
      buryGoneOwners(sql);
      return ids.map((id) => drop(sql, id));
    });
  }

  /** What they held is not under way; whoever delivers next would do it, but there may be nobody. */
  async #buryGoneOwners(): Promise<void> {
    if (!(await this.#store.read(hasGoneOwners))) return;
    // Where nothing can be written, it is shown as it was left.
    await this.#store.write(buryGoneOwners, { survives: 'exit' }).catch(() => {});
  }
}

const STATE = `
  CASE
    WHEN p.settled_state IS NOT NULL THEN p.settled_state
    WHEN c.seq IS NOT NULL THEN 'sending'
    WHEN p.rounds > 0 THEN 'retrying'
    ELSE 'pending'
  END AS state`;

const WITH_STATE = 'LEFT JOIN progress p ON p.seq = d.seq LEFT JOIN claims c ON c.seq = d.seq';

const SELECT = `
  SELECT ${DELIVERY_COLUMNS}, d.lane, l.source, l.destination, ${STATE}
  FROM deliveries d JOIN lanes l ON l.lane = d.lane ${WITH_STATE}`;

// CROSS JOIN keeps SQLite from going over all deliveries.
const STATES = `
  SELECT d.id, ${STATE} FROM json_each(?) i CROSS JOIN deliveries d ON d.id = i.value ${WITH_STATE}`;

const LIST = `${SELECT}
  WHERE d.seq > ? AND d.created_at >= ? AND state IN (SELECT value FROM json_each(?)) ORDER BY d.seq LIMIT ?`;

function find(sql: Sql, id: string): Row | undefined {
  return sql(`${SELECT} WHERE d.id = ?`).get(id);
}

function read(row: Row): Delivery {
  const { source, destination, state } = row;
  return toDelivery(row, {
    source: String(source),
    destination: String(destination),
    state: state as DeliveryState, // as STATE says
  });
}

function retry(sql: Sql, id: string, now: number): RetryAnswer {
  const row = find(sql, id);
  if (row === undefined) return 'unknown';
  const delivery = read(row);
  if (delivery.state === 'delivered') return 'delivered';
  if (delivery.state !== 'dead') return 'waiting';
  if (delivery.reason === 'invalid') return 'invalid';
  const seq = moveToEnd(sql, Number(row['seq']), now);
  const place = { seq, lane: Number(row['lane']), dueAt: now };
  const { attempts } = delivery.progress;
  if (attempts.length > 0) writeProgress(sql, place, { ...NO_PROGRESS, attempts }, OPEN);
  join(sql, place, delivery.orderKeys);
  return 'retried';
}

/** As if it were added now: others of its order keys may be under way. */
function moveToEnd(sql: Sql, seq: number, now: number): number {
  sql('DELETE FROM progress WHERE seq = ?').run(seq);
  const row = sql(
    'UPDATE deliveries SET seq = (SELECT max(seq) + 1 FROM deliveries), due_at = ? WHERE seq = ? RETURNING seq',
  ).get(now, seq);
  return Number(row?.['seq']);
}

function drop(sql: Sql, id: string): DropAnswer {
  const row = find(sql, id);
  if (row === undefined) return 'unknown';
  const { state, dueAt, orderKeys } = read(row);
  if (state === 'sending') return 'sending';
  const seq = Number(row['seq']);
  if (state === 'pending' || state === 'retrying')
    leave(sql, { seq, lane: Number(row['lane']), dueAt }, orderKeys);
  sql('DELETE FROM deliveries WHERE seq = ?').run(seq);
  return 'dropped';
}

// Nothing is counted but claims, which are few.
const STATS = `
  SELECT source, destination, n.deliveries - n.delivered - n.dead AS open, n.tried, n.delivered, n.dead,
    (SELECT count(*) FROM claims c WHERE c.lane = l.lane) AS sending,
    (SELECT count(*) FROM claims c JOIN progress p ON p.seq = c.seq
      WHERE c.lane = l.lane AND p.rounds > 0) AS tried_sending,
    (SELECT due_at FROM waiting w WHERE w.lane = l.lane
      AND NOT EXISTS (SELECT 1 FROM claims c WHERE c.seq = w.seq) ORDER BY due_at LIMIT 1) AS next_due_at
  FROM lanes l JOIN lane_counts n ON n.lane = l.lane ORDER BY source, destination`;

function toStats(row: Row): LaneStats {
  const count = (name: string): number => Number(row[name]);
  const nextDueAt = row['next_due_at'];
  const [sending, retrying] = [count('sending'), count('tried') - count('tried_sending')];
  return {
    source: String(row['source']),
    destination: String(row['destination']),
    pending: count('open') - sending - retrying,
    sending,
    retrying,
    delivered: count('delivered'),
    dead: count('dead'),
    ...(typeof nextDueAt === 'number' && { nextDueAt }),
  };
}

function hasAny({ pending, sending, retrying, delivered, dead }: LaneStats): boolean {
  return pending + sending + retrying + delivered + dead > 0;
}
