import { SharedClock } from '../../../clock.ts';
import { resolvePath } from '../../../config/read-setting.ts';
import { recoverQueue, type Recovery } from '../../../stores/open.ts';
import type { GlobalOptions } from '../../command.ts';
import { ExitCode } from '../../exit-code.ts';
import type { Io } from '../../io.ts';
import { writeResult } from './run.ts';

export interface RecoverFlags extends GlobalOptions {
  readonly to: string;
}

/** Runs `hooks queue recover FILE --to NEW`. Returns 1 if anything was lost. */
export async function recoverStore(file: string, options: RecoverFlags, io: Io): Promise<ExitCode> {
  const recovery = await recoverQueue(resolvePath(io.cwd, file), {
    to: resolvePath(io.cwd, options.to),
    clock: new SharedClock(),
  });
  writeResult({ fields: recovery, text: recoveryText(recovery) }, { options, io });
  if (recovery.loss !== undefined) io.note(`${io.errColor.yellow('warning:')} ${recovery.loss}`);
  const lost = recovery.damaged + recovery.unreadable + recovery.incomplete.length;
  return lost === 0 && recovery.loss === undefined ? ExitCode.ok : ExitCode.negative;
}

function recoveryText({
  waiting,
  dead,
  damaged,
  delivered,
  unreadable,
  incomplete,
  from,
  to,
}: Recovery): string {
  const rest = [
    ...(damaged > 0 ? [`${damaged} of the dead letters are damaged`] : []),
    ...(unreadable > 0 ? [`${unreadable} cannot be read`] : []),
    ...(delivered > 0 ? [`${delivered} were already delivered and are left out`] : []),
    ...incomplete.map((what) => `some ${what} cannot be read`),
  ];
  return [`recovered ${waiting} waiting and ${dead} dead from ${from} to ${to}`, ...rest].join('; ');
}
