import { beforeEach, expect, it } from 'vitest';
import { ValidationError } from '../../src/errors.ts';
import { createDeletions, type DeletionMessage, type Deletions } from '../../src/deletion/request.ts';
import { deletionStateOf, type DeletionRecord, type DeletionStore } from '../../src/deletion/state.ts';
import { FakeClock } from '../fake-clock.ts';

/** The behavior of deletion requests that every store must pass. */
export function deletionSuite(open: () => Promise<DeletionStore>): void {
  let store: DeletionStore;
  beforeEach(async () => {
    store = await open();
  });

  it('becomes a delete message for each user at each source', async () => {
    const { deletions, submitted } = setUp(store);
    await deletions.create({ userIds: ['u1', 'u2'] });
    expect(submitted.map(({ source }) => source)).toEqual(['web', 'web', 'app', 'app']);
    expect(submitted.slice(0, 2).map(({ message }) => Buffer.from(message.body).toString())).toEqual([
      '{"type":"delete","userId":"u1","timestamp":"2026-01-01T00:00:00.000Z"}',
      '{"type":"delete","userId":"u2","timestamp":"2026-01-01T00:00:00.000Z"}',
    ]);
  });

  it('goes only to the sources that it names', async () => {
    const { deletions, submitted } = setUp(store);
    await deletions.create({ userIds: ['u1'], sources: ['app'] });
    expect(submitted.map(({ source }) => source)).toEqual(['app']);
  });

  it('is rejected for an unknown source without sending messages', async () => {
    const { deletions, submitted } = setUp(store);
    const rejection: unknown = await deletions
      .create({ userIds: ['u1'], sources: ['app', 'wep'] })
      .catch((error: unknown) => error);
    expect(rejection).toBeInstanceOf(ValidationError);
    expect(rejection).toMatchObject({
      message: 'Expected the name of a source, got `wep`',
      hint: 'did you mean web?',
    });
    expect(submitted).toEqual([]);
  });

  it('has a state per source until every delivery is settled', async () => {
    const { deletions } = setUp(store);
    const record = await deletions.create({ userIds: ['u1'] });
    expect(states(record)).toEqual([
      ['web', 'pending'],
      ['app', 'no-destination'],
    ]);
    await deletions.settled(ended('d1', 'deletion-r-1-0', 'delivered'));
    await deletions.settled(ended('d1', 'deletion-r-1-0', 'delivered'));
    await deletions.settled(ended('d9', 'somebody-else', 'delivered'));
    await deletions.settled({ ...ended('d9', 'deletion-r-1-0', 'delivered'), type: 'track' });
    await deletions.settled(ended('d9', 'deletion-unknown-0', 'dead'));
    expect(states(await deletions.get('r-1'))).toContainEqual(['web', 'pending']);
    await deletions.settled(ended('d2', 'deletion-r-1-0', 'delivered'));
    expect(states(await deletions.get('r-1'))).toContainEqual(['web', 'delivered']);
  });

  it('is failed at a source while one of its deliveries is a dead letter', async () => {
    const { deletions } = setUp(store);
    await deletions.create({ userIds: ['u1'] });
    await deletions.settled(ended('d1', 'deletion-r-1-0', 'dead'));
    await deletions.settled(ended('d2', 'deletion-r-1-0', 'delivered'));
    expect(states(await deletions.get('r-1'))).toContainEqual(['web', 'failed']);
    // The dead letter was retried.
    await deletions.settled(ended('d1', 'deletion-r-1-0', 'delivered'));
    expect(states(await deletions.get('r-1'))).toContainEqual(['web', 'delivered']);
  });

  it('lists its undelivered deliveries', async () => {
    const { deletions } = setUp(store);
    await deletions.create({ userIds: ['u1'] });
    await deletions.settled(ended('d1', 'deletion-r-1-0', 'dead'));
    expect(await store.undelivered('r-1')).toEqual([
      { source: 'web', deliveryId: 'd1', isDelivered: false },
      { source: 'web', deliveryId: 'd2', isDelivered: undefined },
    ]);
    await store.settled('r-1', 'web', { deliveryId: 'd1', isDelivered: undefined });
    expect(states(await deletions.get('r-1'))).toContainEqual(['web', 'pending']);
    await deletions.settled(ended('d2', 'deletion-r-1-0', 'delivered'));
    expect(await store.undelivered('r-1')).toEqual([
      { source: 'web', deliveryId: 'd1', isDelivered: undefined },
    ]);
    expect(await store.undelivered('r-2')).toEqual([]);
  });

  it('is not recorded if it cannot be queued', async () => {
    const { deletions } = setUp(store, new Error('the disk is full'));
    await expect(deletions.create({ userIds: ['u1'] })).rejects.toThrow('the disk is full');
    expect(await deletions.get('r-1')).toBeUndefined();
  });
}

export interface SetUp {
  readonly deletions: Deletions;
  readonly submitted: readonly { readonly source: string; readonly message: DeletionMessage }[];
}

/** Creates deletions over two sources: `web` has two destinations, `app` has none. */
export function setUp(store: DeletionStore, fail?: Error): SetUp {
  const submitted: { source: string; message: DeletionMessage }[] = [];
  const deletions = createDeletions({
    sources: ['web', 'app'],
    destinations: (source) => (source === 'web' ? 2 : 0),
    submit: async (source, messages, onRouted) => {
      if (fail !== undefined) throw fail;
      for (const message of messages) submitted.push({ source, message });
      onRouted(source === 'web' ? ['d1', 'd2'] : []);
    },
    store,
    clock: new FakeClock(),
    newId: () => 'r-1',
  });
  return { deletions, submitted };
}

export function states(record: DeletionRecord | undefined): unknown {
  return Object.entries(record?.sources ?? {}).map(([name, source]) => [name, deletionStateOf(source)]);
}

export const ended = (id: string, messageId: string, state: string) => ({
  id,
  source: 'web',
  messageId,
  type: 'delete',
  state,
});
