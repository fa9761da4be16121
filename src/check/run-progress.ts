import type { Check, ReceiverMistake } from './check.ts';
import { isAboutElse, isTelling, noResponse, ownCause } from './mistakes/explain-failure.ts';
import { isTakenResponse } from './judge-responses.ts';
import type { ProbeOutcome } from './mistakes/suspect-model.ts';
import type { CheckResponse } from './check-response.ts';

/**
 * Number of requests in a row without a response, or of checks in a row with the same response, after which the run stops.
 * Each request without a response takes the whole timeout.
 */
const IN_A_ROW = 3;
/** Codes of mistakes in the connection that prevent all requests from arriving. */
const NO_RECEIVER: ReadonlySet<string> = new Set(
  'speaks-tls speaks-http speaks-other client-certificate silent'.split(' '),
);

export const NEEDS_SECRET = 'needs-secret';
const GIVE_SECRET = 'give the secret that it verifies with: --secret-file FILE or HOOKS_SECRET';

interface Tested {
  readonly isSigned: boolean;
  /** Whether the receiver has ever responded. */
  readonly hasResponded: boolean;
}

/** The observations of a run so far: whether the receiver accepts messages, and whether further checks make sense. */
export class RunProgress {
  /** Whether the receiver has ever accepted a correct message. */
  hasTaken = false;
  /** Whether the receiver was ever sent a correct message. */
  hasAsked = false;
  #withoutResponse = 0;
  #lastResponse: string | undefined;
  #sameInARow = 0;

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

  /** The mistake that makes a receiver untestable: it was never reached, or it requires a secret. Undefined otherwise. */
  whyUntestable(response: CheckResponse, { isSigned, hasResponded }: Tested): ReceiverMistake | undefined {
    const rejection = isSigned ? undefined : this.unsignedMistake(response);
    if (rejection?.code === NEEDS_SECRET) return rejection;
    if (response.kind !== 'none' || hasResponded) return undefined;
    return ['refused', 'dns', 'blocked-address'].includes(response.error) ? noResponse(response) : undefined;
  }

  /** Records the responses to correct messages. */
  seeCorrect(responses: readonly CheckResponse[]): void {
    this.hasAsked = true;
    if (responses.some(isTakenResponse)) this.hasTaken = true;
  }

  /** Why the remaining checks are pointless after this one; undefined if they are not. */
  whyOver(
    { expects }: Check,
    { response, isRight }: ProbeOutcome,
    known: ReceiverMistake | undefined,
  ): string | undefined {
    if (response.kind === 'none') return this.#whyNoResponse(response);
    this.#withoutResponse = 0;
    if (isRight || expects === 'rejected') {
      this.#sameInARow = 0;
      return undefined;
    }
    const { status, cause } = response;
    const key = `${status} ${cause?.code}`;
    this.#sameInARow = key === this.#lastResponse ? this.#sameInARow + 1 : 1;
    this.#lastResponse = key;
    const says = known?.says ?? textOf(response);
    if (!this.hasTaken && cause?.kind === 'way') return `first fix the problem above: ${says}`;
    // A rejection whose response shows no specific cause does not stop the run: other checks can reveal other mistakes.
    const isOfWay = status === 404 || status === 405 || isTelling(cause) || response.kind !== 'rejected';
    const isHopeless = cause?.kind === 'busy' || (!this.hasTaken && isOfWay);
    return isHopeless && this.#sameInARow >= IN_A_ROW
      ? `the last ${IN_A_ROW} failed in the same way: ${says}`
      : undefined;
  }

  #whyNoResponse(response: CheckResponse & { kind: 'none' }): string | undefined {
    const { code, says } = noResponse(response);
    if (NO_RECEIVER.has(code)) return `first fix the problem above: ${says}`;
    if (response.error.startsWith('tls')) return 'no connection is possible: see above';
    if (response.error === 'refused') return 'nothing listens there anymore';
    return ++this.#withoutResponse >= IN_A_ROW ? `the last ${IN_A_ROW} requests got no response` : undefined;
  }
}

function textOf(response: Exclude<CheckResponse, { kind: 'none' }>): string {
  const { cause, status } = response;
  return ownCause(response)?.says ?? (isTelling(cause) ? cause.says : `it responds with ${status}`);
}
