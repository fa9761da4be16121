import { STATUS_CODES } from 'node:http';
import type { ResponseCause } from '../../transport/cause.ts';
import { whatSetsApart } from '../../message/content-facts.ts';
import type { CheckResponse } from '../check-response.ts';
import type { ReceiverMistake } from '../check.ts';
import { crashMistake } from '../crash-mistake.ts';
import { isPage, isRejectedInWords } from '../judge-responses.ts';
import type { Behavior, ProbeOutcome, Suspect, SuspectModel } from './suspect-model.ts';

export interface FailureContext {
  readonly model: SuspectModel;
  /** The receiver's mistake in verifying signatures, if further requests have proved one. */
  readonly proved: ReceiverMistake | undefined;
  /** The mistake shown by comparing the failed response with those to other requests, such as forged ones. */
  readonly countered: ReceiverMistake | undefined;
  readonly isSigned: boolean;
}

/**
 * Explains an unexpected response by the first of these that applies: `countered`, the response itself, `proved`, a
 * suspected mistake that explains all similar failures, a difference between failed and accepted messages, a suspected
 * mistake that explains only some similar failures, the status or network error.
 */
export function explainFailure(seen: ProbeOutcome, context: FailureContext): ReceiverMistake {
  const mistake = explainResponse(seen, context);
  const words = seen.response.kind === 'none' ? seen.printed : undefined;
  return words === undefined ? mistake : { ...mistake, says: `${words}; ${mistake.says}` };
}

function explainResponse(failure: ProbeOutcome, context: FailureContext): ReceiverMistake {
  const { model, proved, countered } = context;
  if (countered !== undefined && !failure.isForged) return countered;
  const { response } = failure;
  const own = ownMistake(failure, context);
  if (own !== undefined) return own;
  const isProved = proved !== undefined && response.kind === 'rejected' && !isAboutElse(response);
  if (isProved && !failure.isForged && model.isAsForgery(response)) return proved;
  const [suspect, ...others] = suspectsOf(failure, model);
  const apart = apartMistake(failure, context);
  if (suspect !== undefined && (apart === undefined || explainsAlike(suspect, failure, model))) {
    return combined([suspect, ...others]);
  }
  return apart ?? commonMistake(failure, context);
}

function ownMistake(failure: ProbeOutcome, { model, proved }: FailureContext): ReceiverMistake | undefined {
  const { response, isForged, facts } = failure;
  const own =
    (isForged || facts === undefined ? model.unclearRejection(failure) : undefined) ??
    crashMistake(failure, model) ??
    (isForged ? undefined : rejectionInWords(response, proved)) ??
    (model.disprovesCause(failure) ? undefined : ownCause(response));
  return isForged && own?.code === 'exception' ? { ...own, fix: CATCH } : own;
}

/**
 * The mistake of a receiver that responds with 2xx to a correct message but rejects it in the body, combined with the
 * proved mistake, if any. Undefined if the body rejects nothing.
 */
function rejectionInWords(response: CheckResponse, proved?: ReceiverMistake): ReceiverMistake | undefined {
  const own = isRejectedInWords(response) ? ownCause(response) : undefined;
  const says = `it rejects a correct message in words: ${own?.says}`;
  if (own === undefined || proved === undefined) return own && { ...own, says };
  return { ...proved, says: `${proved.says}; ${says}`, fix: `${proved.fix}; and ${own.fix}` };
}

export function suspectsOf(failure: ProbeOutcome, model: SuspectModel): readonly Suspect[] {
  return model.passed.length === 0 ? [] : model.explain(failure);
}

export function explainsAlike(suspect: Suspect, failure: ProbeOutcome, model: SuspectModel): boolean {
  const explained = model.explained(suspect);
  return model.alike(failure).every((each) => explained.includes(each));
}

/** Combines suspected mistakes into one. If their sentences differ, the result lists them all and is only likely. */
function combined(suspects: readonly [Suspect, ...Suspect[]]): ReceiverMistake {
  const [{ code, says, fix, confidence }, ...others] = suspects;
  if (others.every((other) => other.says === says)) return { code, says, fix, confidence };
  const all = `either ${suspects.map((each) => each.says).join(', or ')}`;
  return { code, says: all, fix: suspects.map((each) => each.fix).join('; or '), confidence: 'likely' };
}

function apartMistake(
  failure: ProbeOutcome,
  { model, isSigned }: FailureContext,
): ReceiverMistake | undefined {
  const { response } = failure;
  // Network errors other than a reset or a timeout do not depend on the message.
  const isLost = response.kind === 'none' && !/^(?:reset|timeout)$/.test(response.error);
  if (failure.isForged || failure.facts === undefined || isLost) return undefined;
  const passed = model.passed.flatMap(factsOf);
  const shown = model.differences.get(failure.request);
  const apart = shown ?? whatSetsApart(model.alike(failure).flatMap(factsOf), passed);
  if (apart === undefined) return undefined;
  const isRejected = response.kind === 'rejected';
  const isLate = model.behaviorOf(failure) === 'late';
  const others = shown === undefined ? `the ${passed.length} that passed ` : '';
  const only = `it ${ONLY[model.behaviorOf(failure)] ?? 'rejects only'} messages that ${apart.failed}: ${others}${apart.passed}`;
  const own = tellingCause(failure, model);
  const isSignature = own === undefined && isSigned && isRejected && model.isAsForgery(response);
  return {
    code: isRejected ? 'refuses-some' : 'fails-on-some',
    says:
      own === undefined ? `${only}${isSignature ? ', so the secret is right' : ''}` : `${own.says}; ${only}`,
    fix: isSignature ? HASH_BYTES : (own?.fix ?? `${ACCEPT_SUCH}${isLate ? `; ${END_RESPONSE}` : ''}`),
    confidence: shown === undefined ? 'likely' : 'proved',
  };
}

function tellingCause(failure: ProbeOutcome, model: SuspectModel): ResponseCause | undefined {
  const { kind, cause } = failure.response;
  return kind !== 'none' && isTelling(cause) && !model.disprovesCause(failure) ? cause : undefined;
}

const factsOf = ({ facts }: ProbeOutcome) => facts ?? [];

const ONLY: Readonly<Partial<Record<Behavior, string>>> = {
  failing: 'fails only on',
  late: 'does not respond to',
  broken: 'closes the connection only on',
  unclear: 'responds unclearly only to',
};

const CATCH =
  'catch this exception where the receiver verifies, and respond with 401: after a 5xx the sender repeats the message for 4 hours';

const LIFT_LIMIT =
  'exempt this route from the limit, because senders send in bursts; at least lift the limit for this address while testing: hooks test sends some 40 requests in a second';

export function ownCause(response: CheckResponse): ReceiverMistake | undefined {
  if (response.kind === 'none' || response.cause === undefined) return undefined;
  const { kind, fix, ...mistake } = response.cause;
  if (kind === 'status') return undefined;
  // Raises `possible` to `likely`: FurtherRequests clears this cause for a receiver that rejects forgeries.
  const confidence = isPage(response) ? 'likely' : mistake.confidence;
  return { ...mistake, confidence, fix: response.status === 429 ? LIFT_LIMIT : fix };
}

const NO_REJECTION: ReceiverMistake = {
  code: 'no-rejection',
  says: 'it responds to correct messages, but not to this one, which it must reject',
  fix: 'respond with 401 on the path where the verification fails',
};

function commonMistake({ response, isForged }: ProbeOutcome, context: FailureContext): ReceiverMistake {
  switch (response.kind) {
    case 'none':
      return isForged && response.error === 'timeout' ? NO_REJECTION : noResponse(response);
    case 'redirect':
      return {
        code: 'redirect',
        says: `${response.cause?.says ?? 'it redirects'}: the message is lost`,
        fix: response.cause?.fix ?? 'use the URL that it redirects to, or respond at this one',
      };
    case 'rejected':
      return rejectsValid(response, context);
    case 'taken':
      return { code: 'accepted', says: 'it accepts what it must reject', fix: 'respond with 4xx' };
    case 'failing': {
      const { status } = response;
      const own = isTelling(response.cause) ? response.cause : undefined;
      const name = `${status} ${STATUS_CODES[status] ?? ''}`.trim();
      const says = `${name} asks the sender to send it again later, for up to 4 hours${own === undefined ? '' : `; ${own.says}`}`;
      return { code: status < 500 ? 'http-4xx' : 'http-5xx', says, fix: own?.fix ?? LOOK_INTO_LOG };
    }
    default:
      return response satisfies never;
  }
}

/** Codes of causes that say little more than that a message was rejected. Other responses of the run can say more. */
const VAGUE: ReadonlySet<string> = new Set(
  'signature-refused signature-invalid-there unsigned malformed status'.split(' '),
);

export function isTelling(cause: ResponseCause | undefined): cause is ResponseCause {
  return cause !== undefined && !VAGUE.has(cause.code);
}

function rejectsValid(
  response: Exclude<CheckResponse, { kind: 'none' }>,
  { model, isSigned }: FailureContext,
): ReceiverMistake {
  const { status, cause } = response;
  const code = status === 404 || status === 405 ? 'wrong-path' : 'refuses-valid';
  if (isTelling(cause)) return { code, says: cause.says, fix: cause.fix, confidence: cause.confidence };
  const { length } = model.passed;
  const isSignature = length > 0 && isSigned && model.isAsForgery(response);
  const others =
    length === 0 ? '' : `, but accepted ${length} others${isSignature ? ': the secret is right' : ''}`;
  const says = `it rejects a correct message with ${status}${others}`;
  return { code, says, fix: isSignature ? HASH_BYTES : LOOK_INTO_LOG, confidence: 'likely' };
}

export const END_RESPONSE =
  'end the response on each path after the check: res.sendStatus(200), because res.status(200) alone sends nothing; done() or next() in a hook or middleware; next(error) for an error of an async handler in Express 4';
const HASH_BYTES = 'hash the bytes of the body as received, before any parser or conversion of text';
export const LOOK_INTO_LOG = "look into the receiver's log for the reason";
const ACCEPT_SUCH = `${LOOK_INTO_LOG}: real senders send such messages, in which fields can be missing (anonymousId can stand in place of userId)`;

const MAYBE_SIGNATURE: ReadonlySet<string> = new Set(['own-words', 'output-words', 'permission']);

/** Whether the response has a known cause that has nothing to do with the signature. */
export function isAboutElse({ cause }: CheckResponse): boolean {
  return cause !== undefined && !MAYBE_SIGNATURE.has(cause.code) && !VAGUE.has(cause.code);
}

export function noResponse({ error, detail, cause }: CheckResponse & { kind: 'none' }): ReceiverMistake {
  const text = detail.startsWith('connected,') ? `no response in time: ${detail}` : detail;
  return {
    code: cause?.code ?? error,
    says: cause?.says === undefined ? text : `${text}; ${cause.says}`,
    fix: cause?.fix ?? 'try again',
  };
}
