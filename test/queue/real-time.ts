import { setTimeout as wait } from 'node:timers/promises';
import { systemClock } from '../../src/clock.ts';
import type { Progress } from '../../src/queue/delivery.ts';
import type { Claim, ClaimResult, ClaimRequest, LaneId, Queue, Settlement } from '../../src/queue/queue.ts';
import type { TestClock } from './conformance.ts';

const TURN_MS = 25;
/** How often to repeat a claim that found nothing: the second one notices an ended lease. */
const TURNS = 6;

/** Real time, in whole milliseconds. */
export function realClock(): TestClock {
  return {
    ...systemClock,
    now: () => Math.floor(systemClock.now()),
    advance: async (ms) => {
      for (const until = systemClock.now() + ms; systemClock.now() < until;) {
        await wait(Math.min(TURN_MS, Math.max(1, until - systemClock.now())));
      }
    },
  };
}

/** Claims several times before it reports that nothing is claimable. */
export class PatientQueue implements Queue {
  readonly #queue: Queue;

  constructor(queue: Queue) {
    this.#queue = queue;
  }

  async claim(request: ClaimRequest): Promise<ClaimResult> {
    let answer = await this.#queue.claim(request);
    for (let turn = 0; turn < TURNS && answer.claims.length === 0; turn++) {
      if (answer.nextDueAt === undefined) break;
      await wait(TURN_MS);
      answer = await this.#queue.claim(request);
    }
    return answer;
  }

  add(...args: Parameters<Queue['add']>): ReturnType<Queue['add']> {
    return this.#queue.add(...args);
  }

  renew(claim: Claim, progress: Progress, leaseMs: number): Promise<boolean> {
    return this.#queue.renew(claim, progress, leaseMs);
  }

  async settle(claim: Claim, settlement: Settlement): Promise<boolean> {
    return this.#queue.settle(claim, settlement);
  }

  lanes(): Promise<readonly LaneId[]> {
    return this.#queue.lanes();
  }

  watch(onAdded: (lane: LaneId) => void): () => void {
    return this.#queue.watch?.(onAdded) ?? (() => {});
  }

  close(): Promise<void> {
    return this.#queue.close();
  }
}
