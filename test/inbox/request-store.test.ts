import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { RequestStore, type StoreLimits } from '../../src/inbox/request-store.ts';
import type { ReceivedRequest } from '../../src/receiver/received-request.ts';
import { trackingCallOf } from '../../src/receiver/messages/tracking-call.ts';
import { searchBodies } from '../../src/inbox/search-bodies.ts';
import { collectGarbage } from '../collect-garbage.ts';

const REQUEST: ReceivedRequest = {
  at: 0,
  method: 'POST',
  path: '/hook?key=CANARY',
  rawHeaders: ['A', 'b'],
  body: Buffer.from('x'),
  verdict: 'unchecked',
  answered: 'status',
  status: 200,
  ms: 1,
};

function storeOf(bodies: readonly string[], limits: Partial<StoreLimits> = {}): RequestStore {
  const store = new RequestStore(limits);
  for (const body of bodies) store.add({ ...REQUEST, body: Buffer.from(body) });
  return store;
}

const ids = (store: RequestStore, from: number, limit = 100): number[] =>
  store.since(from, limit).map(({ summary }) => summary.id);

describe('RequestStore', () => {
  it('numbers requests from 1, and returns a limited number from an id on', () => {
    const store = storeOf(['a', 'b', 'c', 'd']);
    expect(ids(store, 1)).toEqual([1, 2, 3, 4]);
    expect(ids(store, 3, 1)).toEqual([3]);
    expect(ids(store, 9)).toEqual([]);
    expect(store.get(2)?.summary.id).toBe(2);
    expect([store.get(0), store.get(5)]).toEqual([undefined, undefined]);
  });

  it('evicts the oldest if there are too many, and keeps the numbers', () => {
    const store = storeOf(['a', 'b', 'c', 'd'], { requests: 2 });
    expect([store.firstId, store.nextId]).toEqual([3, 5]);
    expect(ids(store, 1)).toEqual([3, 4]);
    expect(store.get(2)).toBeUndefined();
  });

  it('evicts the oldest if they are too large, but never the newest', () => {
    const store = storeOf(['a'.repeat(3_000), 'b', 'c'.repeat(9_000)], { bytes: 5_000 });
    expect(ids(store, 1)).toEqual([3]);
  });

  it('copies the body, because its buffer is reused', () => {
    const body = Buffer.from('before');
    const store = new RequestStore();
    store.add({ ...REQUEST, body });
    body.write('after!');
    expect(Buffer.from(store.get(1)?.request.body ?? []).toString()).toBe('before');
  });

  it('drops the messages of a body, which need several times its memory', () => {
    const batch = Array.from({ length: 2_000 }, (_, id) => ({
      type: 'track',
      event: `E${id}`,
      userId: `u${id}`,
    }));
    const packed = gzipSync(JSON.stringify({ batch }));
    const came = { ...REQUEST, path: '/v1/batch', rawHeaders: ['content-encoding', 'gzip'] };
    const store = new RequestStore();
    collectGarbage();
    const before = process.memoryUsage().heapUsed;
    for (let count = 0; count < 60; count++) {
      const request = { ...came, body: Buffer.from(packed) };
      const call = trackingCallOf(request);
      expect(call?.messages).toHaveLength(2_000);
      store.add({ ...request, ...(call && { call }) });
    }
    collectGarbage();
    // A request with its messages needs several times as much.
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(60 * 60_000);
    expect(store.get(1)?.summary.messages).toBe(2_000);
  });

  it('counts the memory of responses, whose length another receiver chooses', () => {
    const store = new RequestStore({ bytes: 100_000 });
    const forwarded = { url: 'u', status: 500, reply: 'r'.repeat(60_000), ms: 1 };
    for (let count = 0; count < 3; count++) store.add({ ...REQUEST, forwarded });
    expect(ids(store, 1)).toEqual([3]);
    expect(store.evicted).toBe(2);
    store.clear();
    expect([store.firstId, store.nextId, store.evicted]).toEqual([4, 4, 0]);
  });

  it('limits the texts of a sender in the list, and masks secrets', () => {
    const store = storeOf([JSON.stringify({ type: 'track', event: 'e'.repeat(100_000), userId: { a: 1 } })]);
    const summary = store.get(1)?.summary;
    expect(summary?.event).toBe(`${'e'.repeat(200)}…`);
    expect(summary?.userId).toBeUndefined();
    expect(summary?.path).toBe('/hook?key=***');
  });
});

describe('searchBodies', () => {
  it('searches all bodies, including large ones', async () => {
    const bodies = Array.from({ length: 1_200 }, (_, index) => (index % 400 === 7 ? 'Needle' : 'hay'));
    const store = storeOf([...bodies, `${' '.repeat(3_000_000)}nEEdle`]);
    expect(await searchBodies(store, 'needle')).toEqual([8, 408, 808, 1201]);
  });

  it('finds words of any script, escaped or not', async () => {
    const store = storeOf(['{"a":"\\u8d44\\u6599"}', '{"a":"资料"}', '{"a":"\\u8d44"}', '\\u8d44 资料']);
    expect(await searchBodies(store, '资料')).toEqual([1, 2, 4]);
    expect(await searchBodies(store, 'u8d44')).toEqual([1, 3, 4]);
  });
});
