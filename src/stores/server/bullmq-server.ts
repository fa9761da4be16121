import { releaseCanary, type CanaryServer } from './canary.ts';
import type { Facts, Series, Server } from './server.ts';
import { closedError, isDeadlock, isFull, serverError } from './server-error.ts';

export interface ServerConnectionOptions {
  readonly place: string;
  /** Timeout of each command in ms. */
  readonly responseMs: number;
}

/** A server whose promises reject with the errors of its driver, before they are converted to errors of this program. */
export interface ServerConnection extends Omit<Server, 'check'>, CanaryServer {
  /** Facts that are written as durably as entries, so that `check` fails for a server that does not confirm such writes. */
  readonly durableFacts: Facts;
  /** Called with each error of the server, to repair the connection for the next command. */
  readonly failed?: (error: unknown) => void;
}

/** Name of a fact without a meaning: `check` tests whether it can be written or removed. */
const CHECKED = 'checked';
const DEADLOCK_TRIES = 5;

/** Makes a server whose methods reject with QueueError, or with ClosedError after `close`. */
export function bullmqServer(connection: ServerConnection): Server {
  const { place, add, registered, register, findSeries, watch } = connection;
  const known = new Map<string, Series>();
  let closed: Promise<void> | undefined;
  let canary: Promise<unknown> | undefined;
  let skipped: readonly string[] = [];

  const guard = async (act: () => Promise<unknown>): Promise<unknown> => {
    if (closed !== undefined) throw closedError(place);
    try {
      return await untilNoDeadlock(act);
    } catch (error) {
      connection.failed?.(error);
      throw closed === undefined ? serverError(error, place) : closedError(place);
    }
  };
  const guarded = <T extends AllAsync<T>>(parts: T): T => {
    const acts: readonly (readonly [string, (...args: unknown[]) => Promise<unknown>])[] =
      Object.entries(parts);
    const all = acts.map(([name, act]) => [name, (...args: unknown[]) => guard(() => act(...args))]);
    return Object.fromEntries(all) as T; // the same functions, guarded
  };

  const [facts, durableFacts] = [guarded(connection.facts), guarded(connection.durableFacts)];
  const { warnings } = guarded({ warnings: connection.warnings });
  /** Compares BullMQ with what hooks expects, until one comparison succeeds. Skips it while the server is full. */
  const compare = async (): Promise<void> => {
    skipped = [];
    try {
      await (canary ??= guard(() => releaseCanary(connection)));
    } catch (error) {
      canary = undefined;
      if (!isFull(error)) throw error;
      skipped = [`${place} is full, so hooks cannot check whether bullmq stores entries as expected`];
    }
  };
  return {
    place,
    facts,
    watch,
    ...guarded({ add, registered, register, findSeries }),
    series: (name) => {
      const series = known.get(name) ?? guarded(connection.series(name));
      known.set(name, series);
      return series;
    },
    // A full server rejects a write that adds, but allows one that removes, as settling does.
    check: async ({ toAdd = true } = {}) => {
      await (toAdd ? durableFacts.put([{ name: CHECKED, text: '' }]) : facts.remove([CHECKED]));
      await compare();
    },
    warnings: async () => [...(await warnings()), ...skipped],
    close: () => (closed ??= connection.close()),
  };
}

type AllAsync<T> = { readonly [K in keyof T]: (...args: never) => Promise<unknown> };

/** Retries after a deadlock: PostgreSQL rolls back one of two processes that change the same entries in different order. */
async function untilNoDeadlock<T>(act: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await act();
    } catch (error) {
      if (tries === DEADLOCK_TRIES || !isDeadlock(error)) throw error;
    }
  }
}
