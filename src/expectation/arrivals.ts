import type { ReceivedRequest } from '../receiver/received-request.ts';
import type { ConnectionRejection } from '../receiver/options.ts';
import { isAccepted, messagesOf, rejectedReason, unreadReason } from '../receiver/messages/messages-of.ts';
import { Expectation, type Tally } from './request-expectation.ts';
import { EveryMessageCheck } from './every-message-check.ts';
import {
  cameText,
  countText,
  uncountedText,
  type ArrivedCount,
  type ExpectationResult,
  type MessageCheck,
} from './expectation-result.ts';
import { CountedMatchCheck, MatchCheck, OrderCheck } from './match-checks.ts';
import type { ExpectedMessage } from './expected-message.ts';
import { SizeCheck, UndecidedMessages, ValidCheck } from './rejection-checks.ts';

/** The requests and messages that `hooks expect` waits for. */
export interface ExpectedArrivals {
  /** Minimum number of POSTs. */
  readonly atLeast: number;
  /** Maximum number of POSTs; Infinity for no limit. */
  readonly atMost: number;
  /** Exact number of messages that all requests must have together. @default any number */
  readonly messages?: number | undefined;
  /**
   * Whether at least one message is required. Without this, expectations of all messages hold if no message arrives.
   * @default false
   */
  readonly someMessage?: boolean | undefined;
  /** Filters that must each match a different message. */
  readonly matches: readonly ExpectedMessage[];
  /** Whether the matching messages must arrive in the order of `matches`. @default false */
  readonly inOrder?: boolean;
  /** Filters that must not match any message. */
  readonly noMatches?: readonly ExpectedMessage[];
  /** Filters that must match every message. */
  readonly each: readonly ExpectedMessage[];
  readonly checks?: readonly MessageCheck[];
  /** Whether every signature must be valid. */
  readonly signed: boolean;
}

/** Checks requests and their messages as they arrive. */
export class ArrivalCheck {
  /** Number of CORS preflights. They explain why no other request arrived. */
  preflights = 0;
  /** Text that names the first request that cannot be read, and why. Undefined if all requests can be read. */
  unread: string | undefined;
  /** Number of messages of the requests that got a 2xx. */
  messages = 0;
  readonly #expected: ExpectedArrivals;
  readonly #tally: Expectation;
  readonly #valid = new ValidCheck();
  readonly #undecided = new UndecidedMessages();
  readonly #checks: readonly MessageCheck[];
  #uncountedMessages = 0;
  #firstInvalid: string | undefined;

  constructor(expected: ExpectedArrivals) {
    this.#expected = expected;
    this.#tally = new Expectation({ signed: expected.signed });
    this.#checks = [...checksOf(expected), this.#valid];
  }

  get tally(): Tally {
    return this.#tally.tally;
  }

  add(request: ReceivedRequest): void {
    this.#tally.add(request);
    if (request.method !== 'POST') return;
    const reason = unreadReason(request);
    if (reason !== undefined) this.unread ??= `request ${this.#posts} cannot be read: ${reason}`;
    if (request.verdict !== 'valid') this.#firstInvalid ??= request.diagnosis?.hint;
    const { rejection } = request.call ?? {};
    if (rejection !== undefined) this.#valid.addCall(this.#posts, rejection);
    const messages = messagesOf(request);
    if (!isAccepted(request)) {
      this.#uncountedMessages += messages.length;
      return;
    }
    const place = { request: this.#posts, isSole: messages.length === 1 };
    for (const message of messages) {
      this.messages += 1;
      this.#undecided.judge({ message, ...place, number: this.messages }, this.#checks);
    }
  }

  /** Notes a request that the receiver rejected unread. Its messages are unknown, so expectations of content fail. */
  addRejection(rejection: ConnectionRejection): void {
    const reason = rejectedReason(rejection);
    if (reason !== undefined) this.unread ??= `a request cannot be read: ${reason}`;
  }

  /** Whether the wait for requests can end, because further requests cannot improve the result. */
  get isOver(): boolean {
    const { atLeast, atMost, messages } = this.#expected;
    if (this.#posts < atLeast || (messages !== undefined && this.messages < messages)) return false;
    const isFull = this.#posts >= atMost || (messages !== undefined && this.messages >= messages);
    return isFull || !this.#checks.some(({ isWaiting }) => isWaiting === true);
  }

  results(): readonly ExpectationResult[] {
    const came = {
      requests: this.#posts,
      messages: this.messages,
      uncountedMessages: this.#uncountedMessages,
      preflights: this.preflights,
    };
    return [
      ...this.#countResult(came),
      ...this.#messagesResult(came),
      ...this.#checks.flatMap((check) => check.results(came)).map((result) => this.#ifAllRead(result)),
      ...this.#undecided.results(came),
      ...this.#signatureResult(),
    ];
  }

  /** Fails an expectation of content if some request could not be read, because its messages are unknown. */
  #ifAllRead(result: ExpectationResult): ExpectationResult {
    if (this.unread === undefined || !CONTENT.has(result.expectation)) return result;
    const { isMet, said } = result;
    return { ...result, isMet: false, said: isMet ? this.unread : `${said}; ${this.unread}` };
  }

  get #posts(): number {
    return this.tally.requests - this.tally.notPost;
  }

  #countResult(came: ArrivedCount): ExpectationResult[] {
    const { atLeast, atMost } = this.#expected;
    if (atLeast === 0 && atMost === Infinity) return [];
    const isMet = this.#posts >= atLeast && this.#posts <= atMost;
    const got = this.tally.requests === 0 ? cameText(came) : this.#tally.described;
    const said = isMet ? got : `Expected ${rangeText(atLeast, atMost)}, got ${got}`;
    return [{ expectation: 'count', isMet, said }];
  }

  #messagesResult(came: ArrivedCount): ExpectationResult[] {
    const { messages, someMessage } = this.#expected;
    const all = `${cameText(came)}${came.messages === 0 ? '' : ` in ${countText(came.requests, 'request')}`}`;
    const isMissed = someMessage === true && came.requests > 0 && came.messages === 0;
    if (messages === undefined && !isMissed) return [];
    const isMet = came.messages === messages;
    const wanted = messages === undefined ? 'at least 1 message' : countText(messages, 'message');
    const expected = messages === 0 ? 'no message' : wanted;
    const got = isMet ? cameText(came) : `Expected ${expected}, got ${all}`;
    const said = got + uncountedText(came);
    return [{ expectation: 'messages', isMet, said }];
  }

  /**
   * Returns the result for the signatures. Unchecked requests count as valid, because calls of a tracking API have no
   * signature.
   */
  #signatureResult(): ExpectationResult[] {
    if (!this.#expected.signed || this.#posts === 0) return [];
    const { valid, unchecked } = this.tally.verdicts;
    const isMet = valid + unchecked === this.#posts;
    const why = this.#firstInvalid === undefined ? '' : `. ${this.#firstInvalid}`;
    const calls = unchecked === 0 ? '' : `, ${countText(unchecked, 'call')} of a tracking API without one`;
    const said = isMet
      ? `${valid} valid${calls}`
      : `Expected every signature to be valid, got ${this.#tally.described}${why}`;
    return [{ expectation: 'signature', isMet, said }];
  }
}

/** Expectations that need the content of all messages: a request that cannot be read fails them. */
const CONTENT: ReadonlySet<string> = new Set(['match', 'no-match', 'each', 'schema', 'plan']);

function checksOf({ matches, inOrder, noMatches = [], each, checks = [] }: ExpectedArrivals): MessageCheck[] {
  const single = matches.filter(({ exactly }) => exactly === undefined);
  return [
    inOrder === true ? new OrderCheck(single) : new MatchCheck(single),
    ...matches.filter(({ exactly }) => exactly !== undefined).map((match) => new CountedMatchCheck(match)),
    ...noMatches.map((match) => new EveryMessageCheck('no-match', match)),
    ...each.map((match) => new EveryMessageCheck('each', match)),
    new SizeCheck(),
    ...checks,
  ];
}

function rangeText(atLeast: number, atMost: number): string {
  if (atLeast === atMost) return atLeast === 0 ? 'no request' : countText(atLeast, 'request');
  if (atMost === Infinity) return `at least ${countText(atLeast, 'request')}`;
  const most = `at most ${countText(atMost, 'request')}`;
  return atLeast === 0 ? most : `at least ${atLeast} and ${most}`;
}
