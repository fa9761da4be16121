import type { ConfigError } from '../../../../errors.ts';
import { addMoved } from '../../../../stores/accepted-messages.ts';
import { moveDeliveries } from '../../../../queue/move.ts';
import { flagError } from '../../../flags/flag-values.ts';
import { openQueueToWrite } from '../../../flags/delivery/queue-flags.ts';
import { commandSettings } from '../../../flags/delivery/settings.ts';
import { printable } from '../../../../redact.ts';
import { ExitCode, interruptedCode } from '../../../exit-code.ts';
import type { Io } from '../../../io.ts';
import type { DurableQueue } from '../../../../stores/opened-queue.ts';
import { withProgress, withOwnQueue, writeResult, type QueueOptions } from '../run.ts';

export interface MoveFlags extends QueueOptions {
  readonly to: string;
}

/** Runs `hooks queue move --to URL`. */
export function moveQueue(options: MoveFlags, io: Io): Promise<ExitCode> {
  return withOwnQueue(options, io, async (from) => {
    const to = await openQueueToWrite({ store: options.to }, await commandSettings(options, io), { io });
    try {
      if (await to.isSameStore(from)) throw sameStore(options, to);
      // A store that cannot delete its deliveries must not be copied: the store and its copy would both deliver them.
      await from.check({ toAdd: false });
      const counts = await withProgress('moved', { options, io }, (progress) =>
        moveDeliveries({
          from: from.inspection,
          to: { add: (deliveries) => addMoved(to, deliveries) },
          signal: io.signal,
          onProgress: ({ waiting, dead }) => progress.update(waiting + dead),
        }),
      );
      for await (const page of from.acceptedLately()) await to.seen.restore(page);
      const { waiting, dead } = counts;
      const places = `from ${shown(options.store, from)} to ${shown(options.to, to)}`;
      const text = `moved ${waiting} waiting and ${dead} dead ${places}`;
      writeResult({ fields: { ...counts, from: from.place, to: to.place }, text }, { options, io });
      if (counts.left > 0 && !options.quiet) {
        const left =
          counts.left === 1 ? '1 delivery in flight was' : `${counts.left} deliveries in flight were`;
        io.note(`${left} not moved: run the command again after serve and worker have ended`);
      }
      const audiences = await audiencesLeft(from, to);
      if (audiences !== undefined && !options.quiet) io.note(audiences);
      return interruptedCode(io) ?? (counts.left > 0 ? ExitCode.negative : ExitCode.ok);
    } finally {
      await to.close();
    }
  });
}

function sameStore({ to }: MoveFlags, durable: DurableQueue): ConfigError {
  const hint = 'name another store: deliveries move from the store of --store, or of the config';
  return flagError('--to', `Expected \`--to\` to be another store, got ${shown(to, durable)}`, hint);
}

/** Returns the name of a store to print: a file as the user named it, or the URL of a server without its password. */
function shown(given: string | undefined, { place, file }: DurableQueue): string {
  return given === undefined || file === undefined ? place : printable(given);
}

/** Returns a note about audiences, which do not move with the queue if the old store is a file. Undefined if none stay. */
async function audiencesLeft(from: DurableQueue, to: DurableQueue): Promise<string | undefined> {
  if (from.file === undefined) return undefined;
  const store = await from.audiences();
  const { length } = await store.list();
  // No note if both stores keep audiences in the same file. A queue on a server keeps them in a file of the data folder.
  if (length === 0 || (await to.audiences()).file === store.file) return undefined;
  const what = length === 1 ? '1 audience or trait stays' : `${length} audiences and traits stay`;
  return `${what} in ${store.file}: sync them with --store sqlite:${store.file} from now on, or the next sync is a first one`;
}
