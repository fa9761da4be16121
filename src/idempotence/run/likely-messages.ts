import { orderKeysOf } from '../../message/outgoing-message.ts';
import { scheduledMessages, type Schedule } from '../plan/schedule.ts';
import { differingLines } from '../state-difference.ts';
import type { ProofMessage } from '../subject.ts';
import type { Deviation } from './proof-runner.ts';

/** How many messages are tried alone, and how many pairs of them, before halves of the schedule are left out. */
const MOST_SINGLES = 4;
const MOST_PAIRS = 4;

export interface KnownMessages {
  readonly messages: readonly ProofMessage[];
  readonly effective: ReadonlySet<ProofMessage>;
}

/**
 * What to try without the rest of a schedule: messages named in the lines that differ, or not taken, then others that change the state;
 * then two of one user, those of one type first, since they change the same.
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

/** Two messages that are sent at the same moment: where one change is lost, no others show it. */
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

/** Whether a schedule differs from an earlier one, which has passed, by the order alone: then no message fails alone. */
function showsOrder({ code, number }: Schedule): boolean {
  const comesAgain = code === 'twice' || code === 'answer-lost';
  return code === 'shuffled' || code === 'interleaved' || (comesAgain && number > 1);
}
