import type { BackendFactory, IQueueBackend } from 'bullmq';
import { BULLMQ_PREFIX } from './bullmq-job.ts';
import { BullmqSeries, type EntryLookup } from './bullmq-series.ts';
import type { Facts, Intents, Lines, NewEntry, Series, Server } from './server.ts';
import { closedError, isDeadlock, serverError } from './server-error.ts';

export interface ServerConnectionOptions {
  /** The URL as it may be shown. */
  readonly place: string;
  /** How long a command may take. */
  readonly responseMs: number;
}

/** A server as its driver gives it. */
export interface ServerConnection {
  readonly place: string;
  /**
   * BullMQ's backend over it, which it does not own. Each has its own listeners on the connection. Its last writes may be undone
   * when the server crashes: a lease ends, or a delivery is delivered again.
   */
  readonly backend: (name: string) => Promise<IQueueBackend>;
  readonly lookup: (series: string) => EntryLookup;
  readonly lines: Lines;
  readonly intents: Intents;
  readonly facts: Facts;
  readonly add: Server['add'];
  readonly registered: Server['registered'];
  readonly register: Server['register'];
  readonly findSeries: Server['findSeries'];
  readonly warnings: () => Promise<readonly string[]>;
  /** Called with each failure, to repair the connection for the next command. */
  readonly failed?: (error: unknown) => void;
  readonly close: () => Promise<void>;
}

/** The fact that `check` writes, and the intent that it removes, which is never there. */
const CHECKED = 'checked';
const DEADLOCK_TRIES = 5;

export class BullmqServer implements Server {
  readonly place: string;
  readonly lines: Lines;
  readonly intents: Intents;
  readonly facts: Facts;
  readonly #connection: ServerConnection;
  readonly #series = new Map<string, Series>();
  #closed: Promise<void> | undefined;

  constructor(connection: ServerConnection) {
    this.#connection = connection;
    this.place = connection.place;
    const { lines, intents, facts } = connection;
    this.lines = {
      join: (ids) => this.#guard(() => lines.join(ids)),
      leave: (ids) => this.#guard(() => untilNoDeadlock(() => lines.leave(ids))),
      firsts: (keys) => this.#guard(() => lines.firsts(keys)),
      lost: (ids) => this.#guard(() => lines.lost(ids)),
    };
    this.intents = {
      put: (intent, options) => this.#guard(() => intents.put(intent, options)),
      remove: (id) => this.#guard(() => intents.remove(id)),
      take: (taking) => this.#guard(() => intents.take(taking)),
    };
    this.facts = {
      put: (all) => this.#guard(() => untilNoDeadlock(() => facts.put(all))),
      get: (names) => this.#guard(() => facts.get(names)),
    };
  }

  series(name: string): Series {
    const known = this.#series.get(name);
    if (known !== undefined) return known;
    const made = new BullmqSeries({
      open: () => this.#connection.backend(name),
      lookup: this.#connection.lookup(name),
      guard: (act) => this.#guard(act),
    });
    this.#series.set(name, made);
    return made;
  }

  add(entries: readonly NewEntry[]): Promise<void> {
    return this.#guard(async () => {
      if (entries.length > 0) await untilNoDeadlock(() => this.#connection.add(entries));
    });
  }

  registered(): Promise<readonly string[]> {
    return this.#guard(() => this.#connection.registered());
  }

  register(series: readonly string[]): Promise<void> {
    return this.#guard(() => this.#connection.register(series));
  }

  findSeries(prefix: string): Promise<readonly string[]> {
    return this.#guard(() => this.#connection.findSeries(prefix));
  }

  check({ toAdd = true } = {}): Promise<void> {
    // A full server takes what needs no room.
    return toAdd ? this.facts.put([{ name: CHECKED, text: '' }]) : this.intents.remove(CHECKED);
  }

  warnings(): Promise<readonly string[]> {
    return this.#guard(() => this.#connection.warnings());
  }

  close(): Promise<void> {
    this.#closed ??= this.#connection.close();
    return this.#closed;
  }

  async #guard<T>(act: () => Promise<T>): Promise<T> {
    if (this.#closed !== undefined) throw closedError(this.place);
    try {
      return await act();
    } catch (error) {
      this.#connection.failed?.(error);
      throw this.#closed === undefined ? serverError(error, this.place) : closedError(this.place);
    }
  }
}

/** Two processes may add the same entries at the same time, in another order. PostgreSQL then undoes all of one of them. */
async function untilNoDeadlock<T>(act: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await act();
    } catch (error) {
      if (tries === DEADLOCK_TRIES || !isDeadlock(error)) throw error;
    }
  }
}

/** Opens a backend with the options that all share. */
export async function openBackend<C>(
  factory: BackendFactory<IQueueBackend, C>,
  name: string,
  connection: C,
): Promise<IQueueBackend> {
  const options = { connection, prefix: BULLMQ_PREFIX };
  const backend = factory(name, options);
  // Each command rejects by itself.
  backend.on('error', () => {});
  await backend.waitUntilReady();
  return backend;
}
