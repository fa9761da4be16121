import type { CheckResponse } from '../check-response.ts';
import type { Check, ReceiverMistake } from '../check.ts';
import { isAsExpected, isPage, isRejectedInWords, isTakenResponse } from '../judge-responses.ts';
import { explainsAlike, isAboutElse, ownCause, suspectsOf } from '../mistakes/explain-failure.ts';
import { probeOf, roleOf, type ProbeOutcome, type SuspectModel } from '../mistakes/suspect-model.ts';
import type { ReceiverUnderTest, TestedReceiverOptions } from '../receiver-under-test.ts';
import type { CheckRequest, Sample } from '../sample.ts';
import { changesOf, decisiveFields, type DecisiveFields, type ComparedFields } from './compare-bodies.ts';
import { counterProbe, failureClassOf } from './counter-probes.ts';
import { VerificationProbe, type VerificationProbeOptions } from './verification-probe.ts';

export interface FurtherOptions
  extends Pick<TestedReceiverOptions, 'clock' | 'signal' | 'url'>, VerificationProbeOptions {}

interface Asked {
  readonly receiver: ReceiverUnderTest;
  readonly sample: Sample;
  readonly model: SuspectModel;
}

/** Maximum number of verification probes. Each sends up to about 300 requests. */
const PROBES = 3;

/** Number of differences between failed and accepted messages after which no others are looked for. */
const MOST_COMPARED = 3;

/** Sends requests in addition to those of the checks, to find the reason for an unexpected response. */
export class FurtherRequests {
  readonly #options: FurtherOptions;
  readonly #asked: Asked;
  /** The mistake in the receiver's verification; undefined until a probe finds it. */
  proved: ReceiverMistake | undefined;
  readonly #verification: VerificationProbe;
  #probes = 0;
  /** Number of messages that were sent to compare bodies. Makes their ids unique. */
  #compared = 0;
  /** The mistakes that counter-probes found, or undefined, by class of failure and status (or network error). */
  readonly #found = new Map<string, ReceiverMistake | undefined>();

  constructor(options: FurtherOptions, asked: Asked) {
    this.#options = options;
    this.#asked = asked;
    this.#verification = new VerificationProbe(options, asked);
  }

  /** A correct message. `name` becomes part of its `messageId`. */
  correct(name: string): CheckRequest {
    const { sample } = this.#asked;
    return sample.signed(sample.body('track', name));
  }

  /** Sends a correct message after the receiver has closed a connection, to see whether it crashed. */
  async aftermath(response: CheckResponse): Promise<ProbeOutcome['aftermath']> {
    const { receiver } = this.#asked;
    const isBroken = response.kind === 'none' && response.error === 'reset';
    if (!isBroken || !receiver.hasResponded || receiver.over !== undefined) return undefined;
    const { response: next, wasRefused } = await receiver.askAgain(this.correct('alive'));
    if (next.kind === 'none') return next.error === 'refused' ? 'dead' : undefined;
    return wasRefused ? 'restarted' : undefined;
  }

  /** The response to a forged message, which is sent at most once. Undefined without a secret. */
  async #forgery(): Promise<CheckResponse | undefined> {
    const { sample, receiver, model } = this.#asked;
    if (!sample.isSigned) return undefined;
    const body = sample.body('track', 'forgery', { event: 'Hooks Test Forgery' });
    return (model.forgery ??= await receiver.ask(sample.forged(body, {})));
  }

  /**
   * Adds the error that the receiver printed to the unexpected responses that do not show their cause, because that
   * error is more certain than any conclusion from a status. Returns the error also as `printed`.
   */
  async withOwnWords(
    check: Pick<Check, 'expects'>,
    received: readonly CheckResponse[],
  ): Promise<{ readonly responses: readonly CheckResponse[]; readonly printed: string | undefined }> {
    const responses = await this.#withoutOwnPages(check, received);
    const isUnclear = (each: CheckResponse) =>
      !isAsExpected(each, check.expects) && ownCause(each) === undefined;
    const unclear = responses.find(isUnclear);
    const cause = unclear && (await this.#asked.receiver.printedError(unclear));
    if (cause === undefined) return { responses, printed: undefined };
    const explained = responses.map((each) => {
      const hasWords = each.kind === 'rejected' && each.cause?.isQuotation && cause.kind === 'status';
      return each.kind !== 'none' && !hasWords && isUnclear(each) ? { ...each, cause } : each;
    });
    return { responses: explained, printed: cause.says };
  }

  /**
   * Removes the cause `page` or `login-page` from responses if the receiver rejects a forgery: a website would not, so
   * the pages are responses of a receiver.
   */
  async #withoutOwnPages(
    { expects }: Pick<Check, 'expects'>,
    responses: readonly CheckResponse[],
  ): Promise<readonly CheckResponse[]> {
    if (expects === 'rejected' || !responses.some(isPage)) return responses;
    if ((await this.#forgery())?.kind !== 'rejected') return responses;
    return responses.map((response) => (isPage(response) ? { ...response, cause: undefined } : response));
  }

  /**
   * Finds the mistake of a receiver that rejects a correct signature, and keeps it as `proved`. Skips responses that
   * have another reason than the signature.
   */
  async probeVerification(
    response: CheckResponse,
    [request]: readonly CheckRequest[],
    { isOwnMistake, hasTaken }: Pick<Check, 'isOwnMistake'> & { readonly hasTaken: boolean },
  ): Promise<void> {
    const isInWords = isRejectedInWords(response);
    if (!isInWords && (response.kind !== 'rejected' || ownCause(response) !== undefined)) return;
    if (request === undefined || (await this.#forgery()) === undefined) return;
    if ((!isInWords && isAboutElse(response)) || !this.#asked.model.isAsForgery(response)) return;
    if (this.proved !== undefined || (isOwnMistake && hasTaken)) return;
    // One probe is enough until the receiver accepts a message: a probe with another message would find nothing else.
    if (this.#probes > 0 && !hasTaken) return;
    if (++this.#probes > PROBES) return;
    this.proved = await this.#verification.find(request);
  }

  /** Sends other requests to explain the response to a correct message, once for each class of failure and status. */
  async counterProbe(
    response: CheckResponse,
    [request]: readonly CheckRequest[],
    hasTaken: boolean,
  ): Promise<void> {
    const failureClass = failureClassOf(response, hasTaken);
    if (failureClass === undefined || request === undefined || this.proved !== undefined) return;
    const key = keyOf(failureClass, response);
    if (this.#found.has(key)) return;
    const context = { ...this.#options, ...this.#asked, ...this.#verification.seen };
    this.#found.set(key, await counterProbe(failureClass, { request, response }, context));
  }

  /** The mistake that `counterProbe` found for a response of the same class and status. */
  counterMistake(response: CheckResponse, hasTaken: boolean): ReceiverMistake | undefined {
    const failureClass = failureClassOf(response, hasTaken);
    return failureClass && this.#found.get(keyOf(failureClass, response));
  }

  /** Finds the fields that make messages fail, and adds them to the `differences` of the model. */
  async compareBodies(): Promise<void> {
    const { model, receiver } = this.#asked;
    const found: (DecisiveFields & { readonly key: string })[] = [];
    for (const failure of model.observations) {
      if (!isComparable(failure, model)) continue;
      const [key, fields] = [model.keyOf(failure), fieldsOf(failure)];
      const known = found.find((each) => each.key === key && each.isIn(fields));
      if (known === undefined && (found.length >= MOST_COMPARED || receiver.over !== undefined)) continue;
      const decisive = known ?? (await this.#decisiveFields(failure));
      if (decisive !== undefined) model.differences.set(failure.request, decisive.difference);
      if (decisive !== undefined && known === undefined) found.push({ ...decisive, key });
    }
  }

  async #decisiveFields(failure: ProbeOutcome): Promise<DecisiveFields | undefined> {
    const { model, sample, receiver } = this.#asked;
    const [key, failed] = [model.keyOf(failure), fieldsOf(failure)];
    const differing = (each: ComparedFields): number => changesOf(each, failed).length;
    const [accepted] = model.passed.map(fieldsOf).toSorted((one, other) => differing(one) - differing(other));
    const fails = async (fields: ComparedFields): Promise<boolean> => {
      const messageId = `${String(fields['messageId'])}-compared-${++this.#compared}`;
      const request = sample.signed(Buffer.from(JSON.stringify({ ...fields, messageId })));
      return model.keyOf({ ...failure, response: await receiver.ask(request) }) === key;
    };
    return accepted && decisiveFields(failed, accepted, fails);
  }

  /**
   * Whether a check can tell apart the mistakes that may explain an accepted forgery: it sends a forgery, was not run
   * yet, and the mistakes predict different responses.
   */
  tellsApart(check: Check): boolean {
    const { model, sample } = this.#asked;
    const probe = probeOf(check);
    const isSent = model.observations.some((each) => each.check === check.code);
    if (!probe.isForged || !sample.isSigned || isSent) return false;
    return model.observations.some((each) => {
      const suspects = each.isRight || !each.isForged ? [] : suspectsOf(each, model);
      return new Set(suspects.map((suspect) => `${suspect.shows.join()} ${roleOf(suspect, probe)}`)).size > 1;
    });
  }

  /** Whether the receiver accepts a signature over the re-serialized JSON instead of the body's bytes. */
  async takesStringified([request]: readonly CheckRequest[]): Promise<boolean> {
    const { receiver, sample } = this.#asked;
    const body = Buffer.from(request?.body ?? '');
    const stringified = Buffer.from(JSON.stringify(JSON.parse(body.toString())));
    return isTakenResponse(await receiver.ask(sample.signedOver(stringified, body)));
  }
}

/** Whether the content of a correct message may explain its failure, and no mistake explains all failures like it. */
function isComparable(failure: ProbeOutcome, model: SuspectModel): boolean {
  const { response, isRight, isForged, facts } = failure;
  const isOther = response.kind === 'none' ? response.error !== 'reset' : response.cause?.kind === 'busy';
  if (isRight || isForged || facts === undefined || isOther) return false;
  const [suspect] = suspectsOf(failure, model);
  const isExplained = suspect !== undefined && explainsAlike(suspect, failure, model);
  // Messages that are rejected like forgeries were hashed wrongly: `whatSetsApart` compares their content.
  return !isExplained && model.behaviorOf(failure) !== 'unverified';
}

const fieldsOf = ({ request }: ProbeOutcome): ComparedFields =>
  JSON.parse(Buffer.from(request?.body ?? '{}').toString()) as ComparedFields; // the checks send objects

function keyOf(failureClass: string, response: CheckResponse): string {
  return `${failureClass} ${response.kind === 'none' ? response.error : response.status}`;
}
