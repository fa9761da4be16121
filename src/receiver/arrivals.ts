import { failing, type Condition, type Unmet } from '../message/filter.ts';
import type { JsonValue } from '../message/types.ts';
import { describeTally, Expectation, type Tally } from './expectation.ts';
import type { ReceivedRequest } from './received-request.ts';

/** The requests that `expect` waits for. */
export interface ExpectedArrivals {
  /** The fewest POSTs. */
  readonly atLeast: number;
  /** The most POSTs. Infinity: no limit. */
  readonly atMost: number;
  /** Each must be matched by a different request. */
  readonly matches: readonly ExpectedMessage[];
  /** Each must hold for every request. */
  readonly each: readonly ExpectedMessage[];
  /** Whether every signature must be valid. */
  readonly signed: boolean;
}

export interface ExpectedMessage {
  /** The filter as given: `type=track,event=Signup`. */
  readonly text: string;
  readonly conditions: readonly Condition[];
}

/** One expectation, and whether it was met. */
export interface ExpectationResult {
  readonly expectation: 'count' | 'match' | 'each' | 'signature' | 'command';
  /** The filter as given; only of `match` and `each`. */
  readonly filter?: string;
  readonly isMet: boolean;
  /** A sentence with what was expected and what came, unescaped. */
  readonly said: string;
  /** The request that misses the filter by the fewest conditions. */
  readonly nearest?: NearestRequest;
}

/** A request that does not meet an expectation. */
export interface NearestRequest {
  /** Counted from 1, in the order of arrival. */
  readonly request: number;
  readonly unmet: readonly Unmet[];
}

/** Judges requests as they arrive, and keeps only what the findings need: memory does not grow with their number. */
export class ArrivalCheck {
  readonly #expected: ExpectedArrivals;
  readonly #tally: Expectation;
  readonly #matches: readonly SeenMessage[];
  readonly #each: readonly SeenMessage[];
  #firstInvalid: string | undefined;

  constructor(expected: ExpectedArrivals) {
    this.#expected = expected;
    this.#tally = new Expectation({ signed: expected.signed });
    this.#matches = expected.matches.map((message) => ({ message, takers: [], nearest: undefined }));
    this.#each = expected.each.map((message) => ({ message, takers: [], nearest: undefined }));
  }

  get tally(): Tally {
    return this.#tally.tally;
  }

  add(request: ReceivedRequest): void {
    this.#tally.add(request);
    if (request.method !== 'POST') return;
    if (request.verdict !== 'valid') this.#firstInvalid ??= request.diagnosis?.hint;
    const message = messageOf(request.body);
    const number = this.#posts;
    for (const seen of this.#matches) noteMatch(seen, { message, number, keep: this.#matches.length });
    for (const seen of this.#each) noteMatch(seen, { message, number, keep: 0 });
  }

  /** Whether further requests cannot improve the result. */
  get isOver(): boolean {
    const { atLeast, atMost } = this.#expected;
    if (this.#posts < atLeast) return false;
    return this.#posts >= atMost || this.#taken().every((taker) => taker !== undefined);
  }

  findings(): readonly ExpectationResult[] {
    const taken = this.#taken();
    return [
      ...this.#countFinding(),
      ...this.#matches.map((seen, index) => matchFinding(seen, taken[index], this.#posts)),
      ...this.#each.map((seen) => eachFinding(seen, this.#posts)),
      ...this.#signatureFinding(),
    ];
  }

  get #posts(): number {
    return this.tally.requests - this.tally.notPost;
  }

  #countFinding(): ExpectationResult[] {
    const { atLeast, atMost } = this.#expected;
    if (atLeast === 0 && atMost === Infinity) return [];
    const isMet = this.#posts >= atLeast && this.#posts <= atMost;
    const got = describeTally(this.tally);
    return [
      {
        expectation: 'count',
        isMet,
        said: isMet ? got : `Expected ${countText(atLeast, atMost)}, got ${got}`,
      },
    ];
  }

  #signatureFinding(): ExpectationResult[] {
    if (!this.#expected.signed || this.#posts === 0) return [];
    const { valid } = this.tally.verdicts;
    const isMet = valid === this.#posts;
    const why = this.#firstInvalid === undefined ? '' : `. ${this.#firstInvalid}`;
    const said = isMet
      ? `${valid} valid`
      : `Expected every signature to be valid, got ${describeTally(this.tally)}${why}`;
    return [{ expectation: 'signature', isMet, said }];
  }

  /** The request assigned to each match, no two the same; undefined for a match without one. */
  #taken(): readonly (number | undefined)[] {
    const matchOf = new Map<number, number>();
    this.#matches.forEach((_, match) => this.#assign(match, matchOf, new Set()));
    const taken = new Map([...matchOf].map(([request, match]) => [match, request]));
    return this.#matches.map((_, match) => taken.get(match));
  }

  /** Assigns a free request, or one whose match can be given another (augmenting paths). */
  #assign(match: number, matchOf: Map<number, number>, asked: Set<number>): boolean {
    for (const request of this.#matches[match]?.takers ?? []) {
      if (asked.has(request)) continue;
      asked.add(request);
      const other = matchOf.get(request);
      if (other !== undefined && !this.#assign(other, matchOf, asked)) continue;
      matchOf.set(request, match);
      return true;
    }
    return false;
  }
}

/** An expected message, and the requests seen for it. */
interface SeenMessage {
  readonly message: ExpectedMessage;
  /** The first requests that meet it, at most one per match: enough that one is always left for it. */
  readonly takers: number[];
  nearest: NearestRequest | undefined;
}

interface ArrivedMessage {
  readonly message: JsonValue | undefined;
  readonly number: number;
  /** The most takers to keep. */
  readonly keep: number;
}

function noteMatch(seen: SeenMessage, { message, number, keep }: ArrivedMessage): void {
  const unmet = failing(seen.message.conditions, message ?? null);
  if (unmet.length === 0) {
    if (seen.takers.length < keep) seen.takers.push(number);
  } else if (seen.nearest === undefined || unmet.length < seen.nearest.unmet.length) {
    seen.nearest = { request: number, unmet };
  }
}

function messageOf(body: Uint8Array): JsonValue | undefined {
  try {
    return JSON.parse(Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString()) as JsonValue; // JSON.parse returns a JSON value
  } catch {
    return undefined;
  }
}

function matchFinding(
  { message, takers, nearest }: SeenMessage,
  taker: number | undefined,
  posts: number,
): ExpectationResult {
  const about = { expectation: 'match', filter: message.text } as const;
  if (taker !== undefined) return { ...about, isMet: true, said: `request ${taker}` };
  if (takers.length > 0) {
    const said =
      'the only requests that match are assigned to other matches; each match needs a different request';
    return { ...about, isMet: false, said };
  }
  const said = posts === 0 ? 'no request came' : `none of ${requestsText(posts)} matches`;
  return { ...about, isMet: false, said, ...(nearest !== undefined && { nearest }) };
}

function eachFinding({ message, nearest }: SeenMessage, posts: number): ExpectationResult {
  const about = { expectation: 'each', filter: message.text } as const;
  if (nearest === undefined) return { ...about, isMet: true, said: requestsText(posts) };
  return { ...about, isMet: false, said: 'not every request matches', nearest };
}

function countText(atLeast: number, atMost: number): string {
  if (atLeast === atMost) return atLeast === 0 ? 'no request' : requestsText(atLeast);
  if (atMost === Infinity) return `at least ${requestsText(atLeast)}`;
  const most = `at most ${requestsText(atMost)}`;
  return atLeast === 0 ? most : `at least ${atLeast} and ${most}`;
}

function requestsText(count: number): string {
  return `${count} request${count === 1 ? '' : 's'}`;
}
