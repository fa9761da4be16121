import { expect } from 'vitest';
import { NO_PROGRESS, type DeliveryState } from '../../src/queue/delivery.ts';
import type { QueueInspection } from '../../src/queue/inspection.ts';
import type { Queue } from '../../src/queue/queue.ts';
import { openQueueFile } from '../stores/queue-file.ts';
import { LANE, newDelivery } from './new-delivery.ts';

export interface Opened {
  readonly queue: Queue;
  readonly inspection: QueueInspection;
}

const ALL: readonly DeliveryState[] = ['pending', 'sending', 'retrying', 'delivered', 'dead'];
const ATTEMPT = { at: 1, url: 'https://a.example/', round: 1, result: 'retryable', ms: 2 } as const;
const PROGRESS = { ...NO_PROGRESS, rounds: 2, firstAttemptAt: 5, attempts: [ATTEMPT] };
const TRACE = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
const RETRY_AT = Date.UTC(2100, 0, 1);
export const signal: AbortSignal = new AbortController().signal;

export const file = (): Promise<Opened> => openQueueFile();

/** A dead letter, an invalid message, a retry, a delivered one, and three with one order key. */
export async function fill({ queue }: Opened): Promise<void> {
  await queue.add([newDelivery('dead'), newDelivery('delivered'), newDelivery('retrying')]);
  const { claims } = await queue.claim({ ...LANE, limit: 3, leaseMs: 60_000 });
  for (const claim of claims) {
    const { id } = claim.delivery;
    if (id === 'dead') await queue.settle(claim, { state: 'dead', reason: 'exhausted', progress: PROGRESS });
    if (id === 'delivered') await queue.settle(claim, { state: 'delivered', progress: PROGRESS });
    if (id === 'retrying') {
      await queue.settle(claim, { state: 'retrying', dueAt: RETRY_AT, progress: PROGRESS });
    }
  }
  const dead = { state: 'dead', reason: 'invalid', detail: 'no event' } as const;
  await queue.add([newDelivery('invalid', { destination: '', ...dead })]);
  await queue.add(
    ['u1', 'u2', 'u3'].map((id, place) =>
      newDelivery(id, { orderKeys: ['u'], createdAt: place, trace: TRACE }),
    ),
  );
}

export async function idsIn({ inspection }: Opened, states = ALL): Promise<readonly string[]> {
  const { deliveries } = await inspection.list({ states, limit: 100 });
  return deliveries.map(({ id }) => id).toSorted();
}

export async function expectMoved(from: Opened, to: Opened): Promise<void> {
  expect(await idsIn(from)).toEqual(['delivered']);
  expect(await idsIn(to)).toEqual(['dead', 'invalid', 'retrying', 'u1', 'u2', 'u3']);
  expect(await to.inspection.get('dead')).toMatchObject({
    state: 'dead',
    reason: 'exhausted',
    progress: PROGRESS,
  });
  expect(await to.inspection.get('invalid')).toMatchObject({
    state: 'dead',
    reason: 'invalid',
    detail: 'no event',
  });
  expect(await to.inspection.get('retrying')).toMatchObject({
    state: 'retrying',
    dueAt: RETRY_AT,
    progress: PROGRESS,
  });
  for (const id of ['u1', 'u2', 'u3']) {
    const { claims } = await to.queue.claim({ ...LANE, limit: 10, leaseMs: 60_000 });
    expect(claims.map(({ delivery }) => [delivery.id, delivery.trace])).toEqual([[id, TRACE]]);
    for (const claim of claims) await to.queue.settle(claim, { state: 'delivered', progress: NO_PROGRESS });
  }
}
