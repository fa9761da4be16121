import type { ReceivedRequest } from '../receiver/received-request.ts';
import { isAccepted, messagesOf, unreadReason } from '../receiver/messages/messages-of.ts';
import { Expectation, type Tally } from './request-expectation.ts';
import { EveryMessageCheck } from './every-message-check.ts';
import {
  cameText,
  countText,
  refusedText,
  type ArrivedCount,
  type ArrivedMessage,
  type ExpectationResult,
  type MessageCheck,
} from './finding.ts';
import { CountedMatchCheck, MatchCheck, OrderCheck } from './match-checks.ts';
import type { ExpectedMessage } from './expected-message.ts';
import { SizeCheck, UndecidedMessages, ValidCheck } from './rejection-checks.ts';

/** The requests that `expect` waits for. */
export interface ExpectedArrivals {
  /** The fewest POSTs. */
  readonly atLeast: number;
  /** The most POSTs. Infinity: no limit. */
  readonly atMost: number;
  /** Exactly this many messages in all. @default any number */
  readonly messages?: number | undefined;
  /** Whether there must be a message at all: what is to hold for all would else hold for none. @default false */
  readonly someMessage?: boolean | undefined;
  /** Each must be matched by a different message. */
  readonly matches: readonly ExpectedMessage[];
  /** Whether the messages of the matches must come in the order of the matches. @default false */
  readonly inOrder?: boolean;
  /** Each must be matched by no message. */
  readonly noMatches?: readonly ExpectedMessage[];
  /** Each must hold for every message. */
  readonly each: readonly ExpectedMessage[];
  readonly checks?: readonly MessageCheck[];
  /** Whether every signature must be valid. */
  readonly signed: boolean;
}

/** Judges requests and their messages as they arrive. */
export class ArrivalCheck {
  /** By which browsers asked whether they may send: they explain why nothing else came. */
  preflights = 0;
  /** The first request whose content is not known, and why. */
  unread: string | undefined;
  readonly #expected: ExpectedArrivals;
  readonly #tally: Expectation;
  readonly #valid = new ValidCheck();
  readonly #undecided = new UndecidedMessages();
  readonly #checks: readonly MessageCheck[];
  #messages = 0;
  #refusedMessages = 0;
  #firstInvalid: string | undefined;

  constructor(expected: ExpectedArrivals) {
    this.#expected = expected;
    this.#tally = new Expectation({ signed: expected.signed });
    this.#checks = [...checksOf(expected), this.#valid];
  }

  get tally(): Tally {
    return this.#tally.tally;
  }

  /** The number of messages in all requests that got a 2xx. */
  get messages(): number {
    return this.#messages;
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
      this.#refusedMessages += messages.length;
      return;
    }
    for (const message of messages) {
      this.#messages += 1;
      const number = this.#messages;
      const arrived: ArrivedMessage = {
        message,
        request: this.#posts,
        isSole: messages.length === 1,
        number,
      };
      this.#undecided.judge(arrived, this.#checks);
    }
  }

  /** Whether further requests cannot improve the result. */
  get isOver(): boolean {
    const { atLeast, atMost, messages } = this.#expected;
    if (this.#posts < atLeast || (messages !== undefined && this.#messages < messages)) return false;
    const isFull = this.#posts >= atMost || (messages !== undefined && this.#messages >= messages);
    return isFull || !this.#checks.some(({ isWaiting }) => isWaiting);
  }

  findings(): readonly ExpectationResult[] {
    const came = {
      requests: this.#posts,
      messages: this.#messages,
      refusedMessages: this.#refusedMessages,
      preflights: this.preflights,
    };
    return [
      ...this.#countFinding(came),
      ...this.#messagesFinding(came),
      ...this.#checks.flatMap((check) => check.findings(came)).map((finding) => this.#ofAll(finding)),
      ...this.#undecided.findings(came),
      ...this.#signatureFinding(),
    ];
  }

  /** A check on content is met by what is known of it only when all is known. */
  #ofAll(finding: ExpectationResult): ExpectationResult {
    if (this.unread === undefined || !CONTENT.has(finding.expectation)) return finding;
    const { isMet, said } = finding;
    return { ...finding, isMet: false, said: isMet ? this.unread : `${said}; ${this.unread}` };
  }

  get #posts(): number {
    return this.tally.requests - this.tally.notPost;
  }

  #countFinding(came: ArrivedCount): ExpectationResult[] {
    const { atLeast, atMost } = this.#expected;
    if (atLeast === 0 && atMost === Infinity) return [];
    const isMet = this.#posts >= atLeast && this.#posts <= atMost;
    const got = this.tally.requests === 0 ? cameText(came) : this.#tally.described;
    const said = isMet ? got : `Expected ${rangeText(atLeast, atMost)}, got ${got}`;
    return [{ expectation: 'count', isMet, said }];
  }

  #messagesFinding(came: ArrivedCount): ExpectationResult[] {
    const { messages, someMessage } = this.#expected;
    const all = `${cameText(came)}${came.messages === 0 ? '' : ` in ${countText(came.requests, 'request')}`}`;
    const isMissed = someMessage === true && came.requests > 0 && came.messages === 0;
    if (messages === undefined && !isMissed) return [];
    const isMet = came.messages === messages;
    const wanted = messages === undefined ? 'at least 1 message' : countText(messages, 'message');
    const expected = messages === 0 ? 'no message' : wanted;
    const got = isMet ? cameText(came) : `Expected ${expected}, got ${all}`;
    const said = got + refusedText(came);
    return [{ expectation: 'messages', isMet, said }];
  }

  /** A call of a tracking API carries no signature, so that none is missing. */
  #signatureFinding(): ExpectationResult[] {
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

const CONTENT: ReadonlySet<string> = new Set(['match', 'no-match', 'each', 'schema']);

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
