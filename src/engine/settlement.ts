import { backoffMs, sleep, type Backoff } from '../clock.ts';
import { copyDelivery, type Delivery } from '../queue/delivery.ts';
import type { Claim, Settlement } from '../queue/queue.ts';
import { remainingWebhooks, roundsSoFar } from './round/progress.ts';
import type { RoundResult } from './round/round-result.ts';
import type { RoundContext } from './round/round.ts';
import { isLateRoundOwed, nextRoundAt, ROUND_BACKOFF } from './round/schedule.ts';

type SettlementContext = Pick<RoundContext, 'destination' | 'clock' | 'uninterruptedRun'> & {
  readonly random: () => number;
};

/** Returns the settlement of a round. Undefined if the claim was lost to another process. */
export function settlementOf(
  result: RoundResult,
  delivery: Delivery,
  context: SettlementContext,
): Settlement | undefined {
  const { outcome, progress } = result;
  switch (outcome) {
    case 'delivered':
      return { state: 'delivered', progress };
    case 'rejected':
      return { state: 'dead', reason: 'rejected', progress };
    case 'open':
    case 'broken':
      return retryOrGiveUp(result, context);
    case 'interrupted':
      // An unchanged `dueAt` keeps the place of the delivery in the queue.
      return { state: 'retrying', dueAt: delivery.dueAt, progress };
    case 'lost':
      return undefined;
    default:
      return outcome satisfies never;
  }
}

function retryOrGiveUp({ progress, beganAt }: RoundResult, context: SettlementContext): Settlement {
  const { clock, random, uninterruptedRun } = context;
  const { webhooks, delivery } = context.destination;
  const left = remainingWebhooks(webhooks, progress);
  const now = clock.now();
  const soFar = roundsSoFar(progress, context, now);
  const dueAt = nextRoundAt({
    ...soFar,
    random: random(),
    notBefore: left.map(({ key }) => progress.notBefore[key] ?? 0),
    roundMs: delivery.strategy === 'fallback' ? (left.length - 1) * delivery.timeoutMs : 0,
  });
  if (dueAt !== undefined) return { state: 'retrying', dueAt: Math.ceil(dueAt), progress };
  if (isLateRoundOwed(soFar, beganAt, uninterruptedRun.since())) {
    return { state: 'retrying', dueAt: Math.ceil(now), progress };
  }
  return { state: 'dead', reason: 'exhausted', progress };
}

/** Returns the delivery after the settlement. */
export function settledDelivery(delivery: Delivery, settlement: Settlement, now: number): Delivery {
  if (settlement.state === 'retrying') return { ...delivery, ...settlement };
  const settledAt = Math.floor(now);
  if (settlement.state === 'dead') return { ...delivery, ...settlement, settledAt };
  const settled = copyDelivery(delivery);
  settled.state = settlement.state;
  settled.progress = settlement.progress;
  settled.settledAt = settledAt;
  return settled;
}

interface EndedClaim {
  readonly claim: Claim;
  readonly settlement: Settlement;
  readonly claimsNext: boolean;
  readonly onLate: () => void;
}

type SettleInQueueContext = Pick<RoundContext, 'queue' | 'clock' | 'stopping' | 'onEvent'> & {
  readonly random: () => number;
};

/**
 * Settles a claim, and tries again until the queue accepts it: a delivery without its settlement would be sent again.
 * Calls `onLate` if the first try failed. Undefined if the engine stopped first; no promise if the queue settles
 * synchronously.
 */
export function settleInQueue(
  ended: EndedClaim,
  context: SettleInQueueContext,
): Promise<boolean | undefined> | boolean {
  const { claim, settlement, claimsNext } = ended;
  const isOurs = context.queue.settle(claim, settlement, { claimsNext });
  return typeof isOurs === 'boolean' ? isOurs : settleUntilAccepted(isOurs, ended, context);
}

async function settleUntilAccepted(
  first: Promise<boolean>,
  { claim, settlement, claimsNext, onLate }: EndedClaim,
  { queue, clock, random, stopping, onEvent }: SettleInQueueContext,
): Promise<boolean | undefined> {
  for (let failures = 1; ; failures++) {
    try {
      const isOurs = await (failures === 1 ? first : queue.settle(claim, settlement, { claimsNext }));
      if (failures > 1) onLate();
      return isOurs;
    } catch (error) {
      onEvent?.({ kind: 'error', during: 'settle', error, delivery: claim.delivery });
    }
    if (stopping.aborted) return undefined;
    await sleep(clock, backoffMs(FAILURE_BACKOFF, failures, random()), stopping);
  }
}

/** The waits between retries after this program or its queue failed. */
export const FAILURE_BACKOFF: Backoff = { ...ROUND_BACKOFF, longestMs: 30_000 };
