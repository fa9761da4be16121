import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { ReplaySemaphore } from '../../src/replay/replay-semaphore.ts';

const NEVER = new AbortController().signal;

function wait(capacity: ReplaySemaphore, what: 'room' | 'empty') {
  let isOver = false;
  const end = capacity.until(what, NEVER).then(() => (isOver = true));
  return { end, isOver: () => isOver };
}

describe('the capacity of a replay', () => {
  it('is full at its limit of messages or of bytes', () => {
    const ofMessages = new ReplaySemaphore({ messages: 2, bytes: 10_000 });
    const ofBytes = new ReplaySemaphore({ messages: 100, bytes: 1_000 });
    for (const capacity of [ofMessages, ofBytes]) {
      capacity.take(500);
      expect(capacity.isFull).toBe(false);
      capacity.take(500);
      expect(capacity.isFull).toBe(true);
      capacity.give(500);
      expect(capacity.isFull).toBe(false);
    }
  });

  it('wakes once for all messages that settle in one turn of the event loop', async () => {
    const capacity = new ReplaySemaphore({ messages: 2, bytes: 1_000 });
    capacity.take(1);
    capacity.take(1);
    const waiting = wait(capacity, 'room');
    capacity.give(1);
    await Promise.resolve();
    expect(waiting.isOver()).toBe(false);
    capacity.give(1);
    await waiting.end;
    expect(capacity.isEmpty).toBe(true);
  });

  it('has room again when a quarter is free, so that messages come in batches', async () => {
    const capacity = new ReplaySemaphore({ messages: 8, bytes: 1_000 });
    for (let message = 0; message < 8; message++) capacity.take(1);
    const waiting = wait(capacity, 'room');
    capacity.give(1);
    capacity.give(1);
    await setImmediate();
    expect(waiting.isOver()).toBe(false);
    capacity.give(1);
    await waiting.end;
    await capacity.until('room', NEVER);
  });

  it('lets a reader wait until nothing is in flight', async () => {
    const capacity = new ReplaySemaphore({ messages: 8, bytes: 1_000 });
    capacity.take(1);
    capacity.take(1);
    const waiting = wait(capacity, 'empty');
    capacity.give(1);
    await setImmediate();
    expect(waiting.isOver()).toBe(false);
    capacity.give(1);
    await waiting.end;
  });

  it('stops waiting when the signal aborts', async () => {
    const capacity = new ReplaySemaphore({ messages: 1, bytes: 1 });
    capacity.take(1);
    const stop = new AbortController();
    const waiting = capacity.until('room', stop.signal);
    stop.abort();
    await waiting;
    await capacity.until('room', stop.signal);
    await setImmediate();
    expect(capacity.isFull).toBe(true);
  });
});
