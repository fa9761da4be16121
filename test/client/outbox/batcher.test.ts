import { describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/clock.ts';
import { createClient } from '../../../src/client/client.ts';
import { resolveClientOptions } from '../../../src/client/options.ts';
import type { Receipt, Sink } from '../../../src/client/sink.ts';
import type { OutgoingMessage } from '../../../src/message/outgoing-message.ts';
import { QueueError } from '../../../src/errors.ts';
import { FakeClock } from '../../fake-clock.ts';
import { collectUncaught } from '../../uncaught.ts';
import { RecordingSink } from '../recording-sink.ts';
import { send, setUp, track } from '../set-up.ts';

describe('a batch', () => {
  it('is sent at flushAt messages, in the order of the calls', async () => {
    const { client, sink } = setUp({ flushAt: 3 });
    await send(client, ['a', 'b', 'c', 'd', 'e', 'f']);
    expect(sink.ids).toEqual([
      ['a', 'b', 'c'],
      ['d', 'e', 'f'],
    ]);
  });

  it('is sent when flushAfterMs has passed since the last flush', async () => {
    const { client, sink, clock } = setUp({ flushAt: 3, flushAfterMs: 1_000 });
    await clock.advance(400);
    void send(client, ['a', 'b']);
    await clock.advance(599);
    expect(sink.ids).toEqual([]);
    await clock.advance(1);
    expect(sink.ids).toEqual([['a', 'b']]);
    void send(client, ['c', 'd', 'e']);
    void send(client, ['f']);
    await clock.advance(999);
    expect(sink.ids).toEqual([
      ['a', 'b'],
      ['c', 'd', 'e'],
    ]);
    await clock.advance(1);
    expect(sink.ids.at(-1)).toEqual(['f']);
  });

  it('is sent at once after an idle time, with all calls of one turn', async () => {
    const { client, sink, clock } = setUp({ flushAfterMs: 1_000 });
    await clock.advance(60_000);
    void send(client, ['a', 'b']);
    await clock.advance(0);
    expect(sink.ids).toEqual([['a', 'b']]);
  });

  it('that waits for its flush keeps the process alive', async () => {
    const client = createClient({
      sink: new RecordingSink(),
      clock: systemClock,
      options: resolveClientOptions(),
    });
    const before = timers();
    void client.track(track('a'));
    expect(timers()).toBe(before + 1);
    await client.close();
    expect(timers()).toBe(before);
  });

  it('leaves no timer when it is full', async () => {
    const { client, clock } = setUp({ flushAt: 2 });
    expect(clock.pendingTimers).toBe(0);
    void send(client, ['a']);
    expect(clock.pendingTimers).toBe(1);
    await send(client, ['b']);
    expect(clock.pendingTimers).toBe(0);
  });

  it('is cut before its body exceeds 500,000 bytes of UTF-8', async () => {
    const { client, sink } = setUp({ flushAt: 1_000 });
    // Each has 30,000 bytes in two-byte characters: sixteen fit, seventeen would have 510,000.
    const ids = Array.from({ length: 20 }, (_, index) => `m${index}`);
    for (const messageId of ids) {
      void client.track({ ...track(messageId), properties: { text: 'é'.repeat(15_000) } });
    }
    await client.flush();
    expect(sink.ids.map((batch) => batch.length)).toEqual([16, 4]);
    expect(sink.ids.flat()).toEqual(ids);
  });

  it('continues to fill while the sink is busy', async () => {
    const sink = new RecordingSink({ hold: true });
    const { client, clock } = setUp({ flushAt: 3, flushAfterMs: 10 }, sink);
    void send(client, ['a']);
    await clock.advance(10);
    void send(client, ['b']);
    await clock.advance(10);
    void send(client, ['c']);
    await clock.advance(10);
    expect(sink.ids).toEqual([['a']]);
    sink.release();
    await clock.advance(0);
    expect(sink.ids).toEqual([['a'], ['b', 'c']]);
  });

  it('waits for the previous batch, unless the sink accepts several in flight', async () => {
    for (const maxInFlight of [1, 3]) {
      const sink = new RecordingSink({ hold: true, maxInFlight });
      const { client, clock } = setUp({ flushAt: 1 }, sink);
      void send(client, ['a', 'b', 'c', 'd', 'e']);
      for (let index = 0; index < 5; index++) {
        await clock.advance(0);
        sink.release();
      }
      await client.flush();
      expect(sink.mostInFlight).toBe(maxInFlight);
      expect(sink.ids.flat()).toEqual(['a', 'b', 'c', 'd', 'e']);
    }
  });
});

describe('flush', () => {
  it('resolves when every call so far has its receipt, and does not wait for later ones', async () => {
    const sink = new RecordingSink({ hold: true, maxInFlight: 2 });
    const { client, clock } = setUp({}, sink);
    let [flushed, receipts] = [false, 0];
    for (const id of ['a', 'b']) void client.track(track(id)).then(() => receipts++);
    void client.flush().then(() => (flushed = true));
    void send(client, ['later']);
    void client.flush();
    await clock.advance(0);
    expect(sink.ids).toEqual([['a', 'b'], ['later']]);
    expect(flushed).toBe(false);
    sink.release();
    await clock.advance(0);
    expect([flushed, receipts]).toEqual([true, 2]);
  });

  it('waits for an earlier batch that ends last', async () => {
    const sink = new RecordingSink({ hold: true, maxInFlight: 2 });
    const { client, clock } = setUp({ flushAt: 1 }, sink);
    let flushed = false;
    void send(client, ['a', 'b']);
    void client.flush().then(() => (flushed = true));
    await clock.advance(0);
    sink.release(1);
    await clock.advance(0);
    expect(flushed).toBe(false);
    sink.release();
    await clock.advance(0);
    expect(flushed).toBe(true);
  });

  it('resolves at once if no message is queued or in flight', async () => {
    const { client, sink } = setUp();
    await client.flush();
    void send(client, ['a']);
    await client.flush();
    await client.flush();
    expect(sink.ids).toEqual([['a']]);
  });

  it('leaves later messages in full batches', async () => {
    const sink = new RecordingSink({ hold: true, maxInFlight: 8 });
    const { client, clock } = setUp({ flushAt: 3 }, sink);
    void send(client, ['a']);
    const flushed = client.flush();
    await clock.advance(0);
    void send(client, ['b', 'c', 'd']);
    await clock.advance(0);
    expect(sink.ids).toEqual([['a'], ['b', 'c', 'd']]);
    sink.release();
    await flushed;
  });
});

describe('a callback that throws', () => {
  it('leads to an uncaught exception, but other messages get their receipts and the room is freed', async () => {
    const caught = collectUncaught();
    const { client, sink } = setUp({ flushAt: 2, maxQueued: 2 });
    const message = { type: 'track', timestamp: '2026-01-01T00:00:00.000Z' } as const;
    const failing = (messageId: string): void =>
      client.enqueueThen({ message, messageId }, () => {
        throw new Error(`of ${messageId}`);
      });
    failing('a');
    const others = send(client, ['b']);
    failing('c');
    await client.flush();
    expect(await others).toMatchObject([{ accepted: true, messageId: 'b' }]);
    await client.ready();
    await client.close();
    expect([sink.ids, sink.closed]).toEqual([[['a', 'b'], ['c']], 1]);
    expect(caught).toEqual([new Error('of a'), new Error('of c')]);
  });
});

describe('a full client', () => {
  it('lets calls wait and takes them in order when room is freed', async () => {
    const sink = new RecordingSink({ hold: true });
    const { client, clock } = setUp({ flushAt: 2, maxQueued: 4 }, sink);
    const receipts: string[] = [];
    for (const id of ['a', 'b', 'c', 'd', 'e', 'f', 'g']) {
      void client.track(track(id)).then(({ messageId }) => receipts.push(messageId));
    }
    await clock.advance(0);
    expect(sink.ids).toEqual([['a', 'b']]);
    for (let index = 0; index < 4; index++) {
      sink.release();
      await clock.advance(0);
    }
    // The last message waits for a full batch or its flush.
    expect(receipts).toEqual(['a', 'b', 'c', 'd', 'e', 'f']);
    const flushed = client.flush();
    sink.release();
    await clock.advance(0);
    sink.release();
    await flushed;
    expect(receipts.at(-1)).toBe('g');
  });

  it('flushes if maxQueued is below flushAt, since nothing else would free room', async () => {
    const { client, sink } = setUp({ flushAt: 20, maxQueued: 2 });
    const receipts = ['a', 'b', 'c'].map((id) => client.track(track(id)));
    await Promise.all(receipts.slice(0, 2));
    expect(sink.ids).toEqual([['a', 'b']]);
  });

  it('flushes for a loop that awaits ready()', async () => {
    const { client, sink, clock } = setUp({ flushAt: 20, maxQueued: 2 });
    const began = clock.now();
    for (const id of ['a', 'b', 'c', 'd', 'e']) {
      await client.ready();
      void client.track(track(id));
    }
    expect(sink.ids).toEqual([
      ['a', 'b'],
      ['c', 'd'],
    ]);
    expect(clock.now()).toBe(began);
  });

  it("throws with a hint if whenFull is 'throw', and accepts calls again later", async () => {
    const sink = new RecordingSink({ hold: true });
    const { client } = setUp({ flushAt: 1, maxQueued: 2, whenFull: 'throw' }, sink);
    void send(client, ['a', 'b']);
    const refused = (): unknown => client.track(track('c'));
    expect(refused).toThrow(QueueError);
    expect(refused).toThrow(
      expect.objectContaining({
        message: 'Expected room for the message: 2 are queued or on their way already',
        hint: expect.stringContaining('client.ready()') as string,
      }),
    );
    const ready = client.ready();
    sink.release();
    await ready;
    void send(client, ['d']);
    sink.release();
    await Promise.all([client.flush(), releaseAll(sink)]);
    expect(sink.ids.flat()).toEqual(['a', 'b', 'd']);
  });

  it('lets maxQueued calls wait and throws for the next', async () => {
    const sink = new RecordingSink({ hold: true });
    const { client, clock } = setUp({ flushAt: 1, maxQueued: 2 }, sink);
    const receipts = send(client, ['a', 'b', 'c', 'd']);
    const refused = (): unknown => client.track(track('e'));
    expect(refused).toThrow(QueueError);
    expect(refused).toThrow(
      expect.objectContaining({
        message: 'Expected at most 2 messages to wait for room, got one more: the client is full',
        hint: expect.stringContaining('client.ready()') as string,
      }),
    );
    await clock.advance(0);
    sink.release();
    await clock.advance(0);
    void send(client, ['f']);
    await Promise.all([client.flush(), releaseAll(sink)]);
    expect((await receipts).every(({ accepted }) => accepted)).toBe(true);
    expect(sink.ids.flat()).toEqual(['a', 'b', 'c', 'd', 'f']);
  });

  it('frees the room of a message before its callback', async () => {
    const { client, sink } = setUp({ flushAt: 1, maxQueued: 1, whenFull: 'throw' });
    const message = { type: 'track', timestamp: '2026-01-01T00:00:00.000Z' } as const;
    client.enqueueThen({ message, messageId: 'a' }, () => void client.track(track('b')));
    await client.flush();
    await client.close();
    expect(sink.ids).toEqual([['a'], ['b']]);
  });

  it('bounds the memory of a loop that awaits ready()', async () => {
    const clock = new FakeClock();
    let [held, most, taken] = [0, 0, 0];
    const sink: Sink = {
      maxInFlight: 4,
      encode: ({ message: { type } }, messageId) => {
        most = Math.max(most, ++held);
        return { type, messageId, orderKeys: [], body: new Uint8Array(100) };
      },
      submit: async (batch) => {
        await new Promise((resolve) => setImmediate(resolve));
        held -= batch.length;
        taken += batch.length;
        return batch.map(({ messageId }) => ({ accepted: true, messageId, deliveries: [] }));
      },
      close: () => Promise.resolve(),
    };
    const client = createClient({ sink, clock, options: resolveClientOptions({ maxQueued: 500 }) });
    for (let index = 0; index < 100_000; index++) {
      await client.ready();
      void client.track({ userId: 'u', event: 'e', messageId: String(index) });
    }
    await client.close();
    expect(taken).toBe(100_000);
    expect(most).toBeLessThanOrEqual(501);
  });
});

/** Accepts each batch at once and keeps its messages until the test calls `settle`. */
class UnsettledSink extends RecordingSink {
  settle: (messages: number) => void = () => {};

  onSettled(listener: (messages: number) => void): void {
    this.settle = listener;
  }

  override async submit(batch: readonly OutgoingMessage[]): Promise<readonly Receipt[]> {
    const receipts = await super.submit(batch);
    return receipts.map(({ messageId }) => {
      if (messageId.startsWith('refused')) {
        return { accepted: false, messageId, code: 'queue', reason: 'full' };
      }
      const isRouted = !messageId.startsWith('filtered');
      const deliveries = isRouted ? [{ id: messageId, destination: 'Webhooks' }] : [];
      return { accepted: true, messageId, deliveries };
    });
  }
}

describe('a client whose sink keeps accepted messages', () => {
  const full = { flushAt: 1, maxQueued: 2, whenFull: 'throw' } as const;

  it('is full until messages are settled', async () => {
    const { client, sink } = setUp(full, new UnsettledSink());
    await send(client, ['a', 'b']);
    expect(() => client.track(track('c'))).toThrow(QueueError);
    sink.settle(1);
    await send(client, ['c']);
    expect(() => client.track(track('d'))).toThrow(QueueError);
  });

  it('frees the room of messages that are rejected or have no delivery', async () => {
    const { client } = setUp(full, new UnsettledSink());
    await send(client, ['refused 1', 'filtered 1']);
    await send(client, ['refused 2', 'filtered 2']);
    await send(client, ['a', 'b']);
    expect(() => client.track(track('c'))).toThrow(QueueError);
  });

  it('counts a message once if it is settled before its receipt', async () => {
    const { client, sink, clock } = setUp(full, new UnsettledSink({ hold: true }));
    const first = send(client, ['a']);
    await clock.advance(0);
    sink.settle(1);
    sink.release();
    await first;
    void send(client, ['b', 'c']);
    expect(() => client.track(track('d'))).toThrow(QueueError);
    await clock.advance(0);
    sink.release();
    await client.flush();
  });

  it('takes waiting calls in order when messages are settled', async () => {
    const { client, sink, clock } = setUp({ flushAt: 1, maxQueued: 2 }, new UnsettledSink());
    void send(client, ['a', 'b', 'c', 'd']);
    let isReady = false;
    void client.ready().then(() => (isReady = true));
    await clock.advance(0);
    expect(sink.ids.flat()).toEqual(['a', 'b']);
    sink.settle(1);
    await clock.advance(0);
    expect(sink.ids.flat()).toEqual(['a', 'b', 'c']);
    sink.settle(2);
    await clock.advance(0);
    expect([sink.ids.flat(), isReady]).toEqual([['a', 'b', 'c', 'd'], true]);
  });

  it('closes although no message is settled, and takes waiting calls', async () => {
    const { client, sink } = setUp({ flushAt: 1, maxQueued: 1 }, new UnsettledSink());
    const receipts = send(client, ['a', 'b']);
    const ready = client.ready();
    await client.close();
    await ready;
    expect((await receipts).map(({ accepted }) => accepted)).toEqual([true, true]);
    expect([sink.ids.flat(), sink.closed]).toEqual([['a', 'b'], 1]);
  });

  it('gets the messages of one turn together, because each submit costs', async () => {
    const { client, sink } = setUp({ flushAt: 1, maxQueued: 9 }, new UnsettledSink());
    await send(client, ['a', 'b', 'c']);
    await send(client, ['d']);
    expect(sink.ids).toEqual([['a', 'b', 'c'], ['d']]);
  });
});

/** The number of timers that keep the process alive. */
function timers(): number {
  return process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
}

async function releaseAll(sink: RecordingSink): Promise<void> {
  for (let turn = 0; turn < 10; turn++) {
    sink.release();
    await new Promise((resolve) => setImmediate(resolve));
  }
}
