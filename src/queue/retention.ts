import type { Clock } from '../clock.ts';
import type { Sql, Store } from '../store/store.ts';

export interface RetentionOptions {
  /** How long a delivered one stays. Ms. */
  readonly deliveredMs: number;
  /** How long a dead letter stays. Ms. */
  readonly deadMs: number;
}

const EVERY_MS = 60_000;
/** Deleted in one transaction: few enough that nobody waits for it. */
const CHUNK = 500;

/** Removes what was settled long enough ago, now and then and a little at a time. */
export class Retention {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #limits: readonly (readonly [state: string, ms: number])[];
  #cancel: (() => void) | undefined;
  #isClosed = false;

  constructor({
    store,
    clock,
    deliveredMs = Infinity,
    deadMs = Infinity,
  }: { readonly store: Store; readonly clock: Clock } & Partial<RetentionOptions>) {
    this.#store = store;
    this.#clock = clock;
    const limits = [['delivered', deliveredMs] as const, ['dead', deadMs] as const];
    this.#limits = limits.filter(([, ms]) => ms !== Infinity);
  }

  /** The first time after a while: whoever starts has other things to do first. */
  start(): void {
    if (this.#cancel !== undefined || this.#isClosed || this.#limits.length === 0) return;
    this.#cancel = this.#clock.after(EVERY_MS, () => void this.#sweep());
  }

  close(): void {
    this.#isClosed = true;
    this.#cancel?.();
  }

  async #sweep(): Promise<void> {
    try {
      for (const [state, ms] of this.#limits) await this.#remove(state, this.#clock.now() - ms);
    } catch {
      // The same trouble meets the claims and is told there; the next time tries again.
    }
    this.#cancel = undefined;
    this.start();
  }

  async #remove(state: string, before: number): Promise<void> {
    let removed = CHUNK;
    while (removed === CHUNK && !this.#isClosed) {
      removed = await this.#store.write((sql) => removeSettled(sql, state, before), { survives: 'exit' });
    }
  }
}

function removeSettled(sql: Sql, state: string, before: number): number {
  const { changes } = sql(
    `DELETE FROM deliveries WHERE seq IN
       (SELECT seq FROM progress WHERE settled_state = ? AND settled_at < ? LIMIT ${CHUNK})`,
  ).run(state, before);
  return Number(changes);
}
