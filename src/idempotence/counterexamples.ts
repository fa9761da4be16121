import type { Schedule } from './plan/schedule.ts';
import type { Counterexample, ShownRequest } from './proof-result.ts';
import type { LostMessage } from './run/lost-message.ts';
import type { Deviation } from './run/proof-runner.ts';
import type { ProofMessage } from './subject.ts';

/** Formats the requests of a schedule, as they were sent, and the two states. */
export function deviationExample(
  { number }: Schedule,
  { expected, state, execution }: Deviation,
  messages: readonly ProofMessage[],
): Counterexample {
  const [first] = execution.exchanges;
  const requests = execution.exchanges.map((exchange): ShownRequest => {
    const { label = '', messageId = '' } = messages[exchange.message] ?? {};
    const { status, error } = exchange.response;
    return {
      message: label,
      messageId,
      atMs: Math.round(exchange.atMs - (first?.atMs ?? 0)),
      ...(status !== undefined && { status }),
      ...(error !== undefined && { error }),
      ...(exchange.tries > 1 && { tries: exchange.tries, failedWith: exchange.failedWith }),
      ...(exchange.killedAfterMs !== undefined && { killedAfterMs: Math.round(exchange.killedAfterMs) }),
    };
  });
  return { schedule: number, requests, expected, state };
}

/** Formats a lost message as a counterexample: the requests, of which the last is lost, and the two states. */
export function lostExample({ code, messages, expected, state }: LostMessage): Counterexample {
  const isSentAgain = code === 'keeps-id-after-failure';
  const requests = messages.map(({ label: message, messageId }, place) => ({
    message,
    messageId,
    atMs: place,
    status: 200,
    ...(isSentAgain && place === messages.length - 1 && { tries: 2 }),
  }));
  return { schedule: 1, requests, expected, state };
}

/** Formats the requests of one message that got these responses in turn, and the two states. */
export function repeatedExample(
  { label: message, messageId }: ProofMessage,
  statuses: readonly number[],
  { expected, state }: Pick<Counterexample, 'expected' | 'state'>,
): Counterexample {
  const requests = statuses.map((status, atMs) => ({ message, messageId, atMs, status }));
  return { schedule: 1, requests, expected, state };
}
