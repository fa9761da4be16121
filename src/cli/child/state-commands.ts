import { sleep, systemClock } from '../../clock.ts';
import { formatDuration } from '../../duration.ts';
import { InputError } from '../../errors.ts';
import { printable, withoutSecrets } from '../../redact.ts';
import { captureCommand, type CapturedCommand, type CaptureOptions } from './captured-command.ts';
import { describeEnd } from './child.ts';

export interface StateCommandOptions extends Omit<CaptureOptions, 'maxBytes'> {
  /** Masked in what the command prints. */
  readonly secrets: readonly string[];
  /** The flag that sets `timeoutMs`, for the hint after a timeout. @default none */
  readonly timeoutFlag?: '--state-timeout';
}

/** Maximum bytes of the receiver's state. A longer state is too long to compare and show. */
const MAX_STATE_BYTES = 1024 * 1024;
/** Number of attempts to read the state, because a database that the receiver writes to may be locked for a moment. */
const TRIES = 4;
const RETRY_MS = 150;
/** Exit codes of a shell that does not find a command, or may not run it. */
const NOT_RUNNABLE: ReadonlySet<number> = new Set([126, 127]);

/** Runs the command of a flag that reads a state, and returns its output. Throws InputError if the command fails. */
export async function readStateOf(
  command: string,
  options: StateCommandOptions,
  flag: '--state' | '--old-state' = '--state',
): Promise<string> {
  for (let tries = 1; ; tries++) {
    const run = await captureCommand(command, { ...options, maxBytes: MAX_STATE_BYTES });
    options.signal.throwIfAborted();
    if (hasSucceeded(run)) return withoutSecrets(run.stdout, options.secrets);
    if (tries === TRIES || !isWorthRetry(run)) throw commandFailure(flag, run, options);
    await sleep(systemClock, RETRY_MS, options.signal);
  }
}

/** Runs the command of `--reset`. Throws InputError if the command fails. */
export async function runReset(command: string, options: StateCommandOptions): Promise<void> {
  const run = await captureCommand(command, { ...options, maxBytes: Infinity });
  options.signal.throwIfAborted();
  if (!hasSucceeded(run)) throw commandFailure('--reset', run, options);
}

function hasSucceeded({ end }: CapturedCommand): boolean {
  return typeof end === 'object' && 'code' in end && end.code === 0;
}

function isWorthRetry({ end }: CapturedCommand): boolean {
  return typeof end === 'object' && !('code' in end && NOT_RUNNABLE.has(end.code));
}

function commandFailure(
  flag: '--state' | '--old-state' | '--reset',
  { end, stderr }: CapturedCommand,
  { timeoutMs, timeoutFlag, secrets }: StateCommandOptions,
): InputError {
  const what = `The command of ${flag}`;
  if (end === 'timeout') {
    const more = timeoutFlag === undefined ? '' : `; ${timeoutFlag} 30s gives it more time`;
    return new InputError(`${what} did not end within ${formatDuration(timeoutMs)}, and was killed`, {
      hint: `use a command that ends by itself${more}`,
    });
  }
  if (end === 'too-long') {
    return new InputError(`${what} printed more than 1 MiB, and was killed`, {
      hint: 'print only what messages change: the relevant columns, counts or sums',
    });
  }
  const last = withoutSecrets(stderr.trim().split('\n').at(-1) ?? '', secrets);
  const detail = last === '' ? '' : `: ${printable(last, 300)}`;
  const how = end === 'aborted' ? 'was interrupted' : describeEnd(end);
  return new InputError(`${what} ${how}${detail}`, { hint: HINTS[flag === '--reset' ? flag : '--state'] });
}

const HINTS = {
  '--state':
    "try it in `sh`, in this folder: it must exit with 0 and print the receiver's state, and print nothing or an empty state before the receiver has written anything: [ ! -f app.db ] || sqlite3 app.db 'select …'",
  '--reset': "try it in `sh`, in this folder: it must exit with 0 and delete the receiver's state",
} as const;
