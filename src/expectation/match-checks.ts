import {
  cameText,
  countText,
  placeOfMessage,
  uncountedText,
  type ArrivedCount,
  type ArrivedMessage,
  type ExpectationResult,
  type MessageCheck,
} from './expectation-result.ts';
import type { ExpectedMessage } from './expected-message.ts';
import { NearestMessage } from './nearest.ts';
import { lookAtAll } from './rejection-checks.ts';

/** A filter for a message, and the messages that meet it or come nearest. */
interface SeenMatch {
  readonly expected: ExpectedMessage;
  readonly nearest: NearestMessage;
  /**
   * The first messages that meet the match, at most as many as there are matches: even if every other match uses one of
   * them, one is left for this match.
   */
  readonly takers: ArrivedMessage[];
}

/** Expects a different message for each match, in any order. */
export class MatchCheck implements MessageCheck {
  readonly #matches: readonly SeenMatch[];

  constructor(expected: readonly ExpectedMessage[]) {
    this.#matches = expected.map(seenMatch);
  }

  add(arrived: ArrivedMessage): void {
    lookAtAll(this.#matches, ({ nearest, takers }) => {
      if (nearest.takes(arrived) && takers.length < this.#matches.length) takers.push(arrived);
    });
  }

  get isWaiting(): boolean {
    return this.#taken().includes(undefined);
  }

  results(came: ArrivedCount): readonly ExpectationResult[] {
    const taken = this.#taken();
    return this.#matches.map((seen, index) => matchResult(seen, taken[index], came));
  }

  /** Assigns a different message to each match. Undefined for a match without a message. */
  #taken(): readonly (ArrivedMessage | undefined)[] {
    const matchOf = new Map<ArrivedMessage, number>();
    this.#matches.forEach((_, match) => this.#assign(match, matchOf, new Set()));
    const taken = new Map([...matchOf].map(([arrived, match]) => [match, arrived]));
    return this.#matches.map((_, match) => taken.get(match));
  }

  /** Assigns a message to a match: a free one, or one whose current match can take another message (augmenting paths). */
  #assign(match: number, matchOf: Map<ArrivedMessage, number>, asked: Set<ArrivedMessage>): boolean {
    for (const arrived of this.#matches[match]?.takers ?? []) {
      if (asked.has(arrived)) continue;
      asked.add(arrived);
      const other = matchOf.get(arrived);
      if (other !== undefined && !this.#assign(other, matchOf, asked)) continue;
      matchOf.set(arrived, match);
      return true;
    }
    return false;
  }
}

/** Number and place of a message that meets a match. */
interface Taker {
  readonly number: number;
  readonly place: string;
}

/** Expects a different message for each match, later than the message of the match before it. */
export class OrderCheck implements MessageCheck {
  readonly #matches: readonly (SeenMatch & { readonly all: Taker[] })[];
  /** Number of matches, from the first on, that are met in order. */
  #met = 0;

  constructor(expected: readonly ExpectedMessage[]) {
    this.#matches = expected.map((each) => ({ ...seenMatch(each), all: [] }));
  }

  add(arrived: ArrivedMessage): void {
    if (!this.isWaiting) return;
    const next = this.#matches[this.#met];
    lookAtAll(this.#matches, (seen) => {
      if (!seen.nearest.takes(arrived)) return;
      seen.all.push({ number: arrived.number, place: placeOfMessage(arrived) });
      if (seen === next) this.#met += 1;
    });
  }

  get isWaiting(): boolean {
    return this.#met < this.#matches.length;
  }

  /** Compares the order of the met matches only, so that an unmet match does not fail the matches after it. */
  results(came: ArrivedCount): readonly ExpectationResult[] {
    let last = { number: 0, place: '', text: '' };
    return this.#matches.map((seen) => {
      const { text } = seen.expected;
      const [first] = seen.all;
      if (first === undefined) return matchResult(seen, undefined, came);
      const taker = seen.all.find(({ number }) => number > last.number);
      const said = taker?.place ?? whyTooEarly(first, last);
      if (taker !== undefined) last = { ...taker, text };
      return { expectation: 'match', filter: text, isMet: taker !== undefined, said };
    });
  }
}

function whyTooEarly({ number, place }: Taker, last: Taker & { readonly text: string }): string {
  return number === last.number
    ? `the only message that matches, ${place}, is taken by ${last.text} before it`
    : `out of order: ${place} comes before ${last.place}, which matches ${last.text}`;
}

/** Expects exactly the number of messages that the filter says. */
export class CountedMatchCheck implements MessageCheck {
  readonly #expected: ExpectedMessage;
  readonly #nearest: NearestMessage;
  readonly #places: string[] = [];
  #count = 0;

  constructor(expected: ExpectedMessage) {
    this.#expected = expected;
    this.#nearest = new NearestMessage(expected.conditions);
  }

  add(arrived: ArrivedMessage): void {
    if (!this.#nearest.takes(arrived)) return;
    this.#count += 1;
    if (this.#places.length < MAX_PLACES) this.#places.push(placeOfMessage(arrived));
  }

  get isWaiting(): boolean {
    return this.#count < (this.#expected.exactly ?? 0);
  }

  results(came: ArrivedCount): readonly ExpectationResult[] {
    const { text: filter, exactly = 0 } = this.#expected;
    const { nearest } = this.#nearest;
    const isMet = this.#count === exactly;
    const said = isMet
      ? countText(exactly, 'message')
      : `Expected exactly ${exactly}, got ${this.#got(came)}${uncountedText(came)}`;
    const isShort = this.#count < exactly && nearest !== undefined;
    return [{ expectation: 'match', filter, isMet, said, ...(isShort && { nearest }) }];
  }

  #got(came: ArrivedCount): string {
    if (came.messages === 0) return cameText(came);
    const more = this.#count > MAX_PLACES ? ' …' : '';
    const places = this.#count === 0 ? '' : ` (${this.#places.join(', ')}${more})`;
    return `${this.#count === 0 ? 'none' : this.#count} of ${cameText(came)}${places}`;
  }
}

/** Maximum number of messages whose places a result names if too many messages match. */
const MAX_PLACES = 4;

function seenMatch(expected: ExpectedMessage): SeenMatch {
  return { expected, nearest: new NearestMessage(expected.conditions), takers: [] };
}

function matchResult(
  { expected: { text }, takers, nearest: { nearest } }: SeenMatch,
  taker: ArrivedMessage | undefined,
  came: ArrivedCount,
): ExpectationResult {
  const about = { expectation: 'match', filter: text } as const;
  if (taker !== undefined) return { ...about, isMet: true, said: placeOfMessage(taker) };
  const unmet = { ...about, isMet: false };
  if (takers.length > 0) {
    const said = 'each match needs its own message, and other matches use all that match';
    return { ...unmet, said: said + uncountedText(came) };
  }
  return { ...unmet, said: noneText(came) + uncountedText(came), ...(nearest !== undefined && { nearest }) };
}

function noneText(came: ArrivedCount): string {
  if (came.messages === 0) return `Expected a message, got ${cameText(came)}`;
  return came.messages === 1 ? 'the only message does not match' : `none of ${cameText(came)} matches`;
}
