import { DEFAULT_SCHEMES } from '../signature/schemes/find-schemes.ts';
import type { SignatureScheme } from '../signature/schemes/scheme.ts';
import type { CheckResponse } from './check-response.ts';
import type { Check, ReceiverMistake } from './check.ts';
import { verifyingFixes } from './scheme-checks.ts';
import { isAboutElse, isTakenForgery, isTakenResponse, type CheckJudgement } from './judge-responses.ts';

/**
 * Number of requests in a row without a response, or of checks in a row with the same mistake, after which the run stops.
 * Each request without a response takes the whole timeout.
 */
const IN_A_ROW = 3;
/** Codes of mistakes in the connection that prevent all requests from arriving. */
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

/** The observations of a run so far: whether the receiver accepts messages, and whether further checks make sense. */
export class RunProgress {
  /** Whether the receiver has ever accepted a correct message. */
  hasTaken = false;
  /** Whether the receiver was ever sent a correct message. */
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

  /** Records the mistake that a check found. */
  seeMistake({ code }: Check, { response, mistake }: CheckJudgement): void {
    if (mistake !== undefined) this.#mistakes.set(code, { responded: respondedText(response), mistake });
  }

  /** Returns the mistake of the simpler check `plain`, if that check got the same response. Otherwise undefined. */
  plainMistake({ plain }: Check, response: CheckResponse): ReceiverMistake | undefined {
    const seen = plain === undefined ? undefined : this.#mistakes.get(plain);
    return seen?.responded === respondedText(response) ? seen.mistake : undefined;
  }

  /**
   * The mistake that the rejection of an unsigned message shows, if no message was accepted yet. Only a status or words
   * about signatures show that a secret is needed.
   */
  unsignedMistake(response: CheckResponse): ReceiverMistake | undefined {
    if (this.hasTaken || response.kind !== 'rejected' || isAboutElse(response)) return undefined;
    const { status, reply = '' } = response;
    if (status === 401 || status === 403 || /signature|hmac|\bunsigned|not signed/i.test(reply)) {
      return { code: NEEDS_SECRET, says: `it rejects unsigned messages with ${status}`, fix: GIVE_SECRET };
    }
    const says = 'it rejects an unsigned message, and does not say why';
    return { code: 'rejects-unsigned', says, fix: `if it verifies signatures, ${GIVE_SECRET}` };
  }

  /** Records the responses to correct messages. */
  seeCorrect(responses: readonly CheckResponse[]): void {
    this.hasAsked = true;
    if (responses.some(isTakenResponse)) this.hasTaken = true;
  }

  /** Records the response to a forgery. */
  seeForgery(response: CheckResponse): void {
    this.#forgeries++;
    if (isTakenForgery(response)) this.#takenForgeries++;
  }

  /** Why the remaining checks are pointless after this one; undefined if they are not. */
  whyOver({ code, expects }: Check, { response, mistake }: CheckJudgement): string | undefined {
    if (response.kind === 'none') {
      if (mistake !== undefined && NO_RECEIVER.has(mistake.code)) {
        return `first fix the problem above: ${mistake.says}`;
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
    if (isInTheWay) return `first fix the problem above: ${mistake.says}`;
    const isBusy = response.cause?.kind === 'busy' && response.cause.code === mistake.code;
    // A rejection whose response shows no specific cause does not stop the run: other checks can reveal other mistakes.
    const isOfWay =
      mistake.code === 'wrong-path' || mistake.code === response.cause?.code || response.kind !== 'rejected';
    const isHopeless = isBusy || (!this.hasTaken && isOfWay);
    return isHopeless && this.#sameInARow >= IN_A_ROW
      ? `the last ${IN_A_ROW} failed in the same way: ${mistake.says}`
      : undefined;
  }

  /**
   * The mistake of a receiver that accepted every forgery. Undefined if it rejected one, or got fewer than IN_A_ROW
   * forgeries.
   */
  get takesEverything(): ReceiverMistake | undefined {
    if (this.#forgeries < IN_A_ROW || this.#takenForgeries < this.#forgeries) return undefined;
    return this.takesEverythingMistake;
  }

  /** The mistake of accepting everything, with the fix for the schemes of this run. */
  get takesEverythingMistake(): ReceiverMistake {
    return {
      code: 'takes-everything',
      says: 'it accepts everything: it does not verify signatures, or the URL is not the receiver (a catch-all route, a request inspector)',
      fix: `check the URL; then verify each message: ${verifyingFixes(this.#schemes)}`,
    };
  }

  #whyNoResponse(code: string, error: string): string | undefined {
    if (error.startsWith('tls')) return 'no connection is possible: see above';
    if (error === 'refused') {
      return this.#brokeOff === undefined
        ? 'nothing listens there anymore'
        : `it closed the connection during ${this.#brokeOff}, and nothing listens there anymore: it crashed on that message`;
    }
    this.#brokeOff = error === 'reset' ? code : undefined;
    return ++this.#withoutResponse >= IN_A_ROW ? `the last ${IN_A_ROW} requests got no response` : undefined;
  }
}

/** The status or the error, by which responses are compared. */
function respondedText(response: CheckResponse): string {
  return response.kind === 'none' ? response.error : String(response.status);
}
