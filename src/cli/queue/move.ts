import { ConfigError } from '../../errors.ts';
import { isSameStore } from '../../stores/opened-queue.ts';
import { moveDeliveries, type MoveCounts } from '../../queue/move.ts';
import { openQueueToWrite } from '../flags/delivery/queue-flags.ts';
import { commandSettings } from '../flags/delivery/settings.ts';
import { ExitCode, interruptedCode } from '../exit-code.ts';
import type { Io } from '../io.ts';
import { jsonLine } from '../print/json-line.ts';
import { audiencesLeft } from './audiences-left.ts';
import { withQueue, type QueueOptions } from './session.ts';

export interface MoveFlags extends QueueOptions {
  readonly to: string;
}

/** `hooks queue move --to URL` */
export function move(options: MoveFlags, io: Io): Promise<ExitCode> {
  return withQueue(options, io, async (from) => {
    const to = await openQueueToWrite({ store: options.to }, await commandSettings(options, io), { io });
    try {
      if (await isSameStore(to, from))
        throw new ConfigError(`Expected \`--to\` to be another store, got ${to.place}`, {
          key: '--to',
          origin: '--to',
          hint: 'the store to move from is that of --store, or of the config',
        });
      await from.findLanes();
      const counts = await moveDeliveries({ from: from.inspection, to: to.queue, signal: io.signal });
      if (options.output === 'json') io.out(jsonLine({ ...counts, from: from.place, to: to.place }));
      else io.out(`${textOf(counts)} from ${from.place} to ${to.place}\n`);
      if (counts.left > 0 && !options.quiet)
        io.note(`${counts.left} are under way and stay: run it again when serve and worker have ended`);
      const left = await audiencesLeft(from, to);
      if (left !== undefined && !options.quiet) io.note(left);
      return interruptedCode(io) ?? (counts.left > 0 ? ExitCode.negative : ExitCode.ok);
    } finally {
      await to.close();
    }
  });
}

function textOf({ waiting, dead }: MoveCounts): string {
  return `moved ${waiting} waiting and ${dead} dead`;
}
