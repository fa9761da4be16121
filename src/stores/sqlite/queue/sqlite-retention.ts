import type { Clock } from '../../../clock.ts';
import type { RetentionOptions } from '../../../queue/retention.ts';
import { giveBackSpace } from '../file/free-space.ts';
import type { Sql, Store } from '../file/store.ts';

export interface SqliteRetentionOptions extends RetentionOptions {
  /**
   * Removes some records, in another table, about deliveries older than `before`. Returns whether there may be more.
   * @default removes none
   */
  readonly alsoForget?: (sql: Sql, before: number) => boolean;
}

interface Rule {
  readonly keptMs: number;
  readonly forget: (sql: Sql, before: number) => boolean;
}

const EVERY_MS = 60_000;
/** Maximum number of deliveries to delete in one transaction: few enough not to delay other writes. */
const CHUNK = 500;

/** Free space to keep in the file, as a share of the used space, so that its size stays constant under a steady load. */
const KEPT_SHARE = 1 / 4;

/**
 * Removes settled deliveries when their retention is over, every EVERY_MS and in small steps, and returns their space to the
 * file system.
 */
export class SqliteRetention {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #rules: readonly Rule[];
  #cancel: (() => void) | undefined;
  #isClosed = false;

  constructor({
    store,
    clock,
    deliveredMs = Infinity,
    deadMs = Infinity,
    alsoForget = () => false,
  }: { readonly store: Store; readonly clock: Clock } & Partial<SqliteRetentionOptions>) {
    this.#store = store;
    this.#clock = clock;
    const rules: readonly Rule[] = [
      { keptMs: deliveredMs, forget: (sql, before) => removeSettled(sql, 'delivered', before) },
      { keptMs: deadMs, forget: (sql, before) => removeSettled(sql, 'dead', before) },
      { keptMs: Math.max(deliveredMs, deadMs), forget: alsoForget },
    ];
    this.#rules = rules.filter(({ keptMs }) => keptMs !== Infinity);
  }

  /** Schedules the first removal of old deliveries after EVERY_MS, because a starting process has more urgent work. */
  start(): void {
    if (this.#cancel !== undefined || this.#isClosed || this.#rules.length === 0) return;
    this.#cancel = this.#clock.after(EVERY_MS, () => void this.#sweep());
  }

  close(): void {
    this.#isClosed = true;
    this.#cancel?.();
  }

  async #sweep(): Promise<void> {
    try {
      for (const rule of this.#rules) await this.#apply(rule);
      await giveBackSpace(this.#store, { keptShare: KEPT_SHARE, goesOn: () => !this.#isClosed });
    } catch {
      // A failed removal of old deliveries is ignored, because claims fail with the same error and report it. The next run
      // tries again.
    }
    this.#cancel = undefined;
    this.start();
  }

  async #apply({ keptMs, forget }: Rule): Promise<void> {
    const before = this.#clock.now() - keptMs;
    let mayBeMore = true;
    while (mayBeMore && !this.#isClosed) {
      mayBeMore = await this.#store.write((sql) => forget(sql, before), { survives: 'exit' });
    }
  }
}

function removeSettled(sql: Sql, state: string, before: number): boolean {
  const { changes } = sql(
    `DELETE FROM deliveries WHERE seq IN
       (SELECT seq FROM progress WHERE settled_state = ? AND settled_at < ? LIMIT ${CHUNK})`,
  ).run(state, before);
  return Number(changes) === CHUNK;
}

/** Number of delivered deliveries to remove for one settlement. Two free more room than one settlement takes. */
const FORGOTTEN_AT_ONCE = 2;

/**
 * Removes the deliveries that were delivered first, to make room for a settlement on a full disk. Keeps those of deletion
 * requests, whose state is read from the queue.
 */
export function forgetOldest(sql: Sql): void {
  sql(
    `DELETE FROM deliveries WHERE seq IN
       (SELECT p.seq FROM progress p JOIN deliveries d ON d.seq = p.seq
        WHERE p.settled_state = 'delivered' AND d.type <> 'delete' ORDER BY p.settled_at LIMIT ${FORGOTTEN_AT_ONCE})`,
  ).run();
}
