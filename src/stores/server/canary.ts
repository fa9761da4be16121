import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { IQueueBackend, JobJson } from 'bullmq';
import { layoutError } from './packages.ts';
import { lineName, type EntryState, type Series, type SeriesEntry, type Server } from './server.ts';

/** The parts of a server that `releaseCanary` uses. */
export interface CanaryServer extends Pick<Server, 'add' | 'series' | 'registered'> {
  /** BullMQ's own functions for the queue of a series. */
  readonly backendOf: (series: string) => Promise<CanaryBackend>;
  /** Removes the name of an empty series from the registered ones. */
  readonly unregister: (series: string) => Promise<unknown>;
}

export type CanaryBackend = Pick<IQueueBackend, 'getState' | 'getJobData' | 'pause' | 'obliterate'>;

const PREFIX = 'hooks-canary-';
/** Age in ms from which a canary's series counts as left by a killed process. A check takes less than a second. */
const LEFT_AFTER_MS = 600_000;
const LOCK_MS = 60_000;
const TOKEN = 'token';
const IDS = ['d-first', 'd-next', 'd-second', 'd-later'] as const;

/**
 * Adds entries through BullMQ to a series of their own, takes and settles them by our functions, and compares what BullMQ
 * and our functions then read. Throws ConfigError for a difference. Removes the series, and those of killed processes.
 */
export async function releaseCanary(server: CanaryServer): Promise<void> {
  const now = Date.now();
  const name = `${PREFIX}${now}-${randomUUID()}`;
  try {
    await compare(server, { name, now });
  } catch (error) {
    throw isOfLayout(error) ? layoutError(String(error), error) : error;
  } finally {
    const left = (await server.registered()).filter(
      (each) => each.startsWith(PREFIX) && Number.parseInt(each.slice(PREFIX.length)) < now - LEFT_AFTER_MS,
    );
    await Promise.allSettled([name, ...left].map((each) => remove(server, each)));
  }
}

/** Whether an error says that a table, column or function is missing, or that a key has another type. */
function isOfLayout(error: unknown): boolean {
  return /^(?:42703|42883|42P01)$|WRONGTYPE/.test(String(Object(error).code ?? error));
}

async function compare(
  server: CanaryServer,
  { name, now }: { readonly name: string; readonly now: number },
): Promise<void> {
  const [series, bullmq, lines] = [server.series(name), await server.backendOf(name), [lineName(name)]];
  const [first, next, second, later] = IDS;
  const [entry, dueAt] = [{ series: name, name: 'canary', text: '{}', addedAt: now }, now + LEFT_AFTER_MS];
  /** Checks that each entry is in the expected state, both for BullMQ and for our functions. */
  const expectStates = async (...expected: readonly EntryState[]): Promise<void> => {
    const [states, places]: [string[], boolean[]] = [[], []];
    // Reads the states one after the other, because opening another connection to PostgreSQL takes longer.
    for (const [index, id] of IDS.entries()) {
      states.push(await bullmq.getState(id));
      places.push((await series.ids(expected[index] ?? 'active', 0, -1)).includes(id));
    }
    expectSame('the states', [states, places], [expected, IDS.map(() => true)]);
  };
  await server.add([
    { ...entry, id: first, lines },
    { ...entry, id: next },
    { ...entry, id: second, lines },
    { ...entry, id: later, dueAt },
  ]);
  await expectStates('waiting', 'waiting', 'delayed', 'delayed');
  const isTaken = (id: string): readonly unknown[] => [id, 'canary', '{}', now, 1];
  expectSame('the taken entries', await takeAll(series), [[isTaken(first), isTaken(next)], dueAt]);
  await expectStates('active', 'active', 'delayed', 'delayed');
  await series.settle({ id: first, token: TOKEN, lines }, { note: 'note' });
  expectSame('the next entry of a line', (await takeAll(series))[0], [isTaken(second)]);
  await series.settle({ id: second, token: TOKEN, lines }, { note: 'note', reason: 'reason' });
  await series.wake('delayed', [{ id: later, note: 'note' }]);
  await expectStates('completed', 'active', 'failed', 'waiting');
  const [completed, failed] = await series.get([first, second]);
  const jobs = [await bullmq.getJobData(first), await bullmq.getJobData(second)];
  expectSame('the fields of settled entries', [completed, failed].map(ownFields), jobs.map(bullmqFields));
  await bullmq.pause(true);
  expectSame('a paused queue', (await takeAll(series))[0], []);
}

/** The times, the takes, and the reason or note of a settled entry as our functions read them. */
function ownFields(entry: SeriesEntry | undefined): readonly unknown[] {
  return [entry?.takenAt, entry?.takes, entry?.settledAt, entry?.reason ?? JSON.stringify(entry?.note)];
}

/** The same fields as `ownFields`, in the same order, as BullMQ reads them. */
function bullmqFields(job: JobJson | undefined): readonly unknown[] {
  return [job?.processedOn, job?.attemptsStarted, job?.finishedOn, job?.failedReason || job?.returnvalue];
}

async function takeAll(series: Series): Promise<readonly [readonly unknown[], number | undefined]> {
  const { taken, nextDueAt } = await series.take([TOKEN, 'other', 'third'], LOCK_MS);
  return [
    taken.map(({ entry: { id, name, text, addedAt, takes } }) => [id, name, text, addedAt, takes]),
    nextDueAt,
  ];
}

function expectSame(what: string, actual: unknown, expected: unknown): void {
  if (isDeepStrictEqual(actual, expected)) return;
  throw layoutError(`${what}: ${JSON.stringify(actual)}, not ${JSON.stringify(expected)}`);
}

async function remove({ series, backendOf, unregister }: CanaryServer, name: string): Promise<void> {
  const bullmq = await backendOf(name);
  const obliterate = async (): Promise<void> => {
    // BullMQ removes only a paused queue.
    await bullmq.pause(true);
    await bullmq.obliterate({ count: LEFT_AFTER_MS, force: true });
  };
  // Tries again, because another process that removes the same series can end the pause.
  await obliterate().catch(obliterate).catch(obliterate);
  await series(name).remove(IDS.map((id) => ({ id, lines: [lineName(name)] })));
  await unregister(name);
}
