import { DEFAULT_SCHEMES } from '../signature/schemes/find-schemes.ts';
import type { SignatureScheme } from '../signature/schemes/scheme.ts';
import type { CheckResponse } from './check-response.ts';
import type { Check, ReceiverMistake } from './check.ts';
import { verifyingFixes } from './scheme-checks.ts';
import { isAboutElse, isTakenForgery, isTakenResponse, type CheckJudgement } from './judge-responses.ts';

/** Stops after this many requests without a response in a row (each takes the whole timeout), or with the same mistake and nothing taken. */
const IN_A_ROW = 3;
/** Mistakes of the way, after which no request arrives. */
const NO_RECEIVER: ReadonlySet<string> = new Set([
  'speaks-tls',
  'speaks-http',
  'speaks-http2',
  'speaks-other',
  'client-certificate',
  'silent',
]);

export const NEEDS_SECRET = 'needs-secret';
const GIVE_SECRET = 'give the secret that it verifies with: --secret-file FILE or HOOKS_SECRET';

/** What the receiver has shown so far: whether it takes messages at all, and whether asking on makes sense. */
export class RunProgress {
  /** Whether it has ever accepted a correct message. */
  hasTaken = false;
  /** Whether it was ever sent one. */
  hasAsked = false;
  readonly #mistakes = new Map<string, { readonly responded: string; readonly mistake: ReceiverMistake }>();
  #forgeries = 0;
  #takenForgeries = 0;
  #withoutResponse = 0;
  #lastCode: string | undefined;
  #sameInARow = 0;
  #brokeOff: string | undefined;
  readonly #schemes: readonly SignatureScheme[];

  constructor(schemes: readonly SignatureScheme[] = DEFAULT_SCHEMES) {
    this.#schemes = schemes;
  }

  /** Notes what a check of a message found. */
  seeMistake({ code }: Check, { response, mistake }: CheckJudgement): void {
    if (mistake !== undefined) this.#mistakes.set(code, { responded: respondedText(response), mistake });
  }

  /** The mistake of the plain message, where it got the same response. */
  plainMistake({ plain }: Check, response: CheckResponse): ReceiverMistake | undefined {
    const seen = plain === undefined ? undefined : this.#mistakes.get(plain);
    return seen?.responded === respondedText(response) ? seen.mistake : undefined;
  }

  /**
   * What the rejection of an unsigned message shows, as long as none was taken. Only a status or a word that is about signatures tells
   * the reason.
   */
  unsignedMistake(response: CheckResponse): ReceiverMistake | undefined {
    if (this.hasTaken || response.kind !== 'rejected' || isAboutElse(response)) return undefined;
    const { status, reply = '' } = response;
    if (status === 401 || status === 403 || /signature|hmac|\bunsigned|not signed/i.test(reply)) {
      return { code: NEEDS_SECRET, says: `it rejects unsigned messages with ${status}`, fix: GIVE_SECRET };
    }
    const says = 'it rejects an unsigned message, and does not say why';
    return { code: 'rejects-unsigned', says, fix: `where it verifies signatures, ${GIVE_SECRET}` };
  }

  /** Notes the responses to correct messages. */
  seeCorrect(responses: readonly CheckResponse[]): void {
    this.hasAsked = true;
    if (responses.some(isTakenResponse)) this.hasTaken = true;
  }

  seeForgery(response: CheckResponse): void {
    this.#forgeries++;
    if (isTakenForgery(response)) this.#takenForgeries++;
  }

  /** Why the remaining checks need not be sent, after this one. */
  whyOver({ code, expects }: Check, { response, mistake }: CheckJudgement): string | undefined {
    if (response.kind === 'none') {
      if (mistake !== undefined && NO_RECEIVER.has(mistake.code)) {
        return `first fix what is wrong above: ${mistake.says}`;
      }
      return this.#whyNoResponse(code, response.error);
    }
    this.#withoutResponse = 0;
    if (mistake === undefined || expects === 'rejected') {
      this.#sameInARow = 0;
      return undefined;
    }
    const isSame = mistake.code === this.#lastCode;
    this.#lastCode = mistake.code;
    this.#sameInARow = isSame ? this.#sameInARow + 1 : 1;
    const isInTheWay =
      !this.hasTaken && response.cause?.kind === 'way' && response.cause.code === mistake.code;
    if (isInTheWay) return `first fix what is wrong above: ${mistake.says}`;
    const isBusy = response.cause?.kind === 'busy' && response.cause.code === mistake.code;
    // A mistake in verifying shows in each check, and some checks show another one.
    const isOfWay =
      mistake.code === 'wrong-path' || mistake.code === response.cause?.code || response.kind !== 'rejected';
    const isHopeless = isBusy || (!this.hasTaken && isOfWay);
    return isHopeless && this.#sameInARow >= IN_A_ROW
      ? `the last ${IN_A_ROW} failed alike: ${mistake.says}`
      : undefined;
  }

  /** One line for a receiver that takes forgeries of every kind. */
  get takesEverything(): ReceiverMistake | undefined {
    if (this.#forgeries < IN_A_ROW || this.#takenForgeries < this.#forgeries) return undefined;
    return this.takesEverythingMistake;
  }

  /** The one mistake of such a receiver, with the fix by the schemes that it has to verify. */
  get takesEverythingMistake(): ReceiverMistake {
    return {
      code: 'takes-everything',
      says: 'it takes everything: it verifies no signature, or the URL is not the receiver (a catch-all route, an inspector of requests)',
      fix: `check the URL; then verify each message: ${verifyingFixes(this.#schemes)}`,
    };
  }

  #whyNoResponse(code: string, error: string): string | undefined {
    if (error.startsWith('tls')) return 'no connection is possible: see above';
    if (error === 'refused') {
      return this.#brokeOff === undefined
        ? 'nothing listens there anymore'
        : `it broke off ${this.#brokeOff}, and nothing listens there anymore: it crashed on that message`;
    }
    this.#brokeOff = error === 'reset' ? code : undefined;
    return ++this.#withoutResponse >= IN_A_ROW ? `the last ${IN_A_ROW} requests got no response` : undefined;
  }
}

/** What tells responses apart: the status, or the error. */
function respondedText(response: CheckResponse): string {
  return response.kind === 'none' ? response.error : String(response.status);
}
