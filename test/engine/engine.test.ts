import { describe, expect, it } from 'vitest';
import { sleep } from '../../src/clock.ts';
import { Engine } from '../../src/engine/engine.ts';
import { DELIVERY_DEFAULTS, type Sources } from '../../src/engine/options.ts';
import { ClosedError, ConfigError, QueueError } from '../../src/errors.ts';
import { MemoryQueue } from '../../src/stores/memory/memory-queue.ts';
import { FakeClock } from '../fake-clock.ts';
import { newDelivery } from '../queue/new-delivery.ts';
import {
  A,
  after,
  answer,
  B,
  entries,
  ENTRY,
  createHarness,
  startHarness,
  heldReceiver,
  oneSource,
} from './harness.ts';
import { randomFrom } from '../random.ts';

/** One source with two destinations of one webhook each. */
function twoDestinations(): Sources {
  const options = { enabled: true, sharedSecrets: [], delivery: { ...DELIVERY_DEFAULTS, concurrency: 2 } };
  return {
    web: {
      destinations: {
        Webhooks: { ...options, webhooks: [{ url: A, headers: {} }] },
        Backup: { ...options, webhooks: [{ url: B, headers: {} }] },
      },
    },
  };
}

describe('Engine', () => {
  it('names the destination of an invalid webhook', () => {
    const [clock, sources] = [new FakeClock(), oneSource(['ftp://a.example/'])];
    const { engine, queue } = createHarness(() => answer(200), { clock });
    const create = (): unknown =>
      new Engine({
        sources,
        queue,
        clock,
        transport: { send: () => Promise.reject(), close: () => engine.close() },
        userAgent: 'x/1',
      });
    expect(create).toThrow(ConfigError);
    expect(create).toThrow(
      expect.objectContaining({ key: 'sources.web.destinations.Webhooks.webhooks[0].url' }),
    );
  });

  it('rejects an empty secret instead of sending unsigned', () => {
    expect(() => createHarness(() => answer(200), { secrets: [''] })).toThrow(
      'Expected a shared secret, got an empty one',
    );
  });

  it('ignores the webhooks of a disabled destination', () => {
    const { web } = oneSource(['not a url']);
    const webhooks = web?.destinations['Webhooks'];
    if (webhooks === undefined) throw new Error('no destination');
    const sources = { web: { destinations: { Webhooks: { ...webhooks, enabled: false } } } };
    expect(() => createHarness(() => answer(200), { sources })).not.toThrow();
  });
});

describe('submit', () => {
  it('returns the deliveries of each message, in order, when they are queued', async () => {
    let count = 0;
    const { engine, queue } = createHarness(() => answer(200), {
      sources: twoDestinations(),
      newId: () => `id${count++}`,
    });
    const submitted = await engine.submit('web', [
      ENTRY,
      { ...ENTRY, integrations: { All: false } },
      { ...ENTRY, integrations: { Webhooks: false } },
    ]);
    expect(submitted).toEqual([
      {
        deliveries: [
          { id: 'id0', destination: 'Webhooks' },
          { id: 'id1', destination: 'Backup' },
        ],
      },
      { deliveries: [] },
      { deliveries: [{ id: 'id2', destination: 'Backup' }] },
    ]);
    const { claims } = await queue.claim({ source: 'web', destination: 'Backup', limit: 9, leaseMs: 1 });
    expect(claims.map(({ delivery }) => delivery.id)).toEqual(['id1', 'id2']);
  });

  it('gives every delivery a unique id, in every engine', async () => {
    const ids = await Promise.all(
      [0, 1].map(async () => {
        const { engine } = createHarness(() => answer(200));
        const submitted = await engine.submit('web', entries(1_000));
        return submitted.flatMap(({ deliveries }) => deliveries.map(({ id }) => id));
      }),
    );
    expect(new Set(ids.flat()).size).toBe(2_000);
  });

  it('rejects an unknown source and names the known ones', async () => {
    const { engine } = createHarness(() => answer(200));
    const error: unknown = await engine.submit('constructor', [ENTRY]).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ConfigError);
    expect(error).toMatchObject({
      message: 'Expected the name of a source, got "constructor"',
      hint: 'use one of the known sources: web',
    });
  });

  it('rejects when the queue cannot store deliveries, and continues', async () => {
    const harness = createHarness(() => answer(200));
    const add = harness.queue.add.bind(harness.queue);
    harness.queue.add = () => Promise.reject(new QueueError('The disk is full'));
    harness.engine.start();
    await expect(harness.engine.submit('web', [ENTRY])).rejects.toThrow('The disk is full');
    await harness.engine.idle();
    harness.queue.add = add;
    await harness.send();
    await harness.engine.idle();
    expect(harness.onlySettled().state).toBe('delivered');
  });

  it('only queues before the engine is started', async () => {
    const harness = createHarness(() => answer(200));
    await harness.sendAndAdvance(60_000);
    expect(harness.requests).toEqual([]);
    harness.engine.start();
    await harness.engine.idle();
    expect(harness.requests).toHaveLength(1);
  });

  it('rejects after close()', async () => {
    const { engine } = createHarness(() => answer(200));
    await engine.close();
    await expect(engine.submit('web', [ENTRY])).rejects.toThrow(ClosedError);
  });
});

describe('idle', () => {
  it('resolves at once when nothing was ever queued', async () => {
    const { engine } = startHarness(() => answer(200));
    await engine.idle();
  });

  it('waits for deliveries in flight and for retries', async () => {
    const harness = startHarness((request, turn) =>
      after(harness.clock, 100, request, answer(turn === 0 ? 503 : 200)),
    );
    await harness.send();
    let isIdle = false;
    const idle = harness.engine.idle().then(() => (isIdle = true));
    await harness.clock.advance(100);
    expect(isIdle).toBe(false);
    await harness.clock.advance(750);
    expect(isIdle).toBe(false);
    await harness.clock.advance(100);
    expect(isIdle).toBe(true);
    await idle;
  });

  it('resolves when the engine is closed', async () => {
    const harness = startHarness(() => answer(503));
    await harness.sendAndAdvance(0);
    const idle = harness.engine.idle();
    await harness.engine.close();
    await idle;
    await harness.engine.idle();
  });
});

describe('idle, with a slow queue', () => {
  it('waits for deliveries that are being added', async () => {
    const harness = createHarness(() => answer(200));
    const add = harness.queue.add.bind(harness.queue);
    harness.queue.add = async (deliveries) => {
      await sleep(harness.clock, 100);
      await add(deliveries);
    };
    harness.engine.start();
    await harness.clock.advance(0);
    const sent = harness.send();
    const idle = harness.engine.idle().then(() => harness.settled().length);
    await harness.clock.advance(100);
    expect(await idle).toBe(1);
    await sent;
  });

  it('does not wait for deliveries that could not be added', async () => {
    const harness = createHarness(() => answer(200));
    harness.queue.add = async () => {
      await sleep(harness.clock, 100);
      throw new QueueError('The disk is full');
    };
    harness.engine.start();
    await harness.clock.advance(0);
    const sent = expect(harness.send()).rejects.toThrow('The disk is full');
    const idle = harness.engine.idle();
    await harness.clock.advance(100);
    await idle;
    await sent;
  });

  it('waits until the queue has returned its lanes', async () => {
    const harness = createHarness(() => answer(200));
    await harness.queue.add([newDelivery('stray', { destination: 'Gone' })]);
    const lanes = harness.queue.lanes.bind(harness.queue);
    harness.queue.lanes = async () => {
      await sleep(harness.clock, 100);
      return lanes();
    };
    harness.engine.start();
    const idle = harness.engine.idle().then(() => harness.settled().length);
    await harness.clock.advance(100);
    expect(await idle).toBe(1);
  });

  it('waits while claims fail', async () => {
    const harness = startHarness(() => answer(200));
    await harness.engine.idle();
    const claim = harness.queue.claim.bind(harness.queue);
    harness.queue.claim = () => Promise.reject(new QueueError('database is locked'));
    await harness.sendAndAdvance(0);
    const idle = harness.engine.idle().then(() => harness.settled().length);
    harness.queue.claim = claim;
    await harness.clock.advance(1_000);
    expect(await idle).toBe(1);
  });
});

describe('concurrency', () => {
  it('is used completely, never exceeded, and separate for each destination', async () => {
    const held = heldReceiver();
    const harness = startHarness(
      (request, turn) => (request.url === A ? held.receiver(request, turn) : answer(200)),
      { sources: twoDestinations() },
    );
    await harness.engine.submit('web', entries(10));
    await harness.clock.advance(0);
    expect(held.waiting()).toBe(2);
    expect(harness.settled()).toHaveLength(10);
    for (let left = 10; left > 0; left--) {
      held.release(answer(200));
      await harness.clock.advance(0);
      expect(held.waiting()).toBe(Math.min(2, left - 1));
    }
    expect(harness.settled()).toHaveLength(20);
  });

  it('is not claimed when it is used up', async () => {
    const held = heldReceiver();
    const harness = createHarness(held.receiver, { delivery: { concurrency: 2 } });
    const limits: number[] = [];
    const claim = harness.queue.claim.bind(harness.queue);
    harness.queue.claim = (request) => {
      limits.push(request.limit);
      return claim(request);
    };
    harness.engine.start();
    for (let sent = 0; sent < 4; sent++) await harness.send();
    await harness.clock.advance(1_000);
    held.release(answer(200));
    await harness.clock.advance(1_000);
    expect(new Set(limits)).toEqual(new Set([2, 1]));
  });

  it('is freed by deliveries that wait for a retry', async () => {
    const harness = startHarness(({ body }) => answer(body.length === 1 ? 503 : 200), {
      delivery: { concurrency: 1 },
    });
    await harness.send({ body: new Uint8Array(1) });
    await harness.send({ body: new Uint8Array(2) });
    await harness.clock.advance(0);
    expect(harness.settled()).toHaveLength(1);
  });
});

describe('order keys', () => {
  it('hold back later deliveries with the same key during a retry, but no others', async () => {
    const harness = startHarness(({ body }, turn) => answer(body.length === 1 && turn < 4 ? 503 : 200));
    await harness.send({ orderKeys: ['u'], body: new Uint8Array(1) });
    await harness.send({ orderKeys: ['u'], body: new Uint8Array(2) });
    await harness.send({ orderKeys: ['v'], body: new Uint8Array(3) });
    await harness.clock.advance(60_000);
    expect(harness.settled().map(({ body }) => body.length)).toEqual([3, 1, 2]);
  });

  it('are released by a dead letter', async () => {
    const harness = startHarness(({ body }) => answer(body.length === 1 ? 404 : 200));
    await harness.send({ orderKeys: ['u'], body: new Uint8Array(1) });
    await harness.send({ orderKeys: ['u'], body: new Uint8Array(2) });
    await harness.clock.advance(0);
    expect(harness.settled().map(({ state, reason }) => reason ?? state)).toEqual(['rejected', 'delivered']);
  });

  it('keep the deliveries of each user in order during failures', async () => {
    const random = randomFrom(7);
    const harness = startHarness(
      (request) =>
        after(harness.clock, Math.ceil(random() * 50), request, answer(random() < 0.4 ? 503 : 200)),
      {
        random,
        delivery: { concurrency: 8 },
      },
    );
    const many = Array.from({ length: 200 }, (_, index) => ({
      ...ENTRY,
      messageId: String(index),
      orderKeys: index % 10 === 9 ? ['u0', 'u1'] : [`u${index % 4}`],
    }));
    await harness.engine.submit('web', many);
    await harness.clock.advance(3_600_000);
    expect(harness.settled()).toHaveLength(200);
    for (const key of ['u0', 'u1', 'u2', 'u3']) {
      const order = harness
        .settled()
        .filter(({ orderKeys }) => orderKeys.includes(key))
        .map(({ messageId }) => Number(messageId));
      expect(order).toEqual(order.toSorted((a, b) => a - b));
    }
  });
});

describe('a delivery whose destination is gone or disabled', () => {
  it('becomes a dead letter with the reason cancelled, without a request', async () => {
    const { web } = oneSource([A]);
    const webhooks = web?.destinations['Webhooks'];
    if (webhooks === undefined) throw new Error('no destination');
    const clock = new FakeClock();
    const queue = new MemoryQueue(clock);
    await queue.add([
      newDelivery('a', { destination: 'Gone' }),
      newDelivery('b', { source: 'gone' }),
      newDelivery('c', { destination: 'Off' }),
      newDelivery('d'),
    ]);
    const sources = { web: { destinations: { Webhooks: webhooks, Off: { ...webhooks, enabled: false } } } };
    const harness = startHarness(() => answer(200), { clock, queue, sources });
    await harness.engine.idle();
    expect(harness.requests).toHaveLength(1);
    const outcomes = harness.settled().map(({ id, state, reason }) => [id, reason ?? state]);
    expect(Object.fromEntries(outcomes)).toEqual({
      a: 'cancelled',
      b: 'cancelled',
      c: 'cancelled',
      d: 'delivered',
    });
  });

  it('stays in the queue if unknown lanes are left alone', async () => {
    const clock = new FakeClock();
    const queue = new MemoryQueue(clock);
    await queue.add([newDelivery('a', { destination: 'Gone' }), newDelivery('b')]);
    const harness = startHarness(() => answer(200), { clock, queue, unknownLanes: 'leave' });
    await harness.engine.idle();
    expect(harness.settled().map(({ id, state }) => [id, state])).toEqual([['b', 'delivered']]);
    expect(await queue.lanes()).toEqual([{ source: 'web', destination: 'Gone' }]);
  });
});
