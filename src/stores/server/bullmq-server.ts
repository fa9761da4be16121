import type { BackendFactory, IQueueBackend } from 'bullmq';
import { BULLMQ_PREFIX, toJob } from './bullmq-job.ts';
import { BullmqSeries, type BackendOptions, type EntryLookup } from './bullmq-series.ts';
import type { Lines, NewEntry, Series, Server } from './server.ts';
import { closedError, isDeadlock, serverError } from './server-error.ts';

export interface ServerConnectionOptions {
  /** The URL as it may be shown. */
  readonly place: string;
  /** How long a command may take. */
  readonly answerMs: number;
}

/** A server as its driver gives it. */
export interface ServerConnection {
  readonly place: string;
  /** BullMQ's backend over it, which it does not own. Each has its own listeners on the connection. */
  readonly backend: (name: string, options: BackendOptions) => Promise<IQueueBackend>;
  readonly lookup: (series: string) => EntryLookup;
  readonly lines: Lines;
  readonly seriesNames: (prefix: string) => Promise<readonly string[]>;
  readonly warnings: () => Promise<readonly string[]>;
  /** Called with each failure, to repair the connection for the next command. */
  readonly failed?: (error: unknown) => void;
  readonly close: () => Promise<void>;
}

/** BullMQ writes events for each entry, which no part of hooks reads; Bull Board shows the latest. */
const EVENTS_KEPT = 100;
/** The series that `check` writes to. */
const CHECKED = 'hooks-check';
const DEADLOCK_TRIES = 5;

export class BullmqServer implements Server {
  readonly place: string;
  readonly lines: Lines;
  readonly #connection: ServerConnection;
  readonly #series = new Map<string, Series>();
  /** The series whose events are limited to EVENTS_KEPT, or are about to be. */
  readonly #limited = new Set<string>();
  #checksOpened: IQueueBackend | undefined;
  #closed: Promise<void> | undefined;

  constructor(connection: ServerConnection) {
    this.#connection = connection;
    this.place = connection.place;
    const { lines } = connection;
    this.lines = {
      join: (ids) => this.#guard(() => lines.join(ids)),
      leave: (ids) => this.#guard(() => untilNoDeadlock(() => lines.leave(ids))),
      firsts: (keys) => this.#guard(() => lines.firsts(keys)),
      lost: (ids) => this.#guard(() => lines.lost(ids)),
    };
  }

  series(name: string): Series {
    const known = this.#series.get(name);
    if (known !== undefined) return known;
    const made = new BullmqSeries({
      open: (options) => this.#connection.backend(name, options),
      lookup: this.#connection.lookup(name),
      guard: (act) => this.#guard(act),
    });
    this.#series.set(name, made);
    return made;
  }

  add(entries: readonly NewEntry[]): Promise<void> {
    if (entries.length === 0) return this.#guard(async () => {});
    return this.#guard(async () => {
      const flow = entries.map((entry) => ({
        jobData: toJob(entry),
        jobId: entry.id,
        parentKeyOpts: {},
        prefix: BULLMQ_PREFIX,
        queueName: entry.series,
      }));
      const checks = await this.#checks();
      await untilNoDeadlock(async () => {
        const answers = await checks.addFlow(flow);
        const failed = answers.find(([error]) => error !== null);
        if (failed !== undefined) throw failed[0] ?? new Error('nothing was added');
      });
      await this.#limitEvents(checks, new Set(entries.map(({ series }) => series)));
    });
  }

  seriesNames(prefix: string): Promise<readonly string[]> {
    return this.#guard(() => this.#connection.seriesNames(prefix));
  }

  check(): Promise<void> {
    return this.#guard(async () => {
      await (await this.#checks()).setQueueMeta({ checkedAt: Date.now() });
    });
  }

  warnings(): Promise<readonly string[]> {
    return this.#guard(() => this.#connection.warnings());
  }

  close(): Promise<void> {
    this.#closed ??= this.#connection.close();
    return this.#closed;
  }

  async #checks(): Promise<IQueueBackend> {
    this.#checksOpened ??= await this.#connection.backend(CHECKED, {
      lockDuration: 1,
      stalledInterval: 1,
      isUndoable: false,
    });
    return this.#checksOpened;
  }

  /** Else BullMQ keeps ten thousand of each series. Not where a series is opened: reading one must not write. */
  async #limitEvents(checks: IQueueBackend, series: ReadonlySet<string>): Promise<void> {
    const unlimited = [...series].filter((name) => !this.#limited.has(name));
    for (const name of unlimited) this.#limited.add(name);
    const limiting = unlimited.map((name) =>
      checks.forQueue(name, BULLMQ_PREFIX).setQueueMeta({ 'opts.maxLenEvents': EVENTS_KEPT }),
    );
    // The entries are added; that more events are kept harms nothing.
    await Promise.allSettled(limiting);
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
async function untilNoDeadlock(act: () => Promise<void>): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      return await act();
    } catch (error) {
      if (tries === DEADLOCK_TRIES || !isDeadlock(error)) throw error;
    }
  }
}

/** Opens a backend with the options that all share. An entry is never given up for having been interrupted too often. */
export async function openBackend<C>(
  factory: BackendFactory<IQueueBackend, C>,
  {
    name,
    connection,
    options,
  }: { readonly name: string; readonly connection: C; readonly options: BackendOptions },
): Promise<IQueueBackend> {
  const backendOptions = { connection, prefix: BULLMQ_PREFIX, maxStalledCount: 2 ** 31 - 1 };
  const backend = factory(name, { ...backendOptions, ...options });
  // Each command rejects by itself.
  backend.on('error', () => {});
  await backend.waitUntilReady();
  return backend;
}
