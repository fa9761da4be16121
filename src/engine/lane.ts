import { backoffMs } from '../clock.ts';
import type { Delivery } from '../queue/delivery.ts';
import type { Claim, ClaimRequest, ClaimResult, LaneId, Settlement } from '../queue/queue.ts';
import { CatchUp } from './catch-up.ts';
import { GONE, type Destination } from './destination.ts';
import { LaneHealth } from './health.ts';
import { LanePace, paceOptionsOf } from './pace.ts';
import { LaneTimer } from './lane-timer.ts';
import type { LaneContext } from './lane-context.ts';
import type { RoundResult } from './round/round-result.ts';
import { runRound, type RoundContext } from './round/round.ts';
import { FAILURE_BACKOFF, settledDelivery, settleInQueue, settlementOf } from './settlement.ts';

interface NextClaim {
  readonly request: ClaimRequest;
  /** Whether this is the first claim since the process was last interrupted. */
  readonly isFirst: boolean;
}

/** Minimum milliseconds between two claims of a slowed lane: deliveries that may start meanwhile are claimed together. */
const SHORTEST_WAIT_MS = 10;

/** Minimum milliseconds between two claims for announced deliveries: those announced meanwhile are claimed together. */
const GATHER_MS = 7;

/** One destination of one source. Claims due deliveries, up to the concurrency of the destination, and delivers each. */
export class Lane {
  readonly #name: LaneId;
  readonly #context: LaneContext;
  /** Context of the rounds of the lane. Undefined if its destination is gone or disabled. */
  readonly #round: (RoundContext & LaneContext) | undefined;
  readonly #concurrency: number;
  readonly #leaseMs: number;
  readonly #pace: LanePace;
  #inFlight = 0;
  /** Number of claims whose round has ended and whose settlement the queue has not stored yet. */
  #settling = 0;
  #claimedAt = -Infinity;
  #isClaiming = false;
  readonly #catchUp: CatchUp;
  /** Whether a delivery may have become claimable since the last claim began. */
  #mayHaveMore = false;
  /** Whether the last claim found no unsettled delivery in the lane. */
  #isEmpty = false;
  /** Whether the last claim returned as many deliveries as its limit allows, so that more may be due. */
  #wasFull = true;
  /** Whether the last claim left deliveries that wait behind others of their order keys. */
  #hasHeld = true;
  /** Number of consecutive failed calls of `queue.claim`. */
  #failures = 0;
  readonly #timer: LaneTimer;
  #onDone: (() => void) | undefined;
  readonly #onLate = (): void => this.wake();

  constructor(name: LaneId, destination: Destination | undefined, context: LaneContext) {
    this.#name = name;
    this.#context = context;
    const { delivery, leaseMs } = destination ?? GONE;
    this.#concurrency = delivery.concurrency;
    this.#leaseMs = leaseMs;
    this.#timer = new LaneTimer(context, () => {
      this.#mayHaveMore = true;
      if (!this.#isClaiming) void this.#claimAll();
    });
    this.#catchUp = new CatchUp({ ...context, lane: name, wake: () => this.wake() });
    this.#pace = new LanePace(paceOptionsOf(delivery), context.clock);
    const health = destination && LaneHealth.of(destination, context.clock);
    this.#round = destination && health && { ...context, destination, health };
  }

  /** Whether the lane has no delivery: none waits, and none is in flight. */
  get isQuiet(): boolean {
    return this.#isEmpty && this.#isAtRest;
  }

  /** Must be called whenever a delivery may have become claimable. */
  wake(): void {
    this.#isEmpty = false;
    this.#mayHaveMore = true;
    // After a failed claim, only the timer claims again, so that a failing queue is not called too often.
    if (!this.#isClaiming && this.#failures === 0 && this.#mayClaim) void this.#claimAll();
  }

  /** Must be called when another process has added deliveries. Claims now, or GATHER_MS after the last claim. */
  wakeSoon(): void {
    const at = this.#claimedAt + GATHER_MS;
    if (at <= this.#context.clock.now()) this.wake();
    else if (!this.#mayClaim) this.#mayHaveMore = true;
    else if (this.#failures === 0) this.#timer.setFor(at);
  }

  /** Resolves when nothing is in flight. After `stopping` is aborted, this takes as long as the attempts in flight. */
  async close(): Promise<void> {
    this.#timer.cancel();
    if (this.#isAtRest) return;
    await new Promise<void>((resolve) => {
      this.#onDone = resolve;
    });
  }

  get #isAtRest(): boolean {
    return this.#inFlight === 0 && this.#settling === 0 && !this.#isClaiming && !this.#catchUp.isRunning;
  }

  get #mayClaim(): boolean {
    // Stops claiming while the queue is slow to store settlements.
    const hasRoom = this.#inFlight < this.#concurrency && this.#settling < this.#concurrency;
    return hasRoom && !this.#context.stopping.aborted;
  }

  async #claimAll(): Promise<void> {
    this.#isClaiming = true;
    try {
      // Claims until the concurrency is used up; then a delivery that ends wakes this lane.
      while (this.#mayHaveMore && this.#mayClaim) {
        const next = this.#nextClaim();
        if (next === undefined) break;
        const result = this.#context.queue.claim(next.request);
        this.#startRounds(result instanceof Promise ? await result : result, next);
      }
      this.#failures = 0;
    } catch (error) {
      this.#context.onEvent?.({ kind: 'error', during: 'claim', error, lane: this.#name });
      this.#timer.setFor(
        this.#context.clock.now() + backoffMs(FAILURE_BACKOFF, ++this.#failures, this.#context.random()),
      );
    }
    this.#isClaiming = false;
    this.#announceRest();
  }

  /** Returns the next claim to make. Undefined if the lane must not claim before it is woken. */
  #nextClaim(): NextClaim | undefined {
    const { clock, uninterruptedRun } = this.#context;
    const now = clock.now();
    const isFirst = this.#claimedAt < uninterruptedRun.since(now);
    // Leases of deliveries in flight may have ended in the interruption: a claim now could return these deliveries again.
    if (isFirst && this.#inFlight + this.#settling > 0) return undefined;
    this.#mayHaveMore = false;
    const limit = Math.min(this.#concurrency - this.#inFlight, this.#pace.allowance(now));
    if (limit < 1) {
      this.#timer.setFor(Math.max(this.#pace.nextAllowedAt, now + SHORTEST_WAIT_MS));
      return undefined;
    }
    this.#claimedAt = now;
    const { source, destination } = this.#name;
    return { request: { source, destination, limit, leaseMs: this.#leaseMs }, isFirst };
  }

  #startRounds({ claims, nextDueAt, hasHeld = true }: ClaimResult, { request, isFirst }: NextClaim): void {
    const { clock, uninterruptedRun, pollMs = Infinity } = this.#context;
    this.#isEmpty = nextDueAt === undefined;
    this.#wasFull = claims.length === request.limit;
    this.#hasHeld = hasHeld;
    this.#inFlight += claims.length;
    if (isFirst && claims.length === request.limit && this.#hasPiledUp(claims)) this.#pace.startSlowly();
    else this.#pace.begun(claims.length);
    // If the process was interrupted during the claim, another process may have these deliveries by now.
    const isFresh = uninterruptedRun.since() <= this.#claimedAt;
    for (const claim of claims) void this.#deliver(claim, isFresh);
    // Sets no timer if the concurrency is used up: then the lane claims again when the first delivery ends.
    if (this.#mayClaim) this.#timer.setFor(Math.min(nextDueAt ?? Infinity, clock.now() + pollMs));
  }

  /** Whether all claims became due before this process started or resumed. False for a lane that only cancels deliveries. */
  #hasPiledUp(claims: readonly Claim[]): boolean {
    // The `dueAt` of a new delivery is rounded down: it can be up to a millisecond before this process started or resumed.
    const until = this.#context.uninterruptedRun.since() - 1;
    return this.#round !== undefined && claims.every(({ delivery }) => delivery.dueAt < until);
  }

  /**
   * Sends a claimed delivery and settles it. Never rejects. After a success, the lane claims again in the same turn, without
   * waiting for the settlement. After a failure, the lane first waits for the settlement, because a listener may then stop
   * the engine, and nothing must be claimed after that.
   */
  async #deliver(claim: Claim, isFresh: boolean): Promise<void> {
    const isSent = this.#round !== undefined && claim.delivery.isDamaged === undefined;
    const result = isSent ? await runRound(claim, this.#round, { isFresh }) : undefined;
    this.#inFlight--;
    this.#settling++;
    const hasFailed = result !== undefined && result.outcome !== 'delivered';
    const claimsNext = hasFailed || this.#hasMore(claim);
    try {
      const settlement = this.#settlementOf(claim, result);
      // Without a settlement, another process has the claim. After a late settlement, `onLate` wakes the lane: the order
      // keys of the delivery no longer hold other deliveries back.
      const settled =
        settlement !== undefined &&
        settleInQueue({ claim, settlement, claimsNext, onLate: this.#onLate }, this.#context);
      if (!hasFailed && claimsNext) this.wake();
      const isOurs = settled instanceof Promise ? await settled : settled;
      if (isOurs !== undefined) this.#announce(claim.delivery, isOurs ? settlement : undefined, result);
    } catch (error) {
      // Only a bug in this program leads here. The delivery is claimed again when its lease ends.
      this.#context.onEvent?.({ kind: 'error', during: 'settle', error, delivery: claim.delivery });
    }
    // A listener may add a delivery in the microtask after a settlement. Until then, the engine must not count as idle.
    if (this.#inFlight === 0) await Promise.resolve();
    this.#settling--;
    if (hasFailed || this.#mayHaveMore) this.wake();
    this.#announceRest();
  }

  /** Whether a delivery may be claimable now that a claim has ended, even if no process adds one. */
  #hasMore({ delivery }: Claim): boolean {
    return !this.#context.isWatched || this.#wasFull || (this.#hasHeld && delivery.orderKeys.length > 0);
  }

  /** Returns the settlement of a delivery after its round, or of a delivery that is not sent. */
  #settlementOf({ delivery }: Claim, result: RoundResult | undefined): Settlement | undefined {
    if (result === undefined || this.#round === undefined) {
      const reason = delivery.isDamaged ? 'damaged' : 'cancelled';
      return { state: 'dead', reason, progress: delivery.progress };
    }
    if (this.#pace.ended(result)) void this.#catchUp.run().then(() => this.#announceRest());
    if (result.outcome === 'broken') {
      this.#context.onEvent?.({ kind: 'error', during: 'round', error: result.error, delivery });
    }
    return settlementOf(result, delivery, this.#round);
  }

  /** Reports the settlement to the listener. `settlement` is undefined if another process has the claim. */
  #announce(
    delivery: Delivery,
    settlement: Settlement | undefined,
    { signature, signatures }: Partial<RoundResult> = {},
  ): void {
    const { clock, onEvent } = this.#context;
    if (onEvent === undefined) return;
    if (settlement === undefined) return onEvent({ kind: 'lost', delivery });
    const settled = settledDelivery(delivery, settlement, clock.now());
    if (settled.state === 'retrying') onEvent({ kind: 'rescheduled', delivery: settled });
    else onEvent({ kind: 'settled', delivery: settled, signature, signatures });
  }

  #announceRest(): void {
    if (this.#isAtRest) this.#onDone?.();
    if (this.isQuiet) this.#context.onQuiet();
  }
}
