import { createHmac } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { QueueError } from '../../../src/errors.ts';
import { DELIVERY_DEFAULTS } from '../../../src/engine/options.ts';
import type { Outcome } from '../../../src/app/pipeline/outcomes.ts';
import { createDeliveryPipeline } from '../../../src/app/pipeline/delivery-pipeline.ts';
import { MemoryQueue } from '../../../src/stores/memory/memory-queue.ts';
import type { Queue } from '../../../src/queue/queue.ts';
import { after, answer, failure } from '../../engine/harness.ts';
import { FakeClock } from '../../fake-clock.ts';
import { collectUncaught } from '../../uncaught.ts';
import { A, B, deliver, fakeTransport, isPending, setUp, sourceWith } from '../set-up.ts';

const message = { type: 'track', timestamp: '2026-01-01T00:00:00.000Z' } as const;

describe('a delivered message', () => {
  it('resolves with its attempt and its signature', async () => {
    const sources = sourceWith({ Webhooks: { url: A, sharedSecrets: ['s', 'older'] } });
    const { send, transport } = setUp(() => answer(204), { sources });
    const outcome = await send('m1');
    const [request] = transport.requests;
    const signature = createHmac('sha1', 's')
      .update(request?.body ?? '')
      .digest('hex');
    expect(outcome).toEqual({
      messageId: 'm1',
      outcome: 'delivered',
      destinations: [
        {
          name: 'Webhooks',
          outcome: 'delivered',
          attempts: [expect.objectContaining({ url: A, status: 204, round: 1, ms: 7 })],
          signature,
        },
      ],
    });
    expect(request?.headers.slice(-2)).toEqual(['X-Signature', signature]);
  });
});

describe('a message that is not delivered', () => {
  it('is failed with the reason when its retry window is over', async () => {
    const delivery = { ...DELIVERY_DEFAULTS, retryForMs: 1_000 };
    const { send, clock } = setUp(() => failure('refused'), {
      sources: sourceWith({ Webhooks: { url: A, delivery } }),
    });
    const outcome = send('m1');
    await clock.advance(2_000);
    expect(await outcome).toMatchObject({
      outcome: 'failed',
      destinations: [
        {
          outcome: 'failed',
          reason: 'exhausted',
          attempts: [{ error: 'refused', detail: 'it was refused' }, {}],
        },
      ],
    });
  });

  it('is failed with the error of the queue if it cannot be queued', async () => {
    const queue = new MemoryQueue(new FakeClock());
    queue.add = () => Promise.reject(new QueueError('the disk is full'));
    const { send } = setUp(() => answer(200), { queue });
    expect(await send('m1')).toEqual({
      messageId: 'm1',
      outcome: 'failed',
      destinations: [],
      refusal: { code: 'queue', reason: 'the disk is full' },
    });
  });
});

describe('a message to several destinations', () => {
  it('is delivered when every destination accepted it', async () => {
    const { send } = setUp(() => answer(200), { sources: sourceWith({ One: A, Two: B }) });
    const { outcome, destinations } = await send('m1');
    expect([outcome, destinations.map(({ name }) => name)]).toEqual(['delivered', ['One', 'Two']]);
  });

  it('is failed when one destination did not accept it', async () => {
    const { send } = setUp(({ url }) => answer(url === A ? 200 : 410), {
      sources: sourceWith({ One: A, Two: B }),
    });
    expect(await send('m1')).toMatchObject({
      outcome: 'failed',
      destinations: [
        { name: 'One', outcome: 'delivered' },
        { name: 'Two', outcome: 'failed', attempts: [{ status: 410 }] },
      ],
    });
  });

  it('waits for the slowest destination', async () => {
    for (const slow of [A, B]) {
      const { send, clock } = setUp(
        (request) => (request.url === slow ? after(clock, 1_000, request, answer(200)) : answer(200)),
        { sources: sourceWith({ One: A, Two: B }) },
      );
      const outcome = send('m1');
      expect(await isPending(outcome)).toBe(true);
      await clock.advance(1_000);
      expect(await outcome).toMatchObject({ outcome: 'delivered' });
    }
  });

  it('goes to the destinations that its integrations allow', async () => {
    const { send, transport } = setUp(() => answer(200), { sources: sourceWith({ One: A, Two: B }) });
    const { outcome, destinations } = await send('m1', { integrations: { One: false } });
    expect([outcome, destinations.map(({ name }) => name)]).toEqual(['delivered', ['Two']]);
    expect(transport.requests.map(({ url }) => url)).toEqual([B]);
  });
});

it('the outcome is known if a delivery is settled before its submit resolves', async () => {
  const inner = new MemoryQueue(new FakeClock());
  const gate = new EventEmitter();
  const queue: Queue = Object.assign(Object.create(inner) as Queue, {
    add: async (deliveries: Parameters<Queue['add']>[0]) => {
      await inner.add(deliveries);
      // The second message is claimed, sent and settled while its add() is still pending.
      if (deliveries[0]?.messageId === 'm2') await once(gate, 'open');
    },
    claim: (request: Parameters<Queue['claim']>[0]) => inner.claim(request),
    renew: (...given: Parameters<Queue['renew']>) => inner.renew(...given),
    settle: (...[claim, settlement]: Parameters<Queue['settle']>) => inner.settle(claim, settlement),
    lanes: () => inner.lanes(),
    close: () => inner.close(),
  });
  const { send, transport, clock } = setUp(
    (request) => (transport.requests.length === 1 ? after(clock, 100, request, answer(200)) : answer(200)),
    { queue },
  );
  const first = send('m1');
  await isPending(first);
  const second = send('m2', { userId: 'other' });
  await clock.advance(100);
  expect(await first).toMatchObject({ outcome: 'delivered' });
  expect(transport.requests).toHaveLength(2);
  expect(await isPending(second)).toBe(true);
  gate.emit('open');
  expect(await second).toMatchObject({
    outcome: 'delivered',
    destinations: [{ attempts: [{ status: 200 }] }],
  });
});

describe('an interruption', () => {
  it('finishes the attempt in flight and leaves other messages unsent', async () => {
    const { pipeline, send, clock, transport } = setUp((request) => after(clock, 100, request, answer(200)));
    const outcomes = [send('m1'), send('m2')];
    await isPending(outcomes[0] ?? Promise.resolve());
    const interrupted = pipeline.interrupt(1_000);
    await clock.advance(100);
    await interrupted;
    expect(await Promise.all(outcomes)).toMatchObject([
      { messageId: 'm1', outcome: 'delivered' },
      { messageId: 'm2', outcome: 'unsent' },
    ]);
    expect(transport.requests).toHaveLength(1);
    expect(transport.isClosed()).toBe(true);
  });

  it('aborts an attempt after the grace time and reports its attempts', async () => {
    const { pipeline, send, clock } = setUp((request) => after(clock, 4_000, request, answer(200)));
    const outcome = send('m1');
    await isPending(outcome);
    const interrupted = pipeline.interrupt(1_000);
    await clock.advance(1_000);
    await interrupted;
    expect(await outcome).toMatchObject({
      outcome: 'unsent',
      destinations: [{ outcome: 'unsent', attempts: [{ error: 'aborted' }] }],
    });
  });

  it('does not wait for a round that is due later', async () => {
    const { pipeline, send, clock } = setUp(() => answer(503));
    const outcome = send('m1');
    await isPending(outcome);
    await pipeline.interrupt(1_000);
    expect(await outcome).toMatchObject({
      outcome: 'unsent',
      destinations: [{ attempts: [{ status: 503 }] }],
    });
    expect(clock.pendingTimers).toBe(0);
  });

  it('leaves a message in the queue unsent', async () => {
    const { pipeline } = setUp(() => answer(200));
    const outcome = pipeline.deliver({ message: { ...message, messageId: 'm1' } });
    await pipeline.interrupt(0);
    expect(await outcome).toMatchObject({ messageId: 'm1', outcome: 'unsent' });
  });
});

describe('close', () => {
  it('flushes, waits for every delivery and releases sockets and timers', async () => {
    const { pipeline, transport, clock } = setUp((_request, turn) => answer(turn === 0 ? 503 : 200));
    const outcome = pipeline.deliver({ message });
    const closed = pipeline.close();
    expect(await isPending(closed)).toBe(true);
    await clock.advance(5_000);
    await closed;
    expect(await outcome).toMatchObject({ outcome: 'delivered' });
    expect([transport.isClosed(), clock.pendingTimers]).toEqual([true, 0]);
  });

  it('delivers messages that callbacks add while it waits', async () => {
    const { pipeline, clock } = setUp((request) => after(clock, 100, request, answer(200)), {
      sources: sourceWith({ Webhooks: { url: A, delivery: { ...DELIVERY_DEFAULTS, concurrency: 1 } } }),
    });
    const late: Promise<Outcome>[] = [];
    pipeline.deliverThen({ message }, () => {
      for (const messageId of ['m1', 'm2']) late.push(pipeline.deliver({ message, messageId }));
    });
    const closed = pipeline.close();
    await clock.advance(300);
    await closed;
    expect((await Promise.all(late)).at(-1)).toMatchObject({ messageId: 'm2', outcome: 'delivered' });
  });
});

describe('a full pipeline', () => {
  const client = { flushAt: 1, maxQueued: 1, whenFull: 'throw' } as const;
  const track = { userId: 'u', event: 'E' };

  it('throws until an accepted message is settled at every destination', async () => {
    const { pipeline, clock } = setUp(
      (request) => after(clock, request.url === A ? 100 : 200, request, answer(200)),
      { client, sources: sourceWith({ One: A, Two: B }) },
    );
    expect(await pipeline.client.track(track)).toMatchObject({ accepted: true });
    await clock.advance(150);
    expect(() => pipeline.client.track(track)).toThrow(QueueError);
    await clock.advance(50);
    expect(await pipeline.client.track(track)).toMatchObject({ accepted: true });
    expect(() => pipeline.deliver({ message: { type: 'track', timestamp: '' } })).toThrow(QueueError);
    await clock.advance(200);
  });

  it('frees the room of a message before its outcome', async () => {
    const { send } = setUp(() => answer(200), { client });
    for (const id of ['m1', 'm2', 'm3']) expect(await send(id)).toMatchObject({ outcome: 'delivered' });
    expect(await send('m4', { integrations: { All: false } })).toMatchObject({ outcome: 'filtered' });
    expect(await send('m5')).toMatchObject({ outcome: 'delivered' });
  });

  it('does not count messages in a given queue', async () => {
    const { pipeline } = setUp(() => answer(503), { client, queue: new MemoryQueue(new FakeClock()) });
    for (let count = 0; count < 3; count++) {
      expect(await pipeline.client.track(track)).toMatchObject({ accepted: true });
    }
  });

  it('gives waiting calls their receipts when it is interrupted', async () => {
    const { pipeline, clock } = setUp(() => answer(503), { client: { flushAt: 1, maxQueued: 1 } });
    const receipts = Promise.all([pipeline.client.track(track), pipeline.client.track(track)]);
    await clock.advance(0);
    const closed = pipeline.close();
    expect(await isPending(closed)).toBe(true);
    await pipeline.interrupt(0);
    await closed;
    expect(await receipts).toMatchObject([{ accepted: true }, { accepted: false, code: 'closed' }]);
  });
});

function failing({ messageId }: Outcome): void {
  throw new Error(`of ${messageId}`);
}

describe('a callback that throws', () => {
  it('leads to an uncaught exception, and the listener still gets all events', async () => {
    const caught = collectUncaught();
    const kinds: string[] = [];
    const { pipeline } = setUp(() => answer(200), { onEvent: ({ kind }) => kinds.push(kind) });
    pipeline.deliverThen({ message, messageId: 'm1' }, failing);
    await pipeline.close();
    expect(kinds).toEqual(['attempt', 'settled']);
    expect(caught).toEqual([new Error('of m1')]);
  });

  it('leaves other outcomes intact at an interruption', async () => {
    const caught = collectUncaught();
    const { pipeline, clock } = setUp(() => answer(503));
    pipeline.deliverThen({ message, messageId: 'm1' }, failing);
    const other = deliver(pipeline, 'm2');
    await clock.advance(0);
    await pipeline.interrupt(0);
    expect(await other).toMatchObject({ outcome: 'unsent' });
    expect(caught).toEqual([new Error('of m1')]);
  });
});

it('a delivery pipeline accepts webhooks and a secret without sources', async () => {
  const transport = fakeTransport(() => answer(200));
  const pipeline = createDeliveryPipeline({ webhooks: [A], sharedSecret: 's', transport });
  void pipeline.client.track({ userId: 'u', event: 'E' });
  await pipeline.close();
  expect(transport.requests[0]?.headers).toContain('X-Signature');
});

it('an undefined option gets its default', async () => {
  const transport = fakeTransport(() => answer(200));
  const delivery = { timeoutMs: undefined } as unknown as { timeoutMs: number }; // JavaScript callers can pass undefined
  const pipeline = createDeliveryPipeline({ webhooks: [A], delivery, transport });
  void pipeline.client.track({ userId: 'u', event: 'E' });
  await pipeline.close();
  expect(transport.requests[0]?.timeoutMs).toBe(DELIVERY_DEFAULTS.timeoutMs);
});
