import type { Condition } from '../../message/filter.ts';
import {
  cameText,
  countText,
  placeOfMessage,
  type ArrivedCount,
  type ArrivedMessage,
  type ExpectationResult,
  type MessageCheck,
} from './finding.ts';
import { NearestMessage } from './nearest.ts';

export interface ExpectedMessage {
  /** The filter as given: `type=track,event=Signup`. */
  readonly text: string;
  readonly conditions: readonly Condition[];
  /** Exactly this many messages match; undefined: one, and others may match too. */
  readonly exactly?: number;
}

/** The messages seen for an expected one. */
interface SeenMatch {
  readonly expected: ExpectedMessage;
  readonly nearest: NearestMessage;
  /** The first messages that meet it, at most one per match: enough that one is always left for it. */
  readonly takers: ArrivedMessage[];
}

/** Each match takes a message of its own, in any order. */
export class MatchCheck implements MessageCheck {
  readonly #matches: readonly SeenMatch[];

  constructor(expected: readonly ExpectedMessage[]) {
    this.#matches = expected.map(seenMatch);
  }

  add(arrived: ArrivedMessage): void {
    for (const { nearest, takers } of this.#matches) {
      if (nearest.takes(arrived) && takers.length < this.#matches.length) takers.push(arrived);
    }
  }

  get isWaiting(): boolean {
    return this.#taken().includes(undefined);
  }

  findings(came: ArrivedCount): readonly ExpectationResult[] {
    const taken = this.#taken();
    return this.#matches.map((seen, index) => matchFinding(seen, taken[index], came));
  }

  /** The message assigned to each match, no two the same; undefined for a match without one. */
  #taken(): readonly (ArrivedMessage | undefined)[] {
    const matchOf = new Map<ArrivedMessage, number>();
    this.#matches.forEach((_, match) => this.#assign(match, matchOf, new Set()));
    const taken = new Map([...matchOf].map(([arrived, match]) => [match, arrived]));
    return this.#matches.map((_, match) => taken.get(match));
  }

  /** Assigns a free message, or one whose match can be given another (augmenting paths). */
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

/** Each match takes a message of its own, later than that of the match before it. */
export class OrderCheck implements MessageCheck {
  readonly #matches: readonly SeenMatch[];
  /** The message of each match so far: the first that meets it after the one before. */
  readonly #taken: ArrivedMessage[] = [];

  constructor(expected: readonly ExpectedMessage[]) {
    this.#matches = expected.map(seenMatch);
  }

  add(arrived: ArrivedMessage): void {
    const next = this.#taken.length;
    this.#matches.forEach(({ nearest, takers }, index) => {
      if (!nearest.takes(arrived)) return;
      if (takers.length === 0) takers.push(arrived);
      if (index === next) this.#taken.push(arrived);
    });
  }

  get isWaiting(): boolean {
    return this.#taken.length < this.#matches.length;
  }

  findings(came: ArrivedCount): readonly ExpectationResult[] {
    return this.#matches.map((seen, index) => {
      const finding = matchFinding(seen, this.#taken[index], came);
      const [early] = seen.takers;
      if (finding.isMet || early === undefined) return finding;
      return { ...finding, said: this.#whyNot(early, index) };
    });
  }

  #whyNot(early: ArrivedMessage, index: number): string {
    const before = this.#matches[index - 1];
    const previous = this.#taken[index - 1];
    const text = before?.expected.text ?? '';
    if (previous === undefined) {
      return `it matches ${placeOfMessage(early)}, but ${text} is missing before it`;
    }
    const order = early.number < previous.number ? 'comes before' : 'is';
    return `out of order: ${placeOfMessage(early)} ${order} ${placeOfMessage(previous)}, which matches ${text}`;
  }
}

/** As many messages match as the filter says. */
export class CountedMatchCheck implements MessageCheck {
  readonly #expected: ExpectedMessage;
  readonly #nearest: NearestMessage;
  #count = 0;

  constructor(expected: ExpectedMessage) {
    this.#expected = expected;
    this.#nearest = new NearestMessage(expected.conditions);
  }

  add(arrived: ArrivedMessage): void {
    if (this.#nearest.takes(arrived)) this.#count += 1;
  }

  get isWaiting(): boolean {
    return this.#count < (this.#expected.exactly ?? 0);
  }

  findings(came: ArrivedCount): readonly ExpectationResult[] {
    const { text: filter, exactly = 0 } = this.#expected;
    const { nearest } = this.#nearest;
    const isMet = this.#count === exactly;
    const of =
      this.#count === 0
        ? cameText(came)
        : `of ${cameText(came)} ${this.#count} ${this.#count === 1 ? 'matches' : 'match'}`;
    const said = isMet ? countText(exactly, 'message') : `Expected exactly ${exactly}, but ${of}`;
    const isShort = this.#count < exactly && nearest !== undefined;
    return [{ expectation: 'match', filter, isMet, said, ...(isShort && { nearest }) }];
  }
}

function seenMatch(expected: ExpectedMessage): SeenMatch {
  return { expected, nearest: new NearestMessage(expected.conditions), takers: [] };
}

function matchFinding(
  { expected: { text }, takers, nearest: { nearest } }: SeenMatch,
  taker: ArrivedMessage | undefined,
  came: ArrivedCount,
): ExpectationResult {
  const about = { expectation: 'match', filter: text } as const;
  if (taker !== undefined) return { ...about, isMet: true, said: placeOfMessage(taker) };
  if (takers.length > 0) {
    const said =
      'the only messages that match are assigned to other matches; each match needs a different message';
    return { ...about, isMet: false, said };
  }
  const said = came.messages === 0 ? cameText(came) : `none of ${cameText(came)} matches`;
  return { ...about, isMet: false, said, ...(nearest !== undefined && { nearest }) };
}
