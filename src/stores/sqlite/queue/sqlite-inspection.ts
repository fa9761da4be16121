import type { Clock } from '../../../clock.ts';
import type { Row } from '../file/sqlite.ts';
import type { Sql, Store } from '../file/store.ts';
import { NO_PROGRESS, withDamageShown, type Delivery, type DeliveryState } from '../../../queue/delivery.ts';
import {
  hasDeliveries,
  type DeliveredAttempts,
  type DeliverySelection,
  type DropResult,
  type DueResult,
  type LaneStats,
  type Page,
  type QueueInspection,
  type RetryResult,
} from '../../../queue/inspection.ts';
import { releaseGoneOwners, hasGoneOwners } from './owner.ts';
import {
  dropDeliveryRows,
  findDeliveryRow,
  makeDeliveryDue,
  markDeliveryDamaged,
  retryDelivery,
} from './sqlite-changes.ts';
import {
  laneOf,
  READABLE_COLUMNS,
  readDelivery,
  readStoredJson,
  SELECT_DELIVERIES,
  STATE,
  WITH_STATE,
} from './sqlite-rows.ts';

/**
 * Reads and changes the queue in a file, in the process of its SqliteQueue or in another. `store` must be opened with
 * QUEUE_TABLES.
 */
export class SqliteInspection implements QueueInspection {
  readonly #store: Store;
  readonly #clock: Clock;

  constructor({ store, clock }: { readonly store: Store; readonly clock: Clock }) {
    this.#store = store;
    this.#clock = clock;
  }

  async stats(): Promise<readonly LaneStats[]> {
    await this.#releaseGoneOwners();
    return this.#store.read((sql) => sql(STATS).all().map(toStats).filter(hasDeliveries));
  }

  lastDelivered(limit: number): Promise<readonly DeliveredAttempts[]> {
    return this.#store.read((sql) =>
      sql(LAST_DELIVERED)
        .all(limit)
        .map((row) => ({
          ...laneOf(row),
          attempts: readStoredJson(row['attempts'], NO_PROGRESS.attempts),
        })),
    );
  }

  async list(selection: DeliverySelection): Promise<Page> {
    const { limit, after = 0 } = selection;
    if (after === 0) await this.#releaseGoneOwners();
    const rows = await this.#store.read((sql) => rowsOf(sql, selection));
    const last = rows.at(-1)?.['seq'];
    const deliveries = await this.#readAll(rows);
    return {
      deliveries: deliveries.filter(({ state }) => selection.states.includes(state)),
      next: rows.length === limit && typeof last === 'number' ? last : undefined,
    };
  }

  async get(id: string): Promise<Delivery | undefined> {
    return (await this.getAll([id]))[0];
  }

  ids(states: readonly DeliveryState[]): Promise<readonly string[]> {
    return this.#store.read((sql) =>
      sql(IDS)
        .all(JSON.stringify(states))
        .map(({ id }) => String(id)),
    );
  }

  async getAll(ids: readonly string[]): Promise<readonly (Delivery | undefined)[]> {
    const rows = await this.#store.read((sql) => ids.map((id) => findDeliveryRow(sql, id)));
    const found = new Map(
      (await this.#readAll(rows.filter((row) => row !== undefined))).map((each) => [each.id, each]),
    );
    return ids.map((id) => found.get(id));
  }

  states(ids: readonly string[]): Promise<ReadonlyMap<string, DeliveryState>> {
    return this.#store.read((sql) => {
      const rows = sql(STATES).all(JSON.stringify(ids));
      return new Map(rows.map(({ id, state }) => [String(id), state as DeliveryState])); // as STATE says
    });
  }

  retry(ids: readonly string[]): Promise<readonly RetryResult[]> {
    const now = Math.floor(this.#clock.now());
    return this.#store.write((sql) => ids.map((id) => retryDelivery(sql, id, now)));
  }

  makeDue(ids: readonly string[]): Promise<readonly DueResult[]> {
    const now = Math.floor(this.#clock.now());
    return this.#store.write((sql) => ids.map((id) => makeDeliveryDue(sql, id, now)));
  }

  drop(deliveries: readonly (string | Delivery)[]): Promise<readonly DropResult[]> {
    const ids = deliveries.map((each) => (typeof each === 'string' ? each : each.id));
    return this.#store.write((sql) => {
      releaseGoneOwners(sql);
      return dropDeliveryRows(sql, ids);
    });
  }

  async #readAll(rows: readonly Row[]): Promise<readonly Delivery[]> {
    const now = Math.floor(this.#clock.now());
    const deliveries = rows.map(readDelivery);
    const shown = deliveries.map((each) => withDamageShown(each, now));
    const damaged = rows
      .filter((_, index) => shown[index] !== deliveries[index])
      .map(({ seq }) => Number(seq));
    if (damaged.length > 0) {
      // A failed attempt to mark deliveries as damaged is ignored, because a read-only file can only show them as damaged.
      await this.#store
        .write((sql) => damaged.forEach((seq) => markDeliveryDamaged(sql, seq, now)))
        .catch(() => {});
    }
    return shown;
  }

  /**
   * Releases the claims of processes that have ended. The next process that delivers would do so too, but there may be none.
   */
  async #releaseGoneOwners(): Promise<void> {
    if (!(await this.#store.read(hasGoneOwners))) return;
    // Errors are ignored: in a read-only file, the deliveries of ended processes stay `sending`.
    await this.#store.write(releaseGoneOwners, { survives: 'exit' }).catch(() => {});
  }
}

const IDS = `
  SELECT d.id, ${STATE} FROM deliveries d ${WITH_STATE}
  WHERE state IN (SELECT value FROM json_each(?)) ORDER BY d.seq`;

// CROSS JOIN keeps SQLite from scanning all deliveries.
const STATES = `
  SELECT d.id, ${STATE} FROM json_each(?) i CROSS JOIN deliveries d ON d.id = i.value ${WITH_STATE}`;

// Looks up `since` only for the first page: the cursor of a later page is already behind the first delivery of that time.
function rowsOf(sql: Sql, { states, since = 0, after = 0, limit }: DeliverySelection): Row[] {
  const start = after === 0 && since > 0 ? beforeFirstSince(sql, since) : after;
  if (start === undefined) return [];
  const [only, another] = states;
  const text = (another === undefined && only !== undefined && LIST_ONE[only]) || LIST;
  return sql(text).all(start, since, JSON.stringify(states), limit);
}

/**
 * Returns the seq before the first delivery that was added at `since` or later. Undefined if there is none. Uses the index
 * of times, because seqs and times can be in different orders.
 */
function beforeFirstSince(sql: Sql, since: number): number | undefined {
  const first = sql(FIRST_SINCE).get(since)?.['seq'];
  return typeof first === 'number' ? first - 1 : undefined;
}

// The `+` keeps SQLite from scanning all deliveries in the order of seq instead of using the index.
const FIRST_SINCE =
  'SELECT min(+seq) AS seq FROM deliveries INDEXED BY deliveries_created WHERE created_at >= ?';

const LISTED = 'd.created_at >= ? AND state IN (SELECT value FROM json_each(?))';

const LIST = `${SELECT_DELIVERIES} WHERE d.seq > ? AND ${LISTED} ORDER BY d.seq LIMIT ?`;

// Conditions and queries for states that few deliveries are in. The queries are faster, because they read a small table or
// index instead of all deliveries.
const UNDELIVERED = "p.settled_state IS NOT 'delivered' AND p.settled_state IS";
const LIST_ONE: Readonly<Partial<Record<DeliveryState, string>>> = {
  dead: listFrom('progress p', `${UNDELIVERED} 'dead' AND p.seq`),
  retrying: listFrom('progress p', `${UNDELIVERED} NULL AND p.seq`),
  sending: listFrom('claims c', 'c.seq'),
};

/** Builds a query that lists deliveries in the order of seq, and that finds them by the rows of a small table. */
function listFrom(table: 'progress p' | 'claims c', where: string): string {
  const other = table === 'claims c' ? 'progress p' : 'claims c';
  return `
  SELECT ${READABLE_COLUMNS}
  FROM ${table} CROSS JOIN deliveries d ON d.seq = ${table.slice(-1)}.seq
  CROSS JOIN lanes l ON l.lane = d.lane LEFT JOIN ${other} ON ${other.slice(-1)}.seq = d.seq
  WHERE ${where} > ? AND ${LISTED} ORDER BY ${table.slice(-1)}.seq LIMIT ?`;
}

// Counts only rows of `claims`, which are few; `lane_counts` has the other numbers.
const STATS = `
  SELECT source, destination, n.deliveries - n.delivered - n.dead AS open, n.tried, n.delivered, n.dead,
    (SELECT count(*) FROM claims c WHERE c.lane = l.lane) AS sending,
    (SELECT count(*) FROM claims c JOIN progress p ON p.seq = c.seq
      WHERE c.lane = l.lane AND p.rounds > 0) AS tried_sending,
    (SELECT due_at FROM waiting w WHERE w.lane = l.lane
      AND NOT EXISTS (SELECT 1 FROM claims c WHERE c.seq = w.seq) ORDER BY due_at LIMIT 1) AS next_due_at
  FROM lanes l JOIN lane_counts n ON n.lane = l.lane ORDER BY source, destination`;

const LAST_DELIVERED = `
  SELECT source, destination, attempts FROM progress p CROSS JOIN lanes l ON l.lane = p.lane
  WHERE settled_state = 'delivered' ORDER BY settled_at DESC LIMIT ?`;

function toStats(row: Row): LaneStats {
  const count = (name: string): number => Number(row[name]);
  const nextDueAt = row['next_due_at'];
  const [sending, retrying] = [count('sending'), count('tried') - count('tried_sending')];
  return {
    ...laneOf(row),
    pending: count('open') - sending - retrying,
    sending,
    retrying,
    delivered: count('delivered'),
    dead: count('dead'),
    ...(typeof nextDueAt === 'number' && { nextDueAt }),
  };
}
