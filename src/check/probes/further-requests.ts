import type { CheckResponse } from '../check-response.ts';
import type { Check, ReceiverMistake } from '../check.ts';
import { isAsExpected, isPage, isRejectedInWords, isTakenResponse } from '../judge-responses.ts';
import { explainsAlike, isAboutElse, ownCause, suspectsOf } from '../mistakes/explain-failure.ts';
import type { ProbeOutcome, SuspectModel } from '../mistakes/suspects.ts';
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

/** Maximum number of probes for the mistake in a receiver's verification, each with about a hundred requests. */
const PROBES = 3;

/** Maximum number of failed messages that are compared with accepted ones. */
const MOST_COMPARED = 3;

/** Sends requests besides those of the checks, to find the reason for an unexpected response. */
export class FurtherRequests {
  readonly #options: FurtherOptions;
  readonly #asked: Asked;
  /** The mistake in the receiver's verification; undefined until a probe finds it. */
  proved: ReceiverMistake | undefined;
  readonly #verification: VerificationProbe;
  #probes = 0;
  /** Number of messages that were sent to compare bodies. Makes their ids unique. */
  #compared = 0;
  /** The mistakes that counter-probes found, by class of failure and status. */
  readonly #found = new Map<string, ReceiverMistake | undefined>();

  constructor(options: FurtherOptions, asked: Asked) {
    this.#options = options;
    this.#asked = asked;
    this.#verification = new VerificationProbe(options, asked);
  }

  /** A correct message, whose `messageId` contains `name`. */
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

  /** The response to a forged message, with which the responses to correct ones are compared. Asked once. */
  async #forgery(): Promise<CheckResponse | undefined> {
    const { sample, receiver, model } = this.#asked;
    if (!sample.isSigned) return undefined;
    const body = sample.body('track', 'forgery', { event: 'Hooks Test Forgery' });
    return (model.forgery ??= await receiver.ask(sample.forged(body, {})));
  }

  /**
   * Gives the responses that do not show their cause the error that the receiver printed: its words are more certain than
   * every conclusion from a status.
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
   * Removes the cause "page" from responses if the receiver rejects a forged request. A website would not reject one, so the
   * pages are responses of a receiver.
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
   * Finds the mistake of a receiver that rejects a correct signature: sends wrong signatures and keeps the mistake of the
   * one that the receiver accepts.
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

  /** Compares the response to a correct message with those to other requests, once for each class of failure. */
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

  /** The mistake that a counter-probe found for such a response. */
  counterMistake(response: CheckResponse, hasTaken: boolean): ReceiverMistake | undefined {
    const failureClass = failureClassOf(response, hasTaken);
    return failureClass && this.#found.get(keyOf(failureClass, response));
  }

  /** Finds the fields that decide whether a message fails, by comparing failed messages with accepted ones. */
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

  /** Whether a forgery that was not sent yet is predicted differently by the mistakes that explain a failure. */
  tellsApart({ code, expects, needsSecret }: Check): boolean {
    const { model, sample } = this.#asked;
    const isSent = model.observations.some(({ check }) => check === code);
    if (expects !== 'rejected' || !needsSecret || !sample.isSigned || isSent) return false;
    const probe = { check: code, isForged: true, isRepeated: false, bytes: 1, facts: undefined };
    return model.observations.some((each) => {
      const suspects = each.isRight || !each.isForged ? [] : suspectsOf(each, model);
      const predictions = suspects.map(({ predicts }) => JSON.stringify(predicts(probe)));
      return new Set(predictions).size > 1;
    });
  }

  /** Whether the receiver verifies the JSON-stringified body instead of the bytes. */
  async takesStringified([request]: readonly CheckRequest[]): Promise<boolean> {
    const { receiver, sample } = this.#asked;
    const body = Buffer.from(request?.body ?? '');
    const stringified = Buffer.from(JSON.stringify(JSON.parse(body.toString())));
    return isTakenResponse(await receiver.ask(sample.signedOver(stringified, body)));
  }
}

/** Whether the content of a message can be the reason for its failure, and no mistake explains all such failures. */
function isComparable(failure: ProbeOutcome, model: SuspectModel): boolean {
  const { response, isRight, isForged, facts } = failure;
  const isOther = response.kind === 'none' ? response.error !== 'reset' : response.cause?.kind === 'busy';
  if (isRight || isForged || facts === undefined || isOther) return false;
  const [suspect] = suspectsOf(failure, model);
  const isExplained = suspect !== undefined && explainsAlike(suspect, failure, model);
  // Other bytes under a signature are a matter of their content, which the statistics of the run name.
  return !isExplained && model.behaviorOf(failure) !== 'unverified';
}

const fieldsOf = ({ request }: ProbeOutcome): ComparedFields =>
  JSON.parse(Buffer.from(request?.body ?? '{}').toString()) as ComparedFields; // the checks send objects

function keyOf(failureClass: string, response: CheckResponse): string {
  return `${failureClass} ${response.kind === 'none' ? response.error : response.status}`;
}
