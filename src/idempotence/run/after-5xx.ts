import type { IdempotenceMistakeCode } from '../mistakes.ts';
import { referenceWaves } from '../plan/plan-schedules.ts';
import { isSameState } from '../state-difference.ts';
import type { ProofMessage } from '../subject.ts';
import type { ProofRunner } from './proof-runner.ts';

export interface After5xx {
  /** The receiver's mistake with a message that got a 5xx. Undefined if the message had its effect exactly once. */
  readonly mistake: IdempotenceMistakeCode | undefined;
  readonly status: number;
  /** The state that one effect of the message gives. */
  readonly expected: string;
  /** The state of the receiver after a message that got a 5xx was sent again. */
  readonly state: string;
}

/** Sends a message alone, and again if the response is 5xx. Undefined if none of `tries` tries got a 5xx. */
export async function repeatAfter5xx(
  runner: ProofRunner,
  message: ProofMessage,
  tries: number,
): Promise<After5xx | undefined> {
  await runner.reset();
  const { status = 0 } = await runner.options.subject.send(message);
  if (status < 500) return tries > 1 ? repeatAfter5xx(runner, message, tries - 1) : undefined;
  const { state: expected } = await runner.settle();
  await runner.send([message], { waves: referenceWaves([0]) });
  const { state } = await runner.settle();
  const isRepeated = !isSameState(expected, runner.base) && !isSameState(state, expected);
  if (isRepeated) return { mistake: 'effect-despite-5xx', status, expected, state };
  const taken = isSameState(state, runner.base) ? await runner.stateAfter([message]) : state;
  const isLost = !isSameState(taken, state);
  return { mistake: isLost ? 'keeps-id-after-failure' : undefined, status, expected: taken, state };
}
