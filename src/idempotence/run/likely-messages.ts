import { orderKeysOf } from '../../message/outgoing-message.ts';
import { scheduledMessages, type Schedule } from '../plan/schedule.ts';
import { differingLines } from '../state-difference.ts';
import type { ProofMessage } from '../subject.ts';
import type { Reference } from './learn-reference.ts';
import type { Deviation } from './proof-runner.ts';

/** Limits of the single messages and pairs that shrinking tries before it leaves out halves of the schedule. */
const MOST_SINGLES = 4;
const MOST_PAIRS = 4;

export type KnownMessages = Pick<Reference, 'messages' | 'effective'>;

/**
 * Groups of messages that are likely to show the deviation alone. Single messages first: the message that was not accepted,
 * messages whose ids are in the differing lines, others that change the state. Then pairs, those of one user and one type
 * first, because they change the same data.
 */
export function likelyMessages(
  found: Schedule,
  { expected, state, execution }: Deviation,
  known: KnownMessages,
): readonly (readonly number[])[] {
  const { missing, added } = differingLines(expected, state);
  const lines = [...missing, ...added].join('\n');
  const { failure } = execution;
  const rank = (place: number): number => {
    if (failure?.kind === 'not-taken' && failure.exchange.message === place) return 0;
    const message = known.messages[place];
    if (message === undefined || !known.effective.has(message)) return 3;
    return lines.includes(message.messageId) ? 1 : 2;
  };
  const ranked = scheduledMessages(found)
    .filter((place) => rank(place) < 3)
    .toSorted((one, other) => rank(one) - rank(other));
  const singles = showsOrder(found) ? [] : ranked.slice(0, MOST_SINGLES).map((place) => [place]);
  const inOrder = ranked.toSorted((one, other) => one - other);
  const pairs = pairsAtOnce(found, inOrder);
  return [...singles, ...likelyPairs(pairs.length > 0 ? pairs : pairsOf(inOrder), known.messages)];
}

type MessagePair = readonly [number, number];

function pairsOf(places: readonly number[]): readonly MessagePair[] {
  return places.flatMap((one, at) => places.slice(at + 1).map((other) => [one, other] as const));
}

/** Pairs of messages that the schedule sends at the same moment, because only such pairs can show a lost update. */
function pairsAtOnce({ waves }: Schedule, places: readonly number[]): readonly MessagePair[] {
  const groups = waves.map(({ messages }) => places.filter((place) => messages.includes(place)));
  return groups.flatMap(pairsOf);
}

function likelyPairs(
  pairs: readonly MessagePair[],
  messages: readonly ProofMessage[],
): readonly (readonly number[])[] {
  const kinship = ([one, other]: MessagePair): number => {
    const [first, second] = [messages[one]?.message, messages[other]?.message];
    if (first === undefined || second === undefined) return 0;
    const keys = orderKeysOf(second);
    const isOfUser = orderKeysOf(first).some((key) => keys.includes(key));
    return (isOfUser ? 2 : 0) + (first.type === second.type ? 1 : 0);
  };
  return pairs.toSorted((one, other) => kinship(other) - kinship(one)).slice(0, MOST_PAIRS);
}

/**
 * Whether only the order of the requests distinguishes this schedule from an earlier schedule that passed. If so, no message
 * alone can show the deviation.
 */
function showsOrder({ code, number }: Schedule): boolean {
  const comesAgain = code === 'twice' || code === 'answer-lost';
  return code === 'shuffled' || code === 'interleaved' || (comesAgain && number > 1);
}
