import { backoffMs } from '../clock.ts';
import type { Delivery } from '../queue/delivery.ts';
import type { Claim, ClaimRequest, ClaimResult, LaneId, Settlement } from '../queue/queue.ts';
import type { Destination } from './destination.ts';
import { LaneHealth } from './health.ts';
import { DELIVERY_DEFAULTS } from './options.ts';
import { LanePace, paceOptionsOf } from './pace.ts';
import type { RoundResult } from './round/round-result.ts';
import { runRound, type RoundContext } from './round/round.ts';
import { FAILURE_BACKOFF, settledDelivery, settleInQueue, settlementOf } from './settlement.ts';

/** Context that all lanes of an engine have in common. */
export interface LaneContext extends Omit<RoundContext, 'destination' | 'health'> {
  readonly random: () => number;
  /** Milliseconds between two looks for deliveries of other processes. Undefined if there are no other processes. */
  readonly pollMs?: number;
  /** Called when the lane has nothing in flight and nothing waits. */
  readonly onQuiet: () => void;
}

interface NextClaim {
  readonly request: ClaimRequest;
  /** Whether this is the first claim since the process was last interrupted. */
  readonly isFirst: boolean;
}

/** Settings for a destination that is gone: its deliveries are settled without being sent. */
const GONE: Pick<Destination, 'delivery' | 'leaseMs'> = { delivery: DELIVERY_DEFAULTS, leaseMs: 30_000 };

/** Shortest time between two claims of a slowed lane, so that deliveries that may start in this time are claimed together. */
const SHORTEST_WAIT_MS = 10;

/** One destination of one source. Claims due deliveries, up to the concurrency of the destination, and delivers each. */
export class Lane {
  readonly #name: LaneId;
  readonly #context: LaneContext;
  /** Undefined if the destination is gone or disabled. */
  readonly #round: (RoundContext & LaneContext) | undefined;
  readonly #concurrency: number;
  readonly #leaseMs: number;
  readonly #pace: LanePace;
  #inFlight = 0;
  /** Claims whose round has ended and whose settlement the queue has not stored yet. */
  #settling = 0;
  #claimedAt = -Infinity;
  #isClaiming = false;
  /** Whether a delivery may have become claimable since the last claim began. */
  #mayHaveMore = false;
  /** Whether the last claim found no unsettled delivery in the lane. */
  #isEmpty = false;
  /** Consecutive claims that the queue has failed. */
  #failures = 0;
  #timer: { readonly at: number; readonly cancel: () => void } | undefined;
  #onDone: (() => void) | undefined;
  readonly #onLate = (): void => this.wake();

  constructor(name: LaneId, destination: Destination | undefined, context: LaneContext) {
    this.#name = name;
    this.#context = context;
    const { delivery, leaseMs } = destination ?? GONE;
    this.#concurrency = delivery.concurrency;
    this.#leaseMs = leaseMs;
    this.#pace = new LanePace(paceOptionsOf(delivery), context.clock);
    this.#round = destination && { ...context, destination, health: healthOf(destination, context) };
  }

  /** Whether nothing waits and nothing is in flight. */
  get isQuiet(): boolean {
    return this.#isEmpty && this.#isAtRest;
  }

  /** Must be called whenever a delivery may have become claimable. */
  wake(): void {
    this.#isEmpty = false;
    this.#mayHaveMore = true;
    // After a failure of the queue, only the timer claims again.
    if (!this.#isClaiming && this.#failures === 0 && this.#mayClaim) void this.#claimAll();
  }

  /** Resolves when nothing is in flight. After `stopping` is aborted, this takes as long as the attempts in flight. */
  async close(): Promise<void> {
    this.#cancelTimer();
    if (this.#isAtRest) return;
    await new Promise<void>((resolve) => {
      this.#onDone = resolve;
    });
  }

  get #isAtRest(): boolean {
    return this.#inFlight === 0 && this.#settling === 0 && !this.#isClaiming;
  }

  get #mayClaim(): boolean {
    // A queue that is slow to store settlements gets no further claims.
    const hasRoom = this.#inFlight < this.#concurrency && this.#settling < this.#concurrency;
    return hasRoom && !this.#context.stopping.aborted;
  }

  async #claimAll(): Promise<void> {
    this.#isClaiming = true;
    try {
      // If the concurrency is used up, a delivery that ends wakes this lane.
      while (this.#mayHaveMore && this.#mayClaim) {
        const next = this.#nextClaim();
        if (next === undefined) break;
        this.#startRounds(await this.#context.queue.claim(next.request), next);
      }
      this.#failures = 0;
    } catch (error) {
      this.#context.onEvent?.({ kind: 'error', during: 'claim', error, lane: this.#name });
      this.#wakeAt(
        this.#context.clock.now() + backoffMs(FAILURE_BACKOFF, ++this.#failures, this.#context.random()),
      );
    }
    this.#isClaiming = false;
    this.#announceRest();
  }

  /** Returns undefined if the lane must not claim before it is woken. */
  #nextClaim(): NextClaim | undefined {
    const { clock, uninterruptedRun } = this.#context;
    const now = clock.now();
    const isFirst = this.#claimedAt < uninterruptedRun.since(now);
    // The leases of claims in flight may have ended in the interruption: a claim now would deliver them
    // twice.
    if (isFirst && this.#inFlight + this.#settling > 0) return undefined;
    this.#mayHaveMore = false;
    const limit = Math.min(this.#concurrency - this.#inFlight, this.#pace.allowance(now));
    if (limit < 1) {
      this.#wakeAt(Math.max(this.#pace.nextAllowedAt, now + SHORTEST_WAIT_MS));
      return undefined;
    }
    this.#claimedAt = now;
    const { source, destination } = this.#name;
    return { request: { source, destination, limit, leaseMs: this.#leaseMs }, isFirst };
  }

  #startRounds({ claims, nextDueAt }: ClaimResult, { request, isFirst }: NextClaim): void {
    const { clock, uninterruptedRun, pollMs = Infinity } = this.#context;
    this.#isEmpty = nextDueAt === undefined;
    this.#inFlight += claims.length;
    if (isFirst && claims.length === request.limit && this.#hasPiledUp(claims)) this.#pace.startSlowly();
    else this.#pace.begun(claims.length);
    // If the process was interrupted during the claim, another process may have these deliveries by now.
    const isFresh = uninterruptedRun.since() <= this.#claimedAt;
    for (const claim of claims) void this.#deliver(claim, isFresh);
    // When the concurrency is used up, the first delivery that ends claims again.
    if (this.#mayClaim) this.#wakeAt(Math.min(nextDueAt ?? Infinity, clock.now() + pollMs));
  }

  /** Whether the deliveries became due while no process delivered. Cancelled deliveries do not count. */
  #hasPiledUp(claims: readonly Claim[]): boolean {
    // Queues store whole milliseconds.
    const until = this.#context.uninterruptedRun.since() - 1;
    return this.#round !== undefined && claims.every(({ delivery }) => delivery.dueAt < until);
  }

  /** Sets the timer. A timer for an earlier time stays, because one needless claim costs less than resetting it each time. */
  #wakeAt(at: number): void {
    if (at === Infinity || this.#context.stopping.aborted) return this.#cancelTimer();
    if (this.#timer !== undefined && this.#timer.at <= at) return;
    this.#cancelTimer();
    const { clock } = this.#context;
    const cancel = clock.after(Math.max(1, Math.ceil(at - clock.now())), () => {
      this.#timer = undefined;
      this.#mayHaveMore = true;
      if (!this.#isClaiming) void this.#claimAll();
    });
    this.#timer = { at, cancel };
  }

  #cancelTimer(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  /**
   * Never rejects. After a success, the lane claims the next delivery in the same turn as the settlement, without waiting
   * for it. After a failure it waits, since a listener may stop the engine, and then nothing must be claimed.
   */
  async #deliver(claim: Claim, isFresh: boolean): Promise<void> {
    const isSent = this.#round !== undefined && claim.delivery.isDamaged === undefined;
    const result = isSent ? await runRound(claim, this.#round, { isFresh }) : undefined;
    this.#inFlight--;
    this.#settling++;
    const hasFailed = result !== undefined && result.outcome !== 'delivered';
    const settled = this.#conclude(claim, result);
    if (!hasFailed) this.wake();
    await settled;
    this.#settling--;
    if (hasFailed || this.#mayHaveMore) this.wake();
    this.#announceRest();
  }

  /** Settles the claim, with or without a round. Never rejects. */
  async #conclude(claim: Claim, result: RoundResult | undefined): Promise<void> {
    try {
      const settlement = this.#settlementOf(claim, result);
      // If there is no settlement, another process has the claim. After a late settlement, `onLate` wakes the
      // lane: deliveries with the same order keys have become claimable.
      const isOurs =
        settlement !== undefined &&
        (await settleInQueue({ claim, settlement, onLate: this.#onLate }, this.#context));
      if (isOurs !== undefined) this.#announce(claim.delivery, isOurs ? settlement : undefined, result);
    } catch (error) {
      // A bug of this program. The delivery is claimed again when its lease ends.
      this.#context.onEvent?.({ kind: 'error', during: 'settle', error, delivery: claim.delivery });
    }
  }

  /** Returns the settlement of a delivery after its round, or of a delivery that is not sent. */
  #settlementOf({ delivery }: Claim, result: RoundResult | undefined): Settlement | undefined {
    if (result === undefined || this.#round === undefined) {
      const reason = delivery.isDamaged ? 'damaged' : 'cancelled';
      return { state: 'dead', reason, progress: delivery.progress };
    }
    this.#pace.ended(result);
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

function healthOf({ webhooks, delivery }: Destination, { clock }: LaneContext): LaneHealth {
  return new LaneHealth(
    webhooks.map(({ key }) => key),
    delivery.health.failures,
    clock,
  );
}
