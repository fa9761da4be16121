import type { IQueueBackend, KeepJobs, MinimalJob } from 'bullmq';
import type { Series } from './server.ts';

type Ends = Pick<Series, 'complete' | 'fail' | 'delay' | 'forget'>;

/** What a server does with entries by statements and scripts of our own. BullMQ's backends do the rest. */
export type SeriesEntries = Omit<Series, keyof Ends>;

/** How entries end, over BullMQ's backends, without its Queue and Worker: these poll, block and wait for a server that is gone. */
export function bullmqEnds(open: () => Promise<IQueueBackend>): Ends {
  let opened: Promise<IQueueBackend> | undefined;
  const backend = (): Promise<IQueueBackend> => {
    if (opened !== undefined) return opened;
    opened = open();
    // One that could not be opened would stay so.
    opened.catch(() => (opened = undefined));
    return opened;
  };
  return {
    complete: (id, token, { note, keepMs }) =>
      found(async () => (await backend()).moveToCompleted(minimal(id), note, keep(keepMs), token, false)),
    fail: (id, token, { note, keepMs, reason }) => {
      // The one field that both backends write together with the state.
      const fields = { stacktrace: JSON.stringify([note]) };
      return found(async () =>
        (await backend()).moveToFailed(minimal(id), reason, keep(keepMs), token, false, fields),
      );
    },
    delay: (id, token, dueAt) => {
      const now = Date.now();
      const inMs = Math.max(0, Math.ceil(dueAt - now));
      return found(async () => (await backend()).moveToDelayed(id, now, inMs, token, { skipAttempt: true }));
    },
    forget: async (state, before) => {
      const asked = await backend();
      const gone = await asked.cleanJobsByState(state, Math.floor(before), FORGOTTEN_AT_ONCE);
      return gone.length >= FORGOTTEN_AT_ONCE;
    },
  };
}

const FORGOTTEN_AT_ONCE = 1_000;

function keep(keepMs = Infinity): KeepJobs | boolean {
  if (keepMs === Infinity) return false;
  return keepMs === 0 ? true : { age: Math.ceil(keepMs / 1000) };
}

/** All that settling reads of it. */
function minimal(id: string): MinimalJob {
  return { id, opts: { attempts: 1 } } as MinimalJob; // the other fields are for processors
}

/** The codes of BullMQ: it is gone, its lock is gone, it is not in that state, the lock is another's. */
const REFUSED: readonly unknown[] = [-1, -2, -3, -6];

/** False for what BullMQ refuses because of the entry's state or lock. */
async function found(act: () => Promise<unknown>): Promise<boolean> {
  try {
    await act();
    return true;
  } catch (error) {
    if (REFUSED.includes((error as { code?: unknown }).code)) return false; // BullMQ adds a code to its errors
    throw error;
  }
}
