import type { AttemptTrace } from '../../message/trace-context.ts';
import { withRound, type Progress } from '../../queue/delivery.ts';
import type { Claim } from '../../queue/queue.ts';
import type { AttemptResult } from './attempt-result.ts';
import { signedBody, toRecord, toRequest, toResult, traceOf, type SignedBody } from './attempt.ts';
import { isFailedResponse } from './classify.ts';
import { symptomOf } from '../health.ts';
import { remainingWebhooks, roundsSoFar, withAttempt } from './progress.ts';
import type { RoundContext } from './round-context.ts';
import type { RoundResult } from './round-result.ts';
import { isLastRound, windowEndOf, type RoundsSoFar } from './schedule.ts';
import type { Webhook } from '../webhook.ts';

export type { RoundContext } from './round-context.ts';

/**
 * Tries each webhook that has not rejected the delivery, until one accepts it. Never rejects.
 * @param isFresh Whether the claim was just made, so that its first attempt needs no renewal.
 */
export function runRound(
  claim: Claim,
  context: RoundContext,
  { isFresh }: { readonly isFresh: boolean },
): Promise<RoundResult> {
  return new Round(claim, context, isFresh).run();
}

class Round {
  readonly #beganAt: number;
  #progress: Progress;
  /** The body of the last attempt with its signature. Undefined before the first attempt. */
  #signed: SignedBody | undefined;
  readonly #claim: Claim;
  readonly #context: RoundContext;
  /** Whether to ignore the end of the retry window: in a first round, or if it ended while this process did not run. */
  readonly #isWhole: boolean;
  /** Whether the lease was just set, so that the next attempts need no renewal. */
  #isFresh: boolean;

  constructor(claim: Claim, context: RoundContext, isFresh: boolean) {
    const { delivery } = claim;
    this.#beganAt = context.clock.now();
    this.#claim = claim;
    this.#context = context;
    this.#isFresh = isFresh;
    this.#progress = withRound(delivery.progress, this.#beganAt);
    const isFirst = delivery.progress.firstAttemptAt === undefined;
    this.#isWhole = isFirst || this.#windowEnd < context.uninterruptedRun.since();
  }

  get #soFar(): RoundsSoFar {
    return roundsSoFar(this.#progress, this.#context, this.#beganAt);
  }

  /** The end of the retry window. Computed each time, because it moves when the clock is set forward. */
  get #windowEnd(): number {
    return windowEndOf(this.#soFar);
  }

  get #isLast(): boolean {
    return isLastRound(this.#soFar);
  }

  /** Runs the round. Never rejects. */
  async run(): Promise<RoundResult> {
    const { destination, queue, stopping } = this.#context;
    const before = this.#claim.delivery.progress;
    try {
      let untried = this.#webhooksToTry();
      // Undoes the count of the round if all webhooks have rejected the delivery, or none may be tried yet.
      if (untried.length === 0) this.#progress = before;
      while (untried.length > 0) {
        if (stopping.aborted) return this.#interrupted(before);
        const isOurs = this.#isFresh || (await queue.renew(this.#claim, this.#progress, destination.leaseMs));
        if (!isOurs) return this.#endedAs('lost');
        this.#isFresh = false;
        if (this.#isOver()) {
          this.#uncountUnlessTried(before);
          break;
        }
        const wave = this.#nextWave(untried);
        const [only, ...others] = wave;
        // Tries a single webhook without the promises of `#tryAll`, because most rounds have only one.
        const isOne = only !== undefined && others.length === 0;
        const results = isOne ? [await this.#try(only)] : await this.#tryAll(wave);
        if (results.some(({ result }) => result === 'delivered')) return this.#endedAs('delivered');
        if (this.#wasCut(results)) return this.#interrupted(before);
        untried = untried.filter((webhook) => !wave.includes(webhook));
      }
      const isRejected = remainingWebhooks(destination.webhooks, this.#progress).length === 0;
      return this.#endedAs(isRejected ? 'rejected' : 'open');
    } catch (error) {
      return { ...this.#endedAs('open'), outcome: 'broken', error };
    }
  }

  #endedAs(outcome: Exclude<RoundResult['outcome'], 'broken'>): RoundResult {
    return {
      outcome,
      beganAt: this.#beganAt,
      progress: this.#progress,
      signature: this.#signed?.signature,
      signatures: this.#signed?.signatures,
    };
  }

  /**
   * Returns the webhooks to try, without those whose `Retry-After` has not passed. The last round tries the latter too,
   * after the others, so that it tries at least one.
   */
  #webhooksToTry(): readonly Webhook[] {
    const { notBefore } = this.#progress;
    const all = remainingWebhooks(this.#context.destination.webhooks, this.#progress);
    const isResting = ({ key }: Webhook): boolean => (notBefore[key] ?? 0) > this.#beganAt;
    if (!all.some(isResting)) return all;
    const open = all.filter((webhook) => !isResting(webhook));
    return this.#isLast ? [...open, ...all.filter(isResting)] : open;
  }

  /** Returns the webhooks to try next: one, or all with `broadcast`. Unhealthy ones come last, except in the last round. */
  #nextWave(untried: readonly Webhook[]): readonly Webhook[] {
    if (untried.length === 1) return untried;
    const { destination, health } = this.#context;
    const healthy = this.#isLast ? untried : untried.filter(({ key }) => !health.isSkipped(key));
    const candidates = healthy.length === 0 ? untried : healthy;
    return destination.delivery.strategy === 'broadcast' ? candidates : candidates.slice(0, 1);
  }

  #isOver(): boolean {
    return !this.#isWhole && this.#context.clock.now() > this.#windowEnd;
  }

  /** Waits for all attempts, so that each is recorded even if this program fails in one of them. */
  async #tryAll(wave: readonly Webhook[]): Promise<readonly AttemptResult[]> {
    const settled = await Promise.allSettled(wave.map((webhook) => this.#try(webhook)));
    return settled.map((each) => {
      if (each.status === 'rejected') throw each.reason;
      return each.value;
    });
  }

  async #try(webhook: Webhook): Promise<AttemptResult> {
    const { destination, health, transport, clock, aborting, loadCauses } = this.#context;
    const { delivery, secrets } = destination;
    const isTrial = health.begin(webhook.key);
    const trace = traceOf(webhook, this.#claim.delivery, delivery);
    let result: AttemptResult | undefined;
    try {
      const attempt = { at: Math.floor(clock.now()), webhook, signed: this.#sign(), trace };
      const response = await transport.send(toRequest(attempt, delivery, aborting));
      const causes = isFailedResponse(response) ? await loadCauses?.() : undefined;
      result = toResult(response, attempt, { clock, secrets, causes });
    } finally {
      const symptom = result === undefined ? 'none' : symptomOf(result);
      health.end(webhook.key, { symptom, isTrial });
    }
    this.#record(webhook, result, trace);
    return result;
  }

  /** Signs the body for an attempt that begins now. */
  #sign(): SignedBody {
    const { destination, clock, headersOfBody } = this.#context;
    const { body, messageId } = this.#claim.delivery;
    const unsigned = { body, messageId, received: headersOfBody?.(body) };
    return (this.#signed = signedBody(unsigned, clock.now(), destination));
  }

  #record(webhook: Webhook, result: AttemptResult, trace: AttemptTrace | undefined): void {
    const record = toRecord(result, webhook, { round: this.#progress.rounds, trace });
    this.#progress = withAttempt(this.#progress, webhook, {
      result,
      record,
      notBefore: this.#notBefore(result),
    });
    this.#context.onEvent?.({
      kind: 'attempt',
      delivery: this.#claim.delivery,
      attempt: record,
      signature: this.#signed?.signature,
    });
  }

  /** Returns the end of the wait for `Retry-After`, at most the end of the retry window. 0 without the header. */
  #notBefore(result: AttemptResult): number {
    if (result.result !== 'retryable' || result.retryAfterMs === undefined) return 0;
    return Math.min(Math.ceil(this.#context.clock.now() + result.retryAfterMs), this.#windowEnd);
  }

  /**
   * Whether `Engine.abort()` ended one of the attempts. An attempt that is `aborted` for another reason counts as a failure:
   * otherwise its delivery would be tried forever.
   */
  #wasCut(results: readonly AttemptResult[]): boolean {
    const { aborting } = this.#context;
    return (
      aborting.aborted && results.some((each) => each.result === 'retryable' && each.error === 'aborted')
    );
  }

  /** Does not count the round if the retry window ended before any webhook was tried. */
  #uncountUnlessTried({ rounds, attempts }: Progress): void {
    if (this.#progress.attempts.length === attempts.length) this.#progress = { ...this.#progress, rounds };
  }

  /** Returns the result of an interrupted round. The round is not counted, since this would lengthen the next wait. */
  #interrupted(before: Progress): RoundResult {
    const hasTried = this.#progress.attempts.length > before.attempts.length;
    this.#progress = hasTried ? { ...this.#progress, rounds: before.rounds } : before;
    return this.#endedAs('interrupted');
  }
}
