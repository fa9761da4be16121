import { ConfigError } from '../../../errors.ts';
import { moveDeliveries, type MoveCounts } from '../../../queue/move.ts';
import { openQueueToWrite } from '../../flags/delivery/queue-flags.ts';
import { commandSettings } from '../../flags/delivery/settings.ts';
import { printable } from '../../../redact.ts';
import { createProgress } from '../../print/progress.ts';
import { ExitCode, interruptedCode } from '../../exit-code.ts';
import { fitText } from '../../fit-text.ts';
import type { Io } from '../../io.ts';
import { jsonLine } from '../../json-line.ts';
import type { DurableQueue } from '../../../stores/opened-queue.ts';
import { withQueue, type QueueOptions } from './run.ts';

export interface MoveFlags extends QueueOptions {
  readonly to: string;
}

/** Runs `hooks queue move --to URL`. */
export function moveQueue(options: MoveFlags, io: Io): Promise<ExitCode> {
  return withQueue(options, io, async (from) => {
    const to = await openQueueToWrite({ store: options.to }, await commandSettings(options, io), { io });
    try {
      if (await to.isSameStore(from)) throw sameStore(options, to);
      await from.findLanes();
      const counts = await move(from, to, { options, io });
      if (options.output === 'json') io.out(jsonLine({ ...counts, from: from.place, to: to.place }));
      else {
        const places = `from ${shown(options.store, from)} to ${shown(options.to, to)}`;
        io.out(fitText(`${movedText(counts)} ${places}\n`, io.stdoutColumns));
      }
      if (counts.left > 0 && !options.quiet) {
        io.note(`${counts.left} are in flight and stay: run it again when serve and worker have ended`);
      }
      const left = await audiencesLeft(from, to);
      if (left !== undefined && !options.quiet) io.note(left);
      return interruptedCode(io) ?? (counts.left > 0 ? ExitCode.negative : ExitCode.ok);
    } finally {
      await to.close();
    }
  });
}

async function move(
  from: DurableQueue,
  to: DurableQueue,
  { options, io }: { readonly options: MoveFlags; readonly io: Io },
): Promise<MoveCounts> {
  const isShown = options.output === 'text' && options.quiet !== true;
  const progress = createProgress(io, { label: 'moved', shown: isShown, unit: 'deliveries' });
  try {
    return await moveDeliveries({
      from: from.inspection,
      to: to.queue,
      signal: io.signal,
      onProgress: ({ waiting, dead }) => progress.update(waiting + dead),
    });
  } finally {
    progress.stop();
  }
}

function sameStore({ to }: MoveFlags, durable: DurableQueue): ConfigError {
  return new ConfigError(`Expected \`--to\` to be another store, got ${shown(to, durable)}`, {
    flag: '--to',
    hint: 'name another one: deliveries move from the store of --store, or of the config',
  });
}

/** The store as it was named; a server without its password. */
function shown(given: string | undefined, { place, file }: DurableQueue): string {
  return given === undefined || file === undefined ? place : printable(given);
}

function movedText({ waiting, dead }: MoveCounts): string {
  return `moved ${waiting} waiting and ${dead} dead`;
}

/** A note about audiences: where the old store is a file they do not move with the queue. Undefined when there is nothing to say. */
async function audiencesLeft(from: DurableQueue, to: DurableQueue): Promise<string | undefined> {
  if (from.file === undefined) return undefined;
  const store = await from.audiences();
  const { length } = await store.list();
  // With a server, audiences are kept in the data folder, which may be where they are now.
  if (length === 0 || (await to.audiences()).file === store.file) return undefined;
  const what = length === 1 ? '1 audience or trait stays' : `${length} audiences and traits stay`;
  return `${what} in ${store.file}: sync them with --store sqlite:${store.file} from now on, or the next sync is a first one`;
}
