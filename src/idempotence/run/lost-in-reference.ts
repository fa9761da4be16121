import { proofMessage } from '../messages.ts';
import { isSameState } from '../state-difference.ts';
import type { ProofMessage } from '../subject.ts';
import { unlikeId, type LostMessage } from './lost-message.ts';
import { MOST_LOOKED_AT, type Reference } from './learn-reference.ts';
import type { ProofRunner } from './proof-runner.ts';

/**
 * Finds a message that had no effect in the reference run, but has one with another id at the same place. A receiver that
 * keeps a set, a maximum or the newest value rightly ignores the message with either id.
 */
export async function findLostInReference(
  runner: ProofRunner,
  { messages, effective, failed }: Reference,
): Promise<LostMessage | undefined> {
  const known = messages.slice(0, MOST_LOOKED_AT);
  if (known.every((message) => effective.has(message))) return undefined;
  // Sends each message with two ids if the receiver has failed: a receiver that fails at every tenth request or message
  // then fails at other messages than in the reference run.
  const times = failed.length > 0 ? 2 : 1;
  const renamed = known.flatMap((message) => otherIds(message).slice(0, times));
  const states = [runner.base, ...(await runner.statesAfterEach(renamed))];
  for (const [at, message] of known.entries()) {
    const [state = '', expected = ''] = [states[at * times], states[(at + 1) * times]];
    if (effective.has(message) || isSameState(state, expected)) continue;
    if (failed.includes(message)) {
      return { code: 'keeps-id-after-failure', messages: known.slice(0, at + 1), expected, state };
    }
    const lost = await takenForAnother(runner, known.slice(0, at + 1));
    if (lost !== undefined) return lost;
  }
  return undefined;
}

/** Finds an earlier message after which the last message has no effect with its own id, but has one with another id. */
async function takenForAnother(
  runner: ProofRunner,
  known: readonly ProofMessage[],
): Promise<LostMessage | undefined> {
  for (const other of known.slice(0, -1)) {
    const messages = [other, ...known.slice(-1)];
    const [alone, state = ''] = await runner.statesAfterEach(messages);
    if (alone === undefined || !isSameState(alone, state)) continue;
    const expected = await runner.stateAfter([other, ...known.slice(-1).map(withOtherId)]);
    if (!isSameState(alone, expected)) return { code: 'cuts-ids-off', messages, expected, state };
  }
  return undefined;
}

/** Returns two copies of the message, each with another id. */
function otherIds(message: ProofMessage): readonly [ProofMessage, ProofMessage] {
  const other = withOtherId(message);
  return [other, withOtherId(other)];
}

function withOtherId({ message, label, messageId }: ProofMessage): ProofMessage {
  return proofMessage(message, { label, messageId: unlikeId(messageId) });
}
