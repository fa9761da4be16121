import { formatDuration } from '../../duration.ts';
import { InputError } from '../../errors.ts';
import type { ScheduleCode } from '../plan/schedule.ts';
import { differenceText } from '../state-difference.ts';
import type { ProofMessage, ProofResponse } from '../subject.ts';
import type { ExecutionFailure } from './schedule-execution.ts';

/* Errors of receivers of which nothing can be proved. Most show in the reference run, before any verdict. */

export function notReset(base: string, state: string): InputError {
  return new InputError(
    `The reset does not bring the state back to the start: ${differenceText(base, state)}`,
    {
      hint: 'let --reset delete all that the receiver stores, the ids that it has seen included, and fail if it cannot (no `|| true`): a reset that needs the receiver is run again once the receiver runs; leave times, random ids and running numbers out of --state',
    },
  );
}

export function notEmpty(base: string, state: string): InputError {
  return new InputError(
    `The receiver does not start empty, and no --reset is given: ${differenceText(base, state)} after a restart`,
    { hint: "give a command that resets its state: --reset 'rm -f app.db'" },
  );
}

export function anotherState(
  difference: string,
  failure: ExecutionFailure | undefined,
  { serverErrors, worksLater }: { readonly serverErrors: number; readonly worksLater: boolean },
): InputError {
  const says = failure?.kind === 'not-taken' ? notTakenText(failure) : difference;
  if (serverErrors > 0) {
    const times = serverErrors === 1 ? 'once' : `${serverErrors} times`;
    return new InputError(
      `The receiver responded with 5xx ${times} during the reference, and the same messages then ended in another state: ${says}`,
      {
        hint: 'find out why it responds with 5xx (-v shows its output), and whether it does the work anyway; then run this again',
      },
    );
  }
  return new InputError(`The same messages end in another state after a reset: ${says}`, {
    hint: `${worksLater ? 'give the receiver more time, since it works after its response: --state-timeout 1m; else ' : ''}let --reset delete all that the receiver stores, the ids that it has seen included (restart it when they are in memory); leave times, random ids and running numbers out of --state`,
  });
}

/** Creates the error for a receiver that keeps the lock of a message after a 5xx: it responds with 409 to every retry. */
export function lockKept({ label }: ProofMessage): InputError {
  return new InputError(
    `The receiver responds with 409 to the first ${label} message since it responded with 5xx to it`,
    {
      hint: 'release the lock of a message when the work on it fails; --only after-5xx shows the requests',
    },
  );
}

function notTakenText({ exchange }: ExecutionFailure & { kind: 'not-taken' }): string {
  const { status, error } = exchange.response;
  return `message ${exchange.message + 1}, accepted the first time, gets ${status ?? error} the second time`;
}

export function unstable(one: string, other: string): InputError {
  return new InputError(
    `The state is not stable: ${differenceText(one, other)}, and nothing was sent in between`,
    {
      hint: 'leave times and everything else that changes by itself out of --state, and stop other senders',
    },
  );
}

export function unchanged(count: number, state: string): InputError {
  const printed = state.trim() === '' ? 'nothing, as before' : 'the same as before';
  return new InputError(
    `The reference run did not change the state: ${count} messages were accepted, and --state prints ${printed}`,
    {
      hint: 'let --state print what these messages change, or send messages that change it: --messages FILE',
    },
  );
}

export function stillChanging(timeoutMs: number, code: ScheduleCode): InputError {
  return new InputError(
    `The state was still changing when the time ended, ${formatDuration(timeoutMs)} after the last message of ${code}: is the receiver still working?`,
    {
      hint: 'wait longer: --state-timeout 1m; or send fewer messages: --messages FILE; leave times and everything else that changes by itself out of --state',
    },
  );
}

export function receiverDied(gone: string, { label }: ProofMessage): InputError {
  return new InputError(`The receiver did not last: ${gone} at the first ${label} message`, {
    hint: 'read its output; hooks test without --state shows which message it cannot handle',
  });
}

export function unreachable({ error }: ProofResponse): InputError {
  return new InputError(`Cannot reach the receiver: ${error}`, {
    hint: 'start the receiver, or give the command that starts it behind --; hooks test without --state says more',
  });
}

/** Responses of a receiver that requires a signature, or misses its own secret. */
const WITHOUT_SECRET: ReadonlySet<string> = new Set(['401', '403', '500', 'reset']);

export function nothingTaken(
  responses: readonly ProofResponse[],
  { isSigned }: { readonly isSigned: boolean },
): InputError {
  const codes = [...new Set(responses.map(({ status, error }) => String(status ?? error)))];
  const came = new Set(responses.map(({ status, error = 'none' }) => cameText(status, error)));
  return new InputError(
    `The receiver accepted none of the ${responses.length} messages: ${[...came].join(', ')}`,
    { hint: nothingTakenHint(codes, isSigned) },
  );
}

function cameText(status: number | undefined, error: string): string {
  if (status !== undefined) return `it responded with ${status}`;
  return error === 'reset' ? 'the connection was reset' : `no response came (${error})`;
}

function nothingTakenHint(codes: readonly string[], isSigned: boolean): string {
  if (!isSigned && codes.every((code) => WITHOUT_SECRET.has(code))) {
    return 'give the secret with --secret or HOOKS_SECRET: the requests were unsigned, and a receiver behind -- got no HOOKS_SECRET; hooks test without --state says more';
  }
  return codes.includes('401') || codes.includes('403')
    ? 'give the secret that it verifies with (--secret-file FILE or HOOKS_SECRET); hooks test without --state finds out how it verifies'
    : 'run hooks test without --state first: it says what is wrong';
}
