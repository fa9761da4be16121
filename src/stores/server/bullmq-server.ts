import type { Series, Server } from './server.ts';
import { closedError, isDeadlock, serverError } from './server-error.ts';

export interface ServerConnectionOptions {
  /** The URL as it may be shown. */
  readonly place: string;
  /** How long a command may take. */
  readonly responseMs: number;
}

/** A server as its driver gives it: with the errors of that. */
export interface ServerConnection extends Omit<Server, 'check'> {
  /** Called with each failure, to repair the connection for the next command. */
  readonly failed?: (error: unknown) => void;
}

/** The fact that `check` writes or removes. */
const CHECKED = 'checked';
const DEADLOCK_TRIES = 5;

/** A server whose errors are told, and which takes nothing once it is closed. */
export function bullmqServer(connection: ServerConnection): Server {
  const { place, add, registered, register, findSeries, warnings } = connection;
  const known = new Map<string, Series>();
  let closed: Promise<void> | undefined;

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

  const facts = guarded(connection.facts);
  return {
    place,
    facts,
    ...guarded({ add, registered, register, findSeries, warnings }),
    series: (name) => {
      const series = known.get(name) ?? guarded(connection.series(name));
      known.set(name, series);
      return series;
    },
    // A full server removes.
    check: ({ toAdd = true } = {}) =>
      toAdd ? facts.put([{ name: CHECKED, text: '' }]) : facts.remove([CHECKED]),
    close: () => (closed ??= connection.close()),
  };
}

type AllAsync<T> = { readonly [K in keyof T]: (...args: never) => Promise<unknown> };

/** Two processes may change the same entries at the same time, in another order. PostgreSQL then undoes all of one of them. */
async function untilNoDeadlock<T>(act: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await act();
    } catch (error) {
      if (tries === DEADLOCK_TRIES || !isDeadlock(error)) throw error;
    }
  }
}
