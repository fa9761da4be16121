import { sleep } from '../clock.ts';
import type { Claim, Lane as LaneName, Settlement } from '../queue/queue.ts';
import type { Destination } from './destination.ts';
import { LaneHealth } from './health.ts';
import { runRound, type RoundContext, type RoundResult } from './round.ts';
import { backoffMs, settledDelivery, settlementOf } from './settlement.ts';

/** What all lanes of an engine share. */
export interface LaneContext extends Omit<RoundContext, 'destination' | 'health'> {
  readonly random: () => number;
  /** How long to wait for what another process may add; undefined: nobody else does. */
  readonly pollMs: number | undefined;
  /** The lane has become quiet. */
  readonly onQuiet: () => void;
}

/** Deliveries to a destination that is gone are settled, not sent. */
const GONE = { concurrency: 32, leaseMs: 30_000 };

/** One destination of one source: claims what is due, never more than may be under way at once, and sees each claim through. */
export class Lane {
  readonly #name: LaneName;
  readonly #context: LaneContext;
  /** Undefined: the destination is gone or disabled. */
  readonly #round: RoundContext | undefined;
  readonly #concurrency: number;
  readonly #leaseMs: number;
  #underWay = 0;
  #isClaiming = false;
  /** Something may have become claimable since the last claim was begun. */
  #mayHaveMore = false;
  /** The last claim found that nothing is left. */
  #isEmpty = false;
  /** Of the queue, in a row. */
  #failures = 0;
  #timer: { readonly at: number; readonly cancel: () => void } | undefined;
  #onDone: (() => void) | undefined;

  constructor(name: LaneName, destination: Destination | undefined, context: LaneContext) {
    this.#name = name;
    this.#context = context;
    this.#concurrency = destination?.delivery.concurrency ?? GONE.concurrency;
    this.#leaseMs = destination?.leaseMs ?? GONE.leaseMs;
    this.#round = destination && { ...context, destination, health: healthOf(destination, context) };
  }

  /** Nothing waits and nothing is under way. */
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

  /** Resolves when nothing is under way. Once `stopping` is aborted, that takes as long as the attempts that are. */
  async close(): Promise<void> {
    this.#cancelTimer();
    if (this.#isAtRest) return;
    await new Promise<void>((resolve) => {
      this.#onDone = resolve;
    });
  }

  get #isAtRest(): boolean {
    return this.#underWay === 0 && !this.#isClaiming;
  }

  get #mayClaim(): boolean {
    return this.#underWay < this.#concurrency && !this.#context.stopping.aborted;
  }

  async #claimAll(): Promise<void> {
    this.#isClaiming = true;
    try {
      while (this.#mayHaveMore && this.#mayClaim) {
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
    const { queue, clock, pollMs = Infinity } = this.#context;
    const { source, destination } = this.#name;
    const limit = this.#concurrency - this.#underWay;
    const { claims, nextDueAt } = await queue.claim({ source, destination, limit, leaseMs: this.#leaseMs });
    this.#isEmpty = nextDueAt === undefined;
    this.#underWay += claims.length;
    for (const claim of claims) void this.#seeThrough(claim);
    // With all places taken, the first to become free looks again.
    if (this.#mayClaim) this.#wakeAt(Math.min(nextDueAt ?? Infinity, clock.now() + pollMs));
  }

  /** A timer that is set for an earlier time is left: to look once too often costs less than to set it anew each time. */
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

  /** Never rejects. */
  async #seeThrough(claim: Claim): Promise<void> {
    try {
      if (this.#round === undefined) await this.#cancel(claim);
      else await this.#conclude(claim, await runRound(claim, this.#round), this.#round.destination);
    } catch (error) {
      // A fault of this program. The delivery comes back when its lease ends.
      this.#context.onEvent?.({ kind: 'error', during: 'settle', error, delivery: claim.delivery });
    }
    this.#underWay--;
    this.wake();
    this.#announceRest();
  }

  async #cancel(claim: Claim): Promise<void> {
    const { progress } = claim.delivery;
    await this.#settle(claim, { state: 'dead', reason: 'cancelled', progress }, undefined);
  }

  async #conclude(claim: Claim, result: RoundResult, destination: Destination): Promise<void> {
    const { clock, random, onEvent } = this.#context;
    const { delivery } = claim;
    if (result.outcome === 'broken') {
      onEvent?.({ kind: 'error', during: 'round', error: result.error, delivery });
    }
    const settlement = settlementOf(result, delivery, { destination, now: clock.now(), random });
    if (settlement === undefined) onEvent?.({ kind: 'lost', delivery });
    else await this.#settle(claim, settlement, result.signature);
  }

  async #settle(claim: Claim, settlement: Settlement, signature: string | undefined): Promise<void> {
    const { clock, onEvent } = this.#context;
    const isOurs = await this.#settleInQueue(claim, settlement);
    if (onEvent === undefined || isOurs === undefined) return;
    if (!isOurs) return onEvent({ kind: 'lost', delivery: claim.delivery });
    const delivery = settledDelivery(claim.delivery, settlement, clock.now());
    if (delivery.state === 'retrying') onEvent({ kind: 'rescheduled', delivery });
    else onEvent({ kind: 'settled', delivery, signature });
  }

  /**
   * Tries until the queue takes it: what was delivered and not settled would be delivered again. Undefined: we were told
   * to stop before it did.
   */
  async #settleInQueue(claim: Claim, settlement: Settlement): Promise<boolean | undefined> {
    const { queue, clock, random, stopping, onEvent } = this.#context;
    for (let failures = 1; ; failures++) {
      try {
        return await queue.settle(claim, settlement);
      } catch (error) {
        onEvent?.({ kind: 'error', during: 'settle', error, delivery: claim.delivery });
      }
      if (stopping.aborted) return undefined;
      await sleep(clock, backoffMs(failures, random()), stopping);
    }
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
