import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { ReplaySemaphore } from '../../src/replay/replay-semaphore.ts';

const NEVER = new AbortController().signal;

describe('the capacity of a replay', () => {
  it('is full at its number of users, however many messages each of them has', () => {
    const capacity = new ReplaySemaphore({ users: 2, messages: 100, bytes: 1_000 });
    for (let message = 0; message < 10; message++) capacity.take(1, ['slow']);
    expect(capacity.isFull).toBe(false);
    capacity.take(1, ['other']);
    expect(capacity.isFull).toBe(true);
    capacity.give(1, ['other']);
    expect(capacity.isFull).toBe(false);
    // The slow user has nine left, and counts as long as there is one.
    for (let message = 0; message < 9; message++) capacity.give(1, ['slow']);
    capacity.take(1, ['other']);
    expect(capacity.isFull).toBe(true);
  });

  it('counts a message without a user like a user of its own, and an alias for both its users', () => {
    const capacity = new ReplaySemaphore({ users: 3, messages: 100, bytes: 1_000 });
    capacity.take(1, []);
    capacity.take(1, ['old', 'new']);
    expect(capacity.isFull).toBe(true);
    capacity.give(1, []);
    expect(capacity.isFull).toBe(false);
    capacity.give(1, ['old', 'new']);
    expect(capacity.isEmpty).toBe(true);
  });

  it('is full at its number of messages of one user, or of bytes', () => {
    const ofMessages = new ReplaySemaphore({ users: 100, messages: 2, bytes: 1_000 });
    const ofBytes = new ReplaySemaphore({ users: 100, messages: 100, bytes: 1_000 });
    for (const capacity of [ofMessages, ofBytes]) {
      capacity.take(500, ['u']);
      expect(capacity.isFull).toBe(false);
      capacity.take(500, ['u']);
      expect(capacity.isFull).toBe(true);
    }
  });

  it('wakes once for all that is given back in one turn of the event loop', async () => {
    const capacity = new ReplaySemaphore({ users: 2, messages: 2, bytes: 1_000 });
    capacity.take(1, ['a']);
    capacity.take(1, ['b']);
    let isWoken = false;
    const woken = capacity.until('room', NEVER).then(() => (isWoken = true));
    capacity.give(1, ['a']);
    await Promise.resolve();
    expect(isWoken).toBe(false);
    capacity.give(1, ['b']);
    await woken;
    expect(capacity.isEmpty).toBe(true);
  });

  it('has room again when a quarter is free, so that messages come in batches', async () => {
    const capacity = new ReplaySemaphore({ users: 8, messages: 100, bytes: 1_000 });
    for (const user of '12345678') capacity.take(1, [user]);
    let isWoken = false;
    const woken = capacity.until('room', NEVER).then(() => (isWoken = true));
    for (const user of '12') capacity.give(1, [user]);
    await setImmediate();
    expect(isWoken).toBe(false);
    capacity.give(1, ['3']);
    await woken;
    await capacity.until('room', NEVER);
  });

  it('is waited for until nothing is in flight', async () => {
    const capacity = new ReplaySemaphore({ users: 8, messages: 8, bytes: 1_000 });
    capacity.take(1, []);
    capacity.take(1, []);
    let isWoken = false;
    const woken = capacity.until('empty', NEVER).then(() => (isWoken = true));
    capacity.give(1, []);
    await setImmediate();
    expect(isWoken).toBe(false);
    capacity.give(1, []);
    await woken;
  });

  it('stops waiting when it is told to', async () => {
    const capacity = new ReplaySemaphore({ users: 1, messages: 1, bytes: 1 });
    capacity.take(1, []);
    const stop = new AbortController();
    const waiting = capacity.until('room', stop.signal);
    stop.abort();
    await waiting;
    await capacity.until('room', stop.signal);
    await setImmediate();
    expect(capacity.isFull).toBe(true);
  });
});
