import { STATUS_CODES } from 'node:http';
import type { ResponseCause } from '../../transport/cause.ts';
import { whatSetsApart } from '../../message/content-facts.ts';
import type { CheckResponse } from '../check-response.ts';
import type { ReceiverMistake } from '../check.ts';
import { unclearRejection } from '../judge-responses.ts';
import type { Behavior, ProbeOutcome, Suspect, SuspectModel } from './suspects.ts';

export interface FailureContext {
  readonly model: SuspectModel;
  /** The mistake in verifying signatures that a probe has proved. */
  readonly proved: ReceiverMistake | undefined;
  readonly isSigned: boolean;
}

/**
 * Explains an unexpected response, from the most certain to the vaguest: by the response itself, by a probe, by the mistakes
 * that are consistent with the whole run, by what the failed messages have in common, by the status.
 */
export function explainFailure(failure: ProbeOutcome, context: FailureContext): ReceiverMistake {
  const { response } = failure;
  const { model, proved } = context;
  const own =
    (failure.isForged || failure.facts === undefined ? unclearRejection(response) : undefined) ??
    crashMistake(failure, model) ??
    ownCause(response);
  if (own !== undefined) return own;
  const isProved = proved !== undefined && response.kind === 'rejected' && !isAboutElse(response);
  if (isProved && !failure.isForged && model.isAsForgery(response)) return proved;
  const suspects = suspectsOf(failure, model);
  const apart = apartMistake(failure, context);
  const [suspect, ...others] = suspects;
  if (suspect !== undefined && (apart === undefined || explainsAll(suspect, failure, model))) {
    return combined([suspect, ...others]);
  }
  return apart ?? verifiedMistake(failure, model) ?? commonMistake(failure, context);
}

/** The mistakes that explain a failure. A message that is rejected like all others needs no explanation of its own. */
export function suspectsOf(failure: ProbeOutcome, model: SuspectModel): readonly Suspect[] {
  return model.passed.length === 0 ? [] : model.explain(failure);
}

function explainsAll(suspect: Suspect, failure: ProbeOutcome, model: SuspectModel): boolean {
  const explained = model.explained(suspect);
  return model.alike(failure).every((each) => explained.includes(each));
}

/** One mistake from those that remain. Each of several is only likely, and the text names all. */
function combined(suspects: readonly [Suspect, ...Suspect[]]): ReceiverMistake {
  const [{ predicts: _, ...first }, ...others] = suspects;
  if (others.every(({ says }) => says === first.says)) return first;
  const says = `either ${suspects.map((each) => each.says).join(', or ')}`;
  const fix = suspects.map((each) => each.fix).join('; or ');
  return { code: first.code, says, fix, confidence: 'likely' };
}

/** The mistake of failing on messages that have something in common, if the others passed with the same secret. */
function apartMistake(
  failure: ProbeOutcome,
  { model, isSigned }: FailureContext,
): ReceiverMistake | undefined {
  const { response } = failure;
  if (failure.isForged || failure.facts === undefined || isLost(response)) return undefined;
  const alike = model.alike(failure);
  const passed = model.passed.flatMap(factsOf);
  const apart = whatSetsApart(alike.flatMap(factsOf), passed);
  if (apart === undefined) return undefined;
  const isRejected = response.kind === 'rejected';
  const only = `it ${ONLY[model.behaviorOf(failure)]} messages that ${apart.failed}: the ${passed.length} that passed ${apart.passed}`;
  const own = response.kind === 'none' || !isTelling(response.cause) ? undefined : response.cause;
  const isSignature = own === undefined && isSigned && isRejected && model.isAsForgery(response);
  return {
    code: isRejected ? 'refuses-some' : 'fails-on-some',
    says:
      own === undefined ? `${only}${isSignature ? ', so the secret is right' : ''}` : `${own.says}; ${only}`,
    fix: isSignature
      ? 'hash the bytes of the body as received, before any parser or conversion of text'
      : (own?.fix ?? "look into the receiver's log for the reason: real senders send such messages"),
    confidence: 'likely',
  };
}

const factsOf = ({ facts }: ProbeOutcome) => facts ?? [];

const ONLY: Readonly<Record<Behavior, string>> = {
  taken: 'accepts only',
  unverified: 'rejects only',
  refused: 'rejects only',
  failing: 'fails only on',
  late: 'does not respond to',
  broken: 'closes the connection only on',
  unclear: 'does not accept only',
};

/** The mistake of a handler behind a working verification: a forgery gets another rejection than this correct message. */
function verifiedMistake(failure: ProbeOutcome, model: SuspectModel): ReceiverMistake | undefined {
  const { response } = failure;
  const { forgery } = model;
  if (failure.isForged || response.kind !== 'rejected' || forgery?.kind !== 'rejected') return undefined;
  if (model.passed.length > 0 || response.status === forgery.status) return undefined;
  const { status, cause } = response;
  const verifies = `the signature is right: a forgery gets ${forgery.status}, this message ${status}`;
  if (status === 404 || status === 405) {
    const says = `${verifies}, so the route exists and verifies; its handler sets no response, or responds with ${status} itself`;
    const fix = 'respond with 2xx at the end of the handler, on each of its ways';
    return { code: 'handler-not-found', says, fix };
  }
  const own = isTelling(cause) ? `; ${cause.says}` : '';
  const fix = isTelling(cause) ? cause.fix : "look into the receiver's log for what rejects the message";
  const says = `${verifies}: its handler or its validation rejects the content${own}`;
  return { code: 'rejects-verified', says, fix };
}

/** The mistake of crashing on a message, if the receiver closed the connection or stopped listening. */
function crashMistake(
  { response, aftermath }: ProbeOutcome,
  model: SuspectModel,
): ReceiverMistake | undefined {
  if (response.kind !== 'none') return undefined;
  const fix = "look into the receiver's log for the error, and catch it: respond with 400 or 500 instead";
  if (response.error === 'refused' && response.reconnected !== true) {
    const last = model.observations.findLast((each) => each.response.kind !== 'none');
    if (last === undefined) return undefined;
    const says = `nothing listens there anymore: it stopped or crashed after its response to ${last.check}`;
    return { code: 'refused', says, fix, confidence: 'likely' };
  }
  if (aftermath === undefined && response.error !== 'refused') return undefined;
  const so = aftermath !== 'restarted' ? 'nothing listens there anymore' : 'it was started again';
  const says = `it crashed on this request: it closed the connection, and ${so}`;
  // A crash can also come from the work that an earlier message has started.
  return { code: 'crashed', says, fix, confidence: 'likely' };
}

/** Whether there was no response for a reason that does not depend on the message. */
function isLost(response: CheckResponse): boolean {
  return response.kind === 'none' && response.error !== 'reset' && response.error !== 'timeout';
}

const LIFT_LIMIT =
  'lift the limit for this address while testing: hooks test sends some 40 requests in a second';

/**
 * Fixes for the author of the receiver, by code of the cause. They replace the fix in the cause, which tells senders to
 * retry for longer.
 */
const OWN_FIXES: Readonly<Record<string, string>> = {
  'too-early': 'let the receiver respond with 2xx to a valid message, however early it arrives',
  unavailable: 'look into the log of the receiver, or of the proxy in front of it',
};

/** Returns the mistake that the cause of a response shows, if the cause says more than the status. */
export function ownCause(response: CheckResponse): ReceiverMistake | undefined {
  if (response.kind === 'none' || response.cause === undefined) return undefined;
  const { kind, fix, ...mistake } = response.cause;
  if (kind === 'status') return undefined;
  const isLimit = kind === 'busy' && /(?:^|-)limit(?:-|$)/.test(mistake.code);
  return { ...mistake, fix: isLimit ? LIFT_LIMIT : (OWN_FIXES[mistake.code] ?? fix) };
}

function commonMistake({ response }: ProbeOutcome, context: FailureContext): ReceiverMistake {
  switch (response.kind) {
    case 'none':
      return noResponse(response);
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
    case 'failing':
      return {
        code: response.status < 500 ? 'http-4xx' : 'http-5xx',
        says:
          `${response.status} ${STATUS_CODES[response.status] ?? ''}`.trim() +
          ' means: send it again later, for 4 hours' +
          (isTelling(response.cause) ? `; ${response.cause.says}` : ''),
        fix: isTelling(response.cause) ? response.cause.fix : "look into the receiver's log for the reason",
      };
    default:
      return response satisfies never;
  }
}

/** Codes of causes that say only that a message was rejected: the run itself knows more about the reason. */
const VAGUE: ReadonlySet<string> = new Set([
  'signature-refused',
  'signature-invalid-there',
  'unsigned',
  'malformed',
  'failed',
  'status',
]);

export function isTelling(cause: ResponseCause | undefined): cause is ResponseCause {
  return cause !== undefined && !VAGUE.has(cause.code);
}

/** The mistake of rejecting a correct message, if nothing else explains it. */
function rejectsValid(
  response: Exclude<CheckResponse, { kind: 'none' }>,
  { model, isSigned }: FailureContext,
): ReceiverMistake {
  const { status, cause } = response;
  const code = status === 404 || status === 405 ? 'wrong-path' : 'refuses-valid';
  if (isTelling(cause)) return { code, says: cause.says, fix: cause.fix, confidence: cause.confidence };
  const capture =
    'save the headers and the body as the receiver gets them to a file, and pass it to hooks verify, which finds mistakes that requests cannot reveal';
  const { length } = model.passed;
  if (length > 0 && isSigned && model.isAsForgery(response)) {
    const says = `the secret is right: ${length} other messages passed; it hashes re-serialized JSON, or other bytes than those of this body`;
    const fix = 'hash the bytes of the body as received, before any parser';
    return { code: 're-serialised', says, fix, confidence: 'likely' };
  }
  if (length > 0) {
    const says = `it rejects this message, but accepted ${length} others: its validation rejects the content`;
    return { code, says, fix: "look into the receiver's log for the reason", confidence: 'likely' };
  }
  return {
    code,
    says: 'it rejects a correct message',
    fix: `check that sender and receiver have the same secret; if they do, ${capture}`,
  };
}

/** Codes of causes that do not rule out the signature as the reason of a rejection. */
const MAYBE_SIGNATURE: ReadonlySet<string> = new Set(['own-words', 'refused-spring']);

/** Whether the cause of a rejection shows that the signature is not the reason for the rejection. */
export function isAboutElse({ cause }: CheckResponse): boolean {
  return cause !== undefined && !MAYBE_SIGNATURE.has(cause.code) && !VAGUE.has(cause.code);
}

export function noResponse({ error, detail, cause }: CheckResponse & { kind: 'none' }): ReceiverMistake {
  const text = detail.startsWith('connected,') ? `no response in time: ${detail}` : detail;
  return {
    code: cause?.code ?? error,
    says: cause?.says === undefined ? text : `${text}; ${cause.says}`,
    fix: cause?.receiverFix ?? 'try again',
  };
}
