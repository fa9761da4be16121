import { describe, expect, it } from 'vitest';
import { RequestStore, type StoreLimits } from '../../../src/receiver/inbox/request-store.ts';
import { searchBodies } from '../../../src/receiver/inbox/search-bodies.ts';

function storeOf(bodies: readonly string[], limits: Partial<StoreLimits> = {}): RequestStore {
  const store = new RequestStore(limits);
  for (const body of bodies) {
    store.add({
      at: 0,
      method: 'POST',
      path: '/hook?key=CANARY',
      rawHeaders: ['A', 'b'],
      body: Buffer.from(body),
      verdict: 'unchecked',
      answered: 'status',
      status: 200,
      ms: 1,
    });
  }
  return store;
}

const ids = (store: RequestStore, from: number, limit = 100): number[] =>
  store.since(from, limit).map(({ summary }) => summary.id);

describe('RequestStore', () => {
  it('numbers from 1 and gives them from an id on, a limited number at a time', () => {
    const store = storeOf(['a', 'b', 'c', 'd']);
    expect(ids(store, 1)).toEqual([1, 2, 3, 4]);
    expect(ids(store, 3, 1)).toEqual([3]);
    expect(ids(store, 9)).toEqual([]);
    expect(store.get(2)?.summary.id).toBe(2);
    expect([store.get(0), store.get(5)]).toEqual([undefined, undefined]);
  });

  it('lets the oldest go when there are too many, and keeps the numbers', () => {
    const store = storeOf(['a', 'b', 'c', 'd'], { requests: 2 });
    expect([store.firstId, store.nextId]).toEqual([3, 5]);
    expect(ids(store, 1)).toEqual([3, 4]);
    expect(store.get(2)).toBeUndefined();
  });

  it('lets the oldest go when they are too large, but never the newest', () => {
    const store = storeOf(['a'.repeat(3_000), 'b', 'c'.repeat(9_000)], { bytes: 5_000 });
    expect(ids(store, 1)).toEqual([3]);
  });

  it('keeps a copy of the body: the buffer that it came in is used again', () => {
    const body = Buffer.from('before');
    const store = new RequestStore();
    const [one] = storeOf(['x']).since(1, 1);
    if (one === undefined) throw new Error('Expected a request');
    store.add({ ...one.request, body });
    body.write('after!');
    expect(Buffer.from(store.get(1)?.request.body ?? []).toString()).toBe('before');
  });

  it('bounds what a sender makes a line of the list hold, and masks secrets in it', () => {
    const store = storeOf([JSON.stringify({ type: 'track', event: 'e'.repeat(100_000), userId: { a: 1 } })]);
    const summary = store.get(1)?.summary;
    expect(summary?.event).toBe(`${'e'.repeat(200)}…`);
    expect(summary?.userId).toBeUndefined();
    expect(summary?.path).toBe('/hook?key=***');
  });
});

describe('searchBodies', () => {
  it('goes through all of them, large ones too', async () => {
    const bodies = Array.from({ length: 1_200 }, (_, index) => (index % 400 === 7 ? 'Needle' : 'hay'));
    const store = storeOf([...bodies, `${' '.repeat(3_000_000)}nEEdle`]);
    expect(await searchBodies(store, 'needle')).toEqual([8, 408, 808, 1201]);
  });
});
