import { originText } from '../../report/report.ts';
import type { Outcome } from '../../app/pipeline/outcomes.ts';
import type { AttemptRecord } from '../../attempt-record.ts';
import { contentFacts, whatSetsApart, type ContentFacts } from '../../message/content-facts.ts';
import type { Message } from '../../message/types.ts';
import { decidingAttemptOf, decidingDestination } from './deciding-attempt.ts';
import type { FailureCause } from './failure-cause.ts';
import type { Origin } from '../../replay/reading/replay-entry.ts';

/** Maximum messages of each outcome to compare. After this many messages, only every SAMPLE-th is compared. */
const MAX_COMPARED = 2_000;
const SAMPLE = 16;
const MAX_NAMED = 3;
/** Statuses that do not depend on the message, but on limits, proxies or the availability of the receiver. */
const UNRELATED: ReadonlySet<number> = new Set([408, 423, 425, 429, 502, 503, 504]);

interface PatternMessage {
  readonly origin: Origin;
  /** Returns the facts of the message. Undefined if the message is not compared. */
  readonly content: (() => ContentFacts) | undefined;
}

/** Finds patterns across the outcomes of a replay, which a single outcome does not show. */
export class RunPatterns {
  readonly #passed: ContentFacts[] = [];
  /** Failed messages by status or error. */
  readonly #failed = new Map<string, ContentFacts[]>();
  /** Origins of the messages on which the receiver may have crashed. Empty once it responds again. */
  readonly #crashedOn = new Set<string>();
  #brokeAt = Infinity;
  #isUnreachable = false;

  /** Selects the messages to compare. Collects their facts only when needed, because few messages fail. */
  contentOf(message: Message, { index, bytes }: { readonly index: number; readonly bytes: number }) {
    const isCompared = index < MAX_COMPARED || index % SAMPLE === 0;
    return isCompared ? () => contentFacts(message, bytes) : undefined;
  }

  /** Records an outcome. */
  settled(outcome: Outcome, { content, origin }: PatternMessage): void {
    const last = decidingAttemptOf(outcome);
    if (last === undefined) return;
    this.#seeAttempts(decidingDestination(outcome.destinations)?.attempts ?? [], origin);
    if (content === undefined) return;
    if (outcome.outcome === 'delivered' && this.#passed.length < MAX_COMPARED) this.#passed.push(content());
    const { status, error } = last;
    const isRelated = status === undefined ? error === 'reset' : !UNRELATED.has(status);
    if (outcome.outcome !== 'failed' || !isRelated) return;
    const key = String(status ?? error);
    const alike = this.#failed.get(key) ?? [];
    if (alike.length < MAX_COMPARED) this.#failed.set(key, [...alike, content()]);
  }

  #seeAttempts(attempts: readonly AttemptRecord[], origin: Origin): void {
    for (const { at, status, error, reconnected } of attempts) {
      if (status !== undefined && at >= this.#brokeAt) this.#crashedOn.clear();
      const isBroken = error === 'reset' || (error === 'refused' && reconnected === true);
      if (isBroken && !this.#isUnreachable) {
        this.#crashedOn.add(originText(origin));
        this.#brokeAt = Math.min(at, this.#brokeAt);
      }
      this.#isUnreachable = error === 'refused';
    }
  }

  /** Whether the receiver closed a connection and has refused all connections since. */
  get hasCrashed(): boolean {
    return this.#isUnreachable && this.#crashedOn.size > 0;
  }

  /** Returns the cause, corrected if it blames the secret although messages were delivered with the same secret. */
  corrected(cause: FailureCause | undefined): FailureCause | undefined {
    const isSecret = cause?.code === 'signature-refused' && this.#passed.length > 0;
    return isSecret ? { ...cause, says: RIGHT_SECRET, hint: HASH_BYTES } : cause;
  }

  /** Sentences for the summary. All are likely, not proved. */
  lines(): readonly string[] {
    const apart = [...this.#failed].flatMap(([key, failed]) => {
      const difference = whatSetsApart(failed, this.#passed);
      if (difference === undefined) return [];
      const { length } = failed;
      const subject = length === 1 ? `1 failed (${key}): it` : `${length} failed (${key}): all`;
      const verb = length === 1 ? singular(difference.failed) : difference.failed;
      return [`${subject} ${verb}, and the ${this.#passed.length} delivered ${difference.passed}`];
    });
    return this.hasCrashed ? [...apart, this.#crashText()] : apart;
  }

  /** Returns the sentences as a field of the summary of `-o json`, or no field if there are no sentences. */
  fields(): object {
    const patterns = this.lines().map((says) => ({ says, confidence: 'likely' }));
    return patterns.length === 0 ? {} : { patterns };
  }

  #crashText(): string {
    const named = [...this.#crashedOn].slice(0, MAX_NAMED).join(', ');
    const on = this.#crashedOn.size === 1 ? named : `one of ${named}`;
    return `the receiver probably crashed on ${on}: it closed the connection, and nothing has listened there since`;
  }
}

const RIGHT_SECRET = 'other messages passed with this secret, so it is not the secret';
const HASH_BYTES =
  'let the receiver hash the bytes of the body as received, before any parser; hooks test URL finds out what it hashes';

function singular(predicate: string): string {
  return predicate.replace(/^have\b/, 'has').replace(/^are\b/, 'is');
}
