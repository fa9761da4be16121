import { MAX_MESSAGE_BYTES } from '../../message/limits.ts';
import { contentFactsOf, type BodyDifference, type ContentFacts } from '../../message/content-facts.ts';
import type { CheckResponse } from '../check-response.ts';
import type { Check, ReceiverMistake } from '../check.ts';
import type { CheckRequest } from '../sample.ts';
import { isTakenResponse, unclearRejection } from '../judge-responses.ts';

/**
 * A receiver's behavior on one request. `taken`: a 2xx that is not `unclear`. `unverified`: a rejection like that of a forgery (a request with
 * a wrong signature), or any rejection if no forgery was sent. `refused`: any other rejection, so the signature is not the
 * reason. `failing`: a 5xx, or a 4xx that asks to send again later. `late`: no response in time. `broken`: no
 * response for another reason, such as a closed connection. `unclear`: a redirect, or a 2xx whose body is an HTML page
 * or reports a failure or a rejection.
 */
export type Behavior = 'taken' | 'unverified' | 'refused' | 'failing' | 'late' | 'broken' | 'unclear';

/** A test request, and the facts about it that decide which mistakes of a receiver can show in the response. */
export interface CheckProbe {
  readonly request?: CheckRequest | undefined;
  readonly check: string;
  /** Whether a receiver that verifies signatures must reject the request. */
  readonly isForged: boolean;
  /** Undefined if the body is not JSON. */
  readonly facts: ContentFacts | undefined;
  /** The check's code; `forged` if it is; for a message in JSON its features, and `repeated` and `large` if it is. */
  readonly traits: ReadonlySet<string>;
}

export function probeOf(
  { code, expects, needsSecret }: Pick<Check, 'code' | 'expects' | 'needsSecret'>,
  requests: readonly CheckRequest[] = [],
  index = 0,
): CheckProbe {
  const request = requests[index];
  const isForged = expects === 'rejected' && needsSecret === true;
  const facts = contentFactsOf(Buffer.from(request?.body ?? '').toString());
  const isMessage = !isForged && facts !== undefined;
  const traits = new Set(isMessage ? facts.features : []).add(code);
  if (isForged) traits.add('forged');
  if (isMessage && request === requests[index - 1]) traits.add('repeated');
  if (isMessage && facts.bytes > MAX_MESSAGE_BYTES / 2) traits.add('large');
  return { check: code, request, isForged, facts, traits };
}

export interface ProbeOutcome extends CheckProbe {
  readonly response: CheckResponse;
  readonly isRight: boolean;
  /** State after a connection reset: `dead` if connections are refused, `restarted` if they were for a while. */
  readonly aftermath?: 'dead' | 'restarted' | undefined;
  /** Sentence that quotes the error that the receiver printed during the check. */
  readonly printed?: string | undefined;
}

/** A mistake that a receiver may have. The traits of a request decide whether the mistake shows in the response. */
export interface Suspect extends ReceiverMistake {
  /** How the mistake shows: values of Behavior, or statuses as text (`413`). */
  readonly shows: readonly string[];
  /** Traits for which it always shows. If it does not, a right response or any response to a forgery disproves it. */
  readonly always?: readonly string[];
  /** Traits for which it may show, even if the request also has a trait of `always`. */
  readonly sometimes?: readonly string[];
  /** Traits for which it never shows, whatever other traits the request has. If it does show, this disproves it. */
  readonly never?: readonly string[];
}

/** Returns whether a mistake always, sometimes or never shows for a request. Undefined if no trait decides it. */
export function roleOf(
  suspect: Suspect,
  { traits }: CheckProbe,
): 'always' | 'sometimes' | 'never' | undefined {
  const roles = ['never', 'sometimes', 'always'] as const;
  return roles.find((role) => suspect[role]?.some((trait) => traits.has(trait)));
}

/** Collects the responses of a run, and finds the mistakes that explain a failure and that no response disproves. */
export class SuspectModel {
  readonly #suspects: readonly Suspect[];
  readonly #observations: ProbeOutcome[] = [];
  /** For each failed request, the content that makes it fail, if requests with other content have shown that. */
  readonly differences = new Map<CheckRequest | undefined, BodyDifference>();
  /** Response to a message with a wrong signature, for comparison with other responses. Undefined if none was sent. */
  forgery: CheckResponse | undefined;

  constructor(suspects: readonly Suspect[]) {
    this.#suspects = suspects;
  }

  get observations(): readonly ProbeOutcome[] {
    return this.#observations;
  }

  add(observation: ProbeOutcome): void {
    this.#observations.push(observation);
  }

  behaviorOf(observation: ProbeOutcome): Behavior {
    const { response, isForged } = observation;
    switch (response.kind) {
      case 'taken': {
        const isUnclear = isForged && this.unclearRejection(observation) !== undefined;
        return isTakenResponse(response) && !isUnclear ? 'taken' : 'unclear';
      }
      case 'rejected':
        return this.isAsForgery(response) ? 'unverified' : 'refused';
      case 'none':
        return response.error === 'timeout' ? 'late' : 'broken';
      default:
        return response.kind === 'failing' ? 'failing' : 'unclear';
    }
  }

  /**
   * Returns the mistake of rejecting without a 4xx: by a redirect, or by a 2xx with an HTML page or a rejection in its
   * body. If three or more correct messages all got one reply, any other reply to a forgery counts as a rejection.
   */
  unclearRejection({ response, isForged }: ProbeOutcome): ReceiverMistake | undefined {
    const reply = replyOf({ response });
    const replies = isForged && reply ? this.passed.map((each) => replyOf(each)) : [];
    const isOther = replies.length >= 3 && replies.every((each) => each !== reply && each === replies[0]);
    const mistake = unclearRejection(response, isOther);
    if (mistake?.code !== 'refuses-in-words' || !replies.includes(reply)) return mistake;
    return { ...mistake, says: mistake.says.replace('rejects', 'rejects correct and forged messages alike') };
  }

  /**
   * Whether a rejection may be about the signature, because a forgery got a similar response: a 4xx with the same
   * status (and words about the signature, if the forgery got such words), or a 2xx with the same body. True if no
   * forgery was sent. False if a system in front of the receiver rejects the request.
   */
  isAsForgery(response: CheckResponse): boolean {
    const { forgery } = this;
    if (response.kind === 'rejected' && response.cause?.kind === 'way') return false;
    if (forgery === undefined) return true;
    if (forgery.kind === 'taken' && response.kind === 'taken') return forgery.reply === response.reply;
    if (forgery.kind !== 'rejected' || response.kind !== 'rejected') return false;
    return forgery.status === response.status && namesSignature(forgery) <= namesSignature(response);
  }

  /**
   * Returns the mistakes that no response disproves and that explain this failure and the most other failures, because
   * one mistake is likelier than two. Among equals, returns those that the most responses could have disproved.
   */
  explain(failure: ProbeOutcome): readonly Suspect[] {
    // Failures that the receiver explains in the same words have one cause, so a mistake must explain all of them.
    const alike = this.#observations.filter((each) => !each.isRight && hasSameWords(each, failure));
    const possible = this.#suspects.filter(
      (suspect) =>
        [failure, ...alike].every((each) => this.#explains(suspect, each)) &&
        !this.#observations.some((each) => this.#disproves(suspect, each)),
    );
    const scores = possible.map((suspect) => {
      const tested = this.#observations.filter((each) => /always|never/.test(roleOf(suspect, each) ?? ''));
      return this.explained(suspect).length * 1_000 + tested.length;
    });
    const best = Math.max(...scores);
    return possible.filter((_, index) => scores[index] === best);
  }

  /** Whether the cause of a rejection blames a system that rejects every message, although other messages passed. */
  disprovesCause({ response, isForged }: ProbeOutcome): boolean {
    const isOfAll = response.kind === 'rejected' && response.cause?.kind === 'way';
    return isOfAll && !isForged && this.passed.length > 0;
  }

  explained(suspect: Suspect): readonly ProbeOutcome[] {
    return this.#observations.filter((each) => !each.isRight && this.#explains(suspect, each));
  }

  #shows({ shows }: Suspect, observation: ProbeOutcome): boolean {
    const { response } = observation;
    const status = response.kind === 'none' ? '' : String(response.status);
    return shows.includes(this.behaviorOf(observation)) || shows.includes(status);
  }

  #explains(suspect: Suspect, observation: ProbeOutcome): boolean {
    const role = roleOf(suspect, observation);
    return role !== undefined && role !== 'never' && this.#shows(suspect, observation);
  }

  #disproves(suspect: Suspect, observation: ProbeOutcome): boolean {
    const role = roleOf(suspect, observation);
    const isShown = this.#shows(suspect, observation);
    const { isRight, isForged } = observation;
    return (role === 'never' && isShown) || (role === 'always' && !isShown && (isRight || isForged));
  }

  alike(failure: ProbeOutcome): readonly ProbeOutcome[] {
    const key = this.keyOf(failure);
    return this.#observations.filter((each) => !each.isRight && this.keyOf(each) === key);
  }

  keyOf(observation: ProbeOutcome): string {
    const { response, isForged } = observation;
    const code = response.kind === 'none' ? response.error : response.status;
    return `${isForged} ${this.behaviorOf(observation)} ${code}`;
  }

  get passed(): readonly ProbeOutcome[] {
    return this.#observations.filter(
      (each) => !each.isForged && each.facts !== undefined && this.behaviorOf(each) === 'taken',
    );
  }
}

/** The start of the body of a 2xx. Numbers become #, because some, such as a count of bytes, depend on the message. */
const replyOf = ({ response }: Pick<ProbeOutcome, 'response'>) =>
  response.kind === 'taken' ? response.reply?.replaceAll(/\d+/g, '#') : undefined;

function hasSameWords(one: ProbeOutcome, other: ProbeOutcome): boolean {
  const [words, otherWords] = [one, other].map(({ response }) =>
    response.kind !== 'none' && response.cause?.isQuotation ? response.cause.says : undefined,
  );
  return words !== undefined && words === otherWords;
}

const namesSignature = ({ reply = '' }: { readonly reply?: string | undefined }): boolean =>
  /signature|hmac|digest/i.test(reply);
