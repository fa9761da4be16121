import type { Claim, Lane as LaneName, Settlement } from '../queue/queue.ts';
import type { Destination } from './destination.ts';
import { LaneHealth } from './health.ts';
import { DELIVERY_DEFAULTS } from './options.ts';
import { LanePace, paceOptionsOf } from './pace.ts';
import { runRound, type RoundContext, type RoundResult } from './round/round.ts';
import { backoffMs, settledDelivery, settleInQueue, settlementOf } from './settlement.ts';

/** What all lanes of an engine share. */
export interface LaneContext extends Omit<RoundContext, 'destination' | 'health'> {
  readonly random: () => number;
  /** How long to wait for what another process may add; undefined: no other process does. */
  readonly pollMs: number | undefined;
  /** The lane has become quiet. */
  readonly onQuiet: () => void;
}

/** Deliveries to a destination that is gone are settled, not sent. */
const GONE: Pick<Destination, 'delivery' | 'leaseMs'> = { delivery: DELIVERY_DEFAULTS, leaseMs: 30_000 };

/** The shortest time between two claims of a lane that is held back: deliveries that may begin until then are claimed together. */
const SHORTEST_WAIT_MS = 10;

/** One destination of one source: claims due deliveries, never more than may be in flight at once, and delivers each claim. */
export class LaneRunner {
  readonly #name: LaneName;
  readonly #context: LaneContext;
  /** Undefined: the destination is gone or disabled. */
  readonly #round: RoundContext | undefined;
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

  constructor(name: LaneName, destination: Destination | undefined, context: LaneContext) {
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

  /** The leases of claims in flight may have ended in the break; to claim then would deliver them a second time. */
  get #isAfterBreak(): boolean {
    return this.#inFlight + this.#settling > 0 && this.#claimedAt < this.#context.uninterruptedRun.since();
  }

  async #claimAll(): Promise<void> {
    this.#isClaiming = true;
    try {
      // A claim in flight wakes this lane when it ends.
      while (this.#mayHaveMore && this.#mayClaim && !this.#isAfterBreak) {
        this.#mayHaveMore = false;
        await this.#claimOnce();
      }
      this.#failures = 0;
    } catch (error) {
      this.#context.onEvent?.({ kind: 'error', during: 'claim', error, lane: this.#name });
      this.#wakeAt(this.#context.clock.now() + backoffMs(++this.#failures, this.#context.random()));
    }
    this.#isClaiming = false;
    this.#announceRest();
  }

  async #claimOnce(): Promise<void> {
    const { queue, clock, uninterruptedRun, pollMs = Infinity } = this.#context;
    const { source, destination } = this.#name;
    const limit = Math.min(this.#concurrency - this.#inFlight, this.#pace.allowance);
    if (limit < 1) return this.#wakeAt(Math.max(this.#pace.nextAllowedAt, clock.now() + SHORTEST_WAIT_MS));
    const isFirst = this.#claimedAt < uninterruptedRun.since();
    this.#claimedAt = clock.now();
    const { claims, nextDueAt } = await queue.claim({ source, destination, limit, leaseMs: this.#leaseMs });
    this.#isEmpty = nextDueAt === undefined;
    this.#inFlight += claims.length;
    if (isFirst && claims.length === limit && this.#hasPiledUp(claims)) this.#pace.startSlowly();
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
      if (claim.delivery.isDamaged) await this.#markDead(claim, 'damaged');
      else if (result === undefined || this.#round === undefined) await this.#markDead(claim, 'cancelled');
      else await this.#settleAfter(result, claim, this.#round.destination);
    } catch (error) {
      // A fault of this program. The delivery comes back when its lease ends.
      this.#context.onEvent?.({ kind: 'error', during: 'settle', error, delivery: claim.delivery });
    }
  }

  /** Marks a delivery dead that is not sent. */
  #markDead(claim: Claim, reason: 'cancelled' | 'damaged'): Promise<void> {
    const { progress } = claim.delivery;
    return this.#settle(claim, { state: 'dead', reason, progress });
  }

  #settleAfter(result: RoundResult, claim: Claim, destination: Destination): Promise<void> {
    const { clock, random, uninterruptedRun, onEvent } = this.#context;
    const { delivery } = claim;
    this.#pace.ended(result);
    if (result.outcome === 'broken') {
      onEvent?.({ kind: 'error', during: 'round', error: result.error, delivery });
    }
    const settlement = settlementOf(result, delivery, { destination, clock, random, uninterruptedRun });
    return this.#settle(claim, settlement, result);
  }

  /** Settles the claim. Without a settlement another process has it. */
  async #settle(
    claim: Claim,
    settlement: Settlement | undefined,
    { signature, signatures }: Partial<RoundResult> = {},
  ): Promise<void> {
    const { clock, onEvent } = this.#context;
    const isOurs = settlement !== undefined && (await this.#settleInQueue(claim, settlement));
    if (onEvent === undefined || isOurs === undefined) return;
    if (!isOurs) return onEvent({ kind: 'lost', delivery: claim.delivery });
    const delivery = settledDelivery(claim.delivery, settlement, clock.now());
    if (delivery.state === 'retrying') onEvent({ kind: 'rescheduled', delivery });
    else onEvent({ kind: 'settled', delivery, signature, signatures });
  }

  #settleInQueue(claim: Claim, settlement: Settlement): Promise<boolean | undefined> {
    // Deliveries that this one held back have not been claimed since.
    const onLate = (): void => this.wake();
    return settleInQueue({ claim, settlement, onLate }, this.#context);
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
