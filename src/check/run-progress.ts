import type { CheckResponse } from './check-response.ts';
import type { Check, Fault } from './check.ts';
import { isTakenForgery, isTakenResponse, type CheckJudgement } from './judge-responses.ts';

/** Stops after this many requests without a response in a row (each takes the whole timeout), or with the same fault and nothing taken. */
const IN_A_ROW = 3;
/** Faults of the way, after which no request arrives. */
const NO_RECEIVER: ReadonlySet<string> = new Set([
  'speaks-tls',
  'speaks-http',
  'speaks-other',
  'client-certificate',
]);

/** What the receiver has shown so far: whether it takes messages at all, and whether asking on makes sense. */
export class RunProgress {
  /** Whether it has ever accepted a correct message. */
  hasTaken = false;
  /** Whether it was ever sent one. */
  hasAsked = false;
  #forgeries = 0;
  #takenForgeries = 0;
  #unanswered = 0;
  #lastCode: string | undefined;
  #sameInARow = 0;
  #brokeOff: string | undefined;

  /** Notes the responses to correct messages. */
  seeCorrect(answers: readonly CheckResponse[]): void {
    this.hasAsked = true;
    if (answers.some(isTakenResponse)) this.hasTaken = true;
  }

  seeForgery(answer: CheckResponse): void {
    this.#forgeries++;
    if (isTakenForgery(answer)) this.#takenForgeries++;
  }

  /** Why the remaining checks need not be sent, after this one. */
  whyOver({ code, expects }: Check, { answer, fault }: CheckJudgement): string | undefined {
    if (answer.kind === 'none') {
      if (fault !== undefined && NO_RECEIVER.has(fault.code)) {
        return `first fix what is wrong above: ${fault.says}`;
      }
      return this.#whyNoAnswer(code, answer.error);
    }
    this.#unanswered = 0;
    if (fault === undefined || expects === 'refused') {
      this.#sameInARow = 0;
      return undefined;
    }
    const isSame = fault.code === this.#lastCode;
    this.#lastCode = fault.code;
    this.#sameInARow = isSame ? this.#sameInARow + 1 : 1;
    const isInTheWay = !this.hasTaken && answer.cause?.kind === 'way' && answer.cause.code === fault.code;
    if (isInTheWay) return `first fix what is wrong above: ${fault.says}`;
    const isBusy = answer.cause?.kind === 'busy' && answer.cause.code === fault.code;
    // A mistake in verifying shows in each check, and some checks show another one.
    const isOfWay =
      fault.code === 'wrong-path' || fault.code === answer.cause?.code || answer.kind !== 'refused';
    const isHopeless = isBusy || (!this.hasTaken && isOfWay);
    return isHopeless && this.#sameInARow >= IN_A_ROW
      ? `the last ${IN_A_ROW} failed alike: ${fault.says}`
      : undefined;
  }

  /** One line for a receiver that takes forgeries of every kind. */
  get takesEverything(): Fault | undefined {
    if (this.#forgeries < IN_A_ROW || this.#takenForgeries < this.#forgeries) return undefined;
    return {
      code: 'takes-everything',
      says: 'it takes everything: it verifies no signature, or the URL is not the receiver (a catch-all route, an inspector of requests)',
      fix: 'check the URL; then compute the HMAC-SHA1 of the raw body and answer 401 to all that does not match X-Signature',
    };
  }

  #whyNoAnswer(code: string, error: string): string | undefined {
    if (error.startsWith('tls')) return 'no connection is possible: see above';
    if (error === 'refused') {
      return this.#brokeOff === undefined
        ? 'nothing listens there anymore'
        : `it broke off ${this.#brokeOff}, and nothing listens there anymore: it crashed on that message`;
    }
    this.#brokeOff = error === 'reset' ? code : undefined;
    return ++this.#unanswered >= IN_A_ROW ? `the last ${IN_A_ROW} requests got no response` : undefined;
  }
}
