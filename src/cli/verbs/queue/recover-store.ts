import { SharedClock } from '../../../clock.ts';
import { resolvePath } from '../../../config/read-setting.ts';
import { recoverQueue, type Recovery } from '../../../stores/open.ts';
import type { GlobalOptions } from '../../command.ts';
import { ExitCode } from '../../exit-code.ts';
import { fitText } from '../../fit-text.ts';
import type { Io } from '../../io.ts';
import { jsonLine } from '../../json-line.ts';

export interface RecoverFlags extends GlobalOptions {
  readonly to: string;
}

/** Runs `hooks queue recover FILE --to NEW`. Returns 1 when something was lost. */
export async function recoverStore(file: string, options: RecoverFlags, io: Io): Promise<ExitCode> {
  const recovery = await recoverQueue(resolvePath(io.cwd, file), {
    to: resolvePath(io.cwd, options.to),
    clock: new SharedClock(),
  });
  const text = fitText(`${recoveryText(recovery)}\n`, io.stdoutColumns);
  io.out(options.output === 'json' ? jsonLine({ ...recovery }) : text);
  const isAll = recovery.damaged + recovery.unreadable + recovery.incomplete.length === 0;
  return isAll ? ExitCode.ok : ExitCode.negative;
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
    ...(damaged > 0 ? [`${damaged} of the dead ones are damaged`] : []),
    ...(unreadable > 0 ? [`${unreadable} cannot be read`] : []),
    ...(delivered > 0 ? [`${delivered} are delivered already and were left out`] : []),
    ...incomplete.map((what) => `some ${what} cannot be read`),
  ];
  return [`recovered ${waiting} waiting and ${dead} dead from ${from} to ${to}`, ...rest].join('; ');
}
