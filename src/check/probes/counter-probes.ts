import type { NetworkCause } from '../../transport/cause.ts';
import type { CheckResponse } from '../check-response.ts';
import type { ReceiverMistake } from '../check.ts';
import {
  END_RESPONSE,
  isAboutElse,
  isTelling,
  LOOK_INTO_LOG,
  ownCause,
} from '../mistakes/explain-failure.ts';
import { remainingMistakes } from '../mistakes/verification-suspects.ts';
import { isTakenResponse } from '../judge-responses.ts';
import { Asker, type AskerContext, type FailedMessage } from './asker.ts';
import { neighborsOf } from './neighbors.ts';
import { acceptsLater, blocksUserAgent, readsTwice, respondsAgain } from './sent-again.ts';

/**
 * A way in which correct messages fail, which determines the probes to run. In all classes but `busy`, the receiver has
 * not accepted any message. `late`: no response in time. `failing`: a 5xx, or a 4xx that asks to retry. `no-route`: 404
 * or 405. `rejected`: another 4xx. `blocked`: a 4xx from a system in front of the receiver. `busy`: a 429 or 503
 * because of overload, although the receiver accepted other messages.
 */
export type FailureClass = 'late' | 'failing' | 'no-route' | 'rejected' | 'blocked' | 'busy';

/**
 * Returns the class of the response to a correct message. Undefined if no probe would explain more, for example because
 * the response itself shows its cause. Returns only `busy` if the receiver has accepted a message (`hasTaken`).
 */
export function failureClassOf(response: CheckResponse, hasTaken: boolean): FailureClass | undefined {
  if (response.kind === 'none') {
    return response.error === 'timeout' && isSilence(response.cause) && !hasTaken ? 'late' : undefined;
  }
  const { kind, status, cause } = response;
  if (hasTaken) return cause?.kind === 'busy' && (status === 503 || status === 429) ? 'busy' : undefined;
  const hasNoRoute = status === 404 || status === 405;
  if (isOfFront(response) && !hasNoRoute) return 'blocked';
  if (ownCause(response) !== undefined || (kind !== 'failing' && kind !== 'rejected')) return undefined;
  if (kind === 'failing') return 'failing';
  return hasNoRoute ? 'no-route' : 'rejected';
}

/** Whether a timeout has no known cause but a silent server or handler, so that other requests can show more. */
function isSilence(cause: NetworkCause | undefined): boolean {
  return cause?.says === undefined || /^(?:handler|port)-silent$/.test(cause.code);
}

/** Sends requests and returns the mistake that their responses show. Undefined if they do not show one. */
type CounterProbe = (ask: Asker, failed: FailedMessage) => Promise<ReceiverMistake | undefined>;

/** The probes of each class, in order: the first one that finds a mistake ends the search. */
const COUNTER_PROBES: Readonly<Record<FailureClass, readonly CounterProbe[]>> = {
  late: [respondsAgain, behindVerification, readsTwice, hangsHere],
  failing: [behindVerification, failsOnAll],
  'no-route': [behindVerification, routeNearby],
  rejected: [behindVerification, hashesSomeFields, blocksUserAgent, whatRemains],
  blocked: [blocksUserAgent],
  busy: [acceptsLater],
};

/** Whether a system in front of the receiver rejected the message: a firewall, a proxy, a load balancer or a host. */
function isOfFront({ kind, cause }: CheckResponse): boolean {
  return kind === 'rejected' && /^(?:firewall|proxy|balancer|host)-/.test(cause?.code ?? '');
}

/** Classes whose probes do not send forgeries and therefore do not need a secret. */
const WITHOUT_FORGERIES: ReadonlySet<FailureClass> = new Set(['busy', 'blocked']);

/** Finds the mistake that explains a failure, by comparing the response with those to other requests. */
export async function counterProbe(
  failureClass: FailureClass,
  failed: FailedMessage,
  context: AskerContext,
): Promise<ReceiverMistake | undefined> {
  const ask = new Asker(context);
  if (!context.sample.isSigned && !WITHOUT_FORGERIES.has(failureClass)) return undefined;
  for (const probe of COUNTER_PROBES[failureClass]) {
    const mistake = context.receiver.over === undefined ? await probe(ask, failed) : undefined;
    if (mistake !== undefined) return mistake;
  }
  return undefined;
}

/** Detects a handler that fails after the verification: a forgery gets another response than this message. */
async function behindVerification(
  ask: Asker,
  { response }: FailedMessage,
): Promise<ReceiverMistake | undefined> {
  const forgery = await ask.forgery();
  if (response.kind === 'none' && (forgery.kind === 'rejected' || forgery.kind === 'failing')) {
    const says = `it responds to a forgery at once with ${forgery.status}, but twice did not respond to a correct message in time: it verifies, and then its handler does not end the response, or works too long before it does`;
    return { code: 'timeout', says, fix: `${END_RESPONSE}; do slow work after the response` };
  }
  if (response.kind === 'none' || forgery.kind !== 'rejected') return undefined;
  if (ask.context.model.isAsForgery(response)) return undefined;
  const { status, cause, kind } = response;
  const words = status === forgery.status ? ' with words about its signature' : '';
  const verifies = `the signature is right: a forgery gets ${forgery.status}${words}, this message ${status}`;
  if (status === 404 || status === 405) {
    const says = `${verifies}, so the route exists and verifies; its handler sets no response, or responds with ${status} itself`;
    const fix = 'respond with 2xx at the end of the handler, on each of its paths';
    return { code: 'handler-not-found', says, fix };
  }
  const own = isTelling(cause) ? `; ${cause.says}` : '';
  const fix = isTelling(cause) ? cause.fix : LOOK_INTO_LOG;
  return kind === 'failing'
    ? { code: 'http-5xx', says: `${verifies}: its handler fails after the verification${own}`, fix }
    : {
        code: 'rejects-verified',
        says: `${verifies}: its handler or its validation rejects the content${own}`,
        fix,
      };
}

/** Detects a receiver that responds to nothing at this path, and tells whether it responds at another one. */
async function hangsHere(ask: Asker, { response }: FailedMessage): Promise<ReceiverMistake | undefined> {
  if ((await ask.forgery()).kind !== 'none') return undefined;
  const elsewhere = await ask.elsewhere();
  const code = 'timeout';
  const confidence = 'likely';
  if (elsewhere.kind === 'none') {
    // `handler-silent` means that the server responded to OPTIONS, so it is not true that it responds to nothing.
    if (response.kind === 'none' && response.cause?.code === 'handler-silent') return undefined;
    const says = 'it responds to nothing in time, not even to a forgery or at another path';
    const fix =
      'check whether the program is still starting, or waits for something (a database, a debugger, a lock); --timeout waits longer, up to 30s';
    return { code, says, fix, confidence };
  }
  const says = `it responds at another path at once (${elsewhere.status}), but to nothing at this one, not even to a forgery: its handler waits for something that does not come, or does not end the response`;
  const fix = `read the body once, because a second reader of it waits forever; ${END_RESPONSE}`;
  return { code, says, fix, confidence };
}

/**
 * Detects a receiver that fails on forgeries, too. If it rejects unsigned messages, it fails while it checks the
 * signature; otherwise, before that.
 */
async function failsOnAll(ask: Asker, { response }: FailedMessage): Promise<ReceiverMistake | undefined> {
  const forgery = await ask.forgery();
  if (response.kind === 'none' || forgery.kind !== 'failing') return undefined;
  const { status, cause } = response;
  const unsigned = await ask.unsigned();
  if (unsigned.kind !== 'rejected' && unsigned.kind !== 'failing') return undefined;
  const own = isTelling(cause) ? `; ${cause.says}` : '';
  const when =
    unsigned.kind === 'rejected'
      ? `on every request with a signature, and rejects one without (${unsigned.status}): it fails while it computes or compares the signature`
      : 'on every request, forged and unsigned ones too: it fails before it has verified the signature';
  const fix = isTelling(cause) ? cause.fix : FAILS_ON_ALL_FIX;
  return { code: 'http-5xx', says: `it fails with ${status} ${when}${own}`, fix, confidence: 'likely' };
}

const FAILS_ON_ALL_FIX =
  'look into its log for the error (hooks test URL -- COMMAND reads it, too); often what it hashes is not bytes: the object that express.json() made, or undefined because no parser ran on this route; or the secret is not set';

/** Detects a wrong path in the URL: a similar or common path has a route that takes POST. */
async function routeNearby(ask: Asker, { response }: FailedMessage): Promise<ReceiverMistake | undefined> {
  const elsewhere = await ask.elsewhere();
  if (response.kind === 'none' || elsewhere.kind === 'none' || hasRoute(elsewhere)) return undefined;
  for (const { url, isRepeated } of neighborsOf(ask.context.url)) {
    const there = await ask.forgeryAt(url, { isBare: true });
    if (there.kind === 'none') return undefined;
    if (!hasRoute(there)) continue;
    const here = new URL(ask.context.url).pathname;
    const path = new URL(url).pathname;
    const why = isRepeated ? ', so a router is mounted under a path that its routes repeat' : '';
    const says = `no route takes POST at ${here}, but one does at ${path}: a forged message gets ${there.status} there, and ${response.status} here${why}`;
    const fix = isRepeated
      ? `leave ${here} out of the route of the router (router.post('/', …)), or give the URL with ${path}`
      : `give the URL with ${path}, or let the route take POST at ${here}`;
    return { code: 'wrong-path', says, fix };
  }
  return undefined;
}

/** Whether the path has a route that may have rejected a forgery for its signature: no 404 or 405, and no other cause. */
function hasRoute(response: CheckResponse): boolean {
  if (response.kind !== 'rejected' || ownCause(response) !== undefined || isAboutElse(response)) return false;
  return response.status !== 404 && response.status !== 405;
}

/** Detects a receiver that drops or changes fields before it hashes a message: it accepts messages that lack them. */
async function hashesSomeFields(
  ask: Asker,
  { request, response }: FailedMessage,
): Promise<ReceiverMistake | undefined> {
  if (isAboutElse(response)) return undefined;
  // The body is an object: checks that expect a 2xx send objects.
  const { type, ...fields } = JSON.parse(Buffer.from(request.body).toString()) as Record<string, unknown>;
  if (!(await ask.verifies({ type }))) return undefined;
  const wrong: string[] = [];
  for (const [name, value] of Object.entries(fields)) {
    if (!(await ask.verifies({ type, [name]: value }))) wrong.push(`\`${name}\``);
  }
  if (wrong.length === 0) return undefined;
  return {
    code: 're-serialised',
    says: `it verifies a message of \`type\` alone, but not one with ${alternatives(wrong)}: it hashes the message after it dropped or changed these fields (a whitelist, a DTO, a schema)`,
    fix: 'hash the bytes of the body as received, before any parser or validation: express.raw({ type: "*/*" }), rawBody: true and req.rawBody in Nest, request.get_data(), request.raw_post',
  };
}

/** Joins phrases: `a`, `a or b`, `a, b or c`. */
function alternatives(phrases: readonly string[]): string {
  return phrases.join(', ').replace(/, (?=[^,]*$)/, ' or ');
}

/** Compares the rejection with the responses to other requests. Returns the mistake that they show, or what remains. */
async function whatRemains(ask: Asker, { response }: FailedMessage): Promise<ReceiverMistake | undefined> {
  if (response.kind !== 'rejected' || isAboutElse(response)) return undefined;
  const forgery = await ask.forgery();
  if (forgery.kind === 'none') return undefined;
  if (isTakenResponse(forgery)) return invertedComparison(response.status, forgery.status);
  const elsewhere = await ask.elsewhere();
  // Another path gets the same status, so the reason that the response gives is not the signature.
  const isSame = elsewhere.kind !== 'none' && elsewhere.status === response.status;
  if (isSame && isTelling(response.cause)) return undefined;
  const { tried, showsOther } = ask.context;
  const compared = { unsigned: await ask.unsigned(), unparsable: await ask.unparsable(), elsewhere };
  const mistake = remainingMistakes({ forgery, compared, tried, showsOther });
  const { cause } = response;
  return cause?.code === 'output-words'
    ? { ...mistake, says: `${cause.says}; probably ${mistake.says}` }
    : mistake;
}

function invertedComparison(status: number, forged: number): ReceiverMistake {
  return {
    code: 'inverted-comparison',
    says: `it lets forgers in: a forged message gets ${forged}, and a correct one ${status}: it compares the wrong way around`,
    fix: 'respond with 401 if the signatures differ, and with 2xx if they are equal: timingSafeEqual, hash_equals and compare_digest return true for equal ones, strcmp and compareTo 0',
    confidence: 'likely',
  };
}
