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

/** What all lanes of an engine share. */
export interface LaneContext extends Omit<RoundContext, 'destination' | 'health'> {
  readonly random: () => number;
  /** How long to wait for what another process may add; undefined: no other process does. */
  readonly pollMs: number | undefined;
  /** The lane has become quiet. */
  readonly onQuiet: () => void;
}

interface NextClaim {
  readonly request: ClaimRequest;
  /** The first since the process was last interrupted. */
  readonly isFirst: boolean;
}

/** Deliveries to a destination that is gone are settled, not sent. */
const GONE: Pick<Destination, 'delivery' | 'leaseMs'> = { delivery: DELIVERY_DEFAULTS, leaseMs: 30_000 };

/** The shortest time between two claims of a lane that is held back: deliveries that may begin until then are claimed together. */
const SHORTEST_WAIT_MS = 10;

/** One destination of one source: claims due deliveries, never more than may be in flight at once, and delivers each claim. */
export class Lane {
  readonly #name: LaneId;
  readonly #context: LaneContext;
  /** Undefined: the destination is gone or disabled. */
  readonly #round: (RoundContext & LaneContext) | undefined;
  readonly #concurrency: number;
  readonly #leaseMs: number;
  readonly #pace: LanePace;
  #inFlight = 0;
  /** Claims whose round is over and not yet in the queue. */
  #settling = 0;
  #claimedAt = -Infinity;
  #isClaiming = false;
  /** Something may have become claimable since the last claim was begun. */
  #mayHaveMore = false;
  /** The last claim found that nothing is left. */
  #isEmpty = false;
  /** How many claims in a row the queue has failed. */
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

  /** Nothing waits and nothing is in flight. */
  get isQuiet(): boolean {
    return this.#isEmpty && this.#isAtRest;
  }

  /** To be called whenever something may have become claimable. */
  wake(): void {
    this.#isEmpty = false;
    this.#mayHaveMore = true;
    // A queue that fails is left alone until the timer.
    if (!this.#isClaiming && this.#failures === 0 && this.#mayClaim) void this.#claimAll();
  }

  /** Resolves when nothing is in flight. Once `stopping` is aborted, that takes as long as the attempts that are. */
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
    // A queue that is slow to take what has ended is given no more to hold.
    const hasRoom = this.#inFlight < this.#concurrency && this.#settling < this.#concurrency;
    return hasRoom && !this.#context.stopping.aborted;
  }

  async #claimAll(): Promise<void> {
    this.#isClaiming = true;
    try {
      // A claim in flight wakes this lane when it ends.
      while (this.#mayHaveMore && this.#mayClaim) {
        const next = this.#nextClaim();
        if (next === undefined) break;
        this.#begin(await this.#context.queue.claim(next.request), next);
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

  /** Undefined: nothing may be claimed until this lane is woken. */
  #nextClaim(): NextClaim | undefined {
    const { clock, uninterruptedRun } = this.#context;
    const now = clock.now();
    const isFirst = this.#claimedAt < uninterruptedRun.since(now);
    // The leases of claims in flight may have ended in the break; to claim now would deliver them a second time.
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

  /** Begins to deliver what was claimed. */
  #begin({ claims, nextDueAt }: ClaimResult, { request, isFirst }: NextClaim): void {
    const { clock, uninterruptedRun, pollMs = Infinity } = this.#context;
    this.#isEmpty = nextDueAt === undefined;
    this.#inFlight += claims.length;
    if (isFirst && claims.length === request.limit && this.#hasPiledUp(claims)) this.#pace.startSlowly();
    else this.#pace.begun(claims.length);
    // A claim that came late may belong to another process by now.
    const isFresh = uninterruptedRun.since() <= this.#claimedAt;
    for (const claim of claims) void this.#deliver(claim, isFresh);
    // When all places are taken, the first that becomes free looks again.
    if (this.#mayClaim) this.#wakeAt(Math.min(nextDueAt ?? Infinity, clock.now() + pollMs));
  }

  /** Whether the claims were due while no process delivered; cancelled ones do not count. */
  #hasPiledUp(claims: readonly Claim[]): boolean {
    // Times in a queue are cut to milliseconds.
    const until = this.#context.uninterruptedRun.since() - 1;
    return this.#round !== undefined && claims.every(({ delivery }) => delivery.dueAt < until);
  }

  /** A timer that is set for an earlier time is left: one look too many costs less than setting it again each time. */
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
   * Never rejects. What takes its place is claimed with its settlement: waiting for that first would cost a turn more. But
   * after a failure it waits, since a listener may stop the engine on a failure, and then nothing takes its place.
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

  /** Settles the claim after its round, or without one. Never rejects. */
  async #conclude(claim: Claim, result: RoundResult | undefined): Promise<void> {
    try {
      const settlement = this.#settlementOf(claim, result);
      // Without one another process has it. `onLate`: deliveries that this one held back have not been claimed since.
      const isOurs =
        settlement !== undefined &&
        (await settleInQueue({ claim, settlement, onLate: this.#onLate }, this.#context));
      if (isOurs !== undefined) this.#announce(claim.delivery, isOurs ? settlement : undefined, result);
    } catch (error) {
      // A problem of this program. The delivery comes back when its lease ends.
      this.#context.onEvent?.({ kind: 'error', during: 'settle', error, delivery: claim.delivery });
    }
  }

  /** What to tell the queue of a delivery after its round, or of one that is not sent. */
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

  /** @param settlement undefined: the claim was lost to another process. */
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
