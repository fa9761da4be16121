import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { systemClock } from '../../src/clock.ts';
import { ValidationError } from '../../src/errors.ts';
import { MemoryDeletionStore } from '../../src/stores/memory/memory-deletion-store.ts';
import { ServerDeletionStore } from '../../src/stores/server/server-deletion-store.ts';
import { SqliteDeletionStore, DELETION_TABLES } from '../../src/stores/sqlite/sqlite-deletion-store.ts';
import { readDeletionRequest } from '../../src/deletion/read-request.ts';
import { createDeletions, type DeletionMessage, type Deletions } from '../../src/deletion/request.ts';
import { deletionStateOf, type DeletionRecord, type DeletionStore } from '../../src/deletion/state.ts';
import { openStore } from '../../src/stores/sqlite/file/open-store.ts';
import { FakeClock } from '../fake-clock.ts';
import { hasServer, SERVER_KINDS } from '../stores/server/servers.ts';
import { useServer } from '../stores/server/use-server.ts';
import { temporaryFolder } from '../temporary-folder.ts';

interface SetUp {
  readonly deletions: Deletions;
  readonly submitted: readonly { readonly source: string; readonly message: DeletionMessage }[];
}

/** `web` has two destinations, `app` none. */
function setUp(store: DeletionStore, fail?: Error): SetUp {
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

function states(record: DeletionRecord | undefined): unknown {
  return Object.entries(record?.sources ?? {}).map(([name, source]) => [name, deletionStateOf(source)]);
}

const ended = (id: string, messageId: string, state: string) => ({
  id,
  source: 'web',
  messageId,
  type: 'delete',
  state,
});

const STORES: Readonly<Record<string, () => Promise<DeletionStore>>> = {
  memory: async () => new MemoryDeletionStore(),
  'a file': async () => {
    const store = await openStore(join(temporaryFolder(), 'hooks.db'), {
      clock: systemClock,
      tables: [DELETION_TABLES],
    });
    onTestFinished(() => store.close());
    return new SqliteDeletionStore(store);
  },
};

for (const [name, open] of Object.entries(STORES))
  describe(`a deletion request in ${name}`, () => suite(open));

for (const kind of SERVER_KINDS) {
  describe.skipIf(!hasServer(kind))(`a deletion request on ${kind}`, () => {
    const empty = useServer(kind);
    suite(async () => new ServerDeletionStore(await empty()));

    it('is known to other processes, each of which may see to its deliveries', async () => {
      const server = await empty();
      const [one, other] = [new ServerDeletionStore(server), new ServerDeletionStore(server)];
      const { deletions } = setUp(one);
      await deletions.create({ userIds: ['u1'] });
      await Promise.all([
        one.settled('r-1', 'web', { deliveryId: 'd1', isDelivered: true }),
        other.settled('r-1', 'web', { deliveryId: 'd2', isDelivered: false }),
      ]);
      for (const store of [one, other])
        expect(states(await store.get('r-1'))).toContainEqual(['web', 'failed']);
    });

    it('is read once for all of its deliveries, of which there may be very many', async () => {
      const server = await empty();
      const store = new ServerDeletionStore(server);
      const ids = Array.from({ length: 20 }, (_, index) => `d${index}`);
      const fact = { createdAt: Date.now(), userIds: ['u1'], deliveryIds: new Map([['web', ids]]) };
      await store.add({ id: 'r-1', ...fact }, Promise.resolve());
      const get = vi.spyOn(server.facts, 'get');
      onTestFinished(() => get.mockRestore());
      for (const deliveryId of ids) await store.settled('r-1', 'web', { deliveryId, isDelivered: true });
      await store.settled('r-1', 'web', { deliveryId: 'of another', isDelivered: true });
      expect(get).toHaveBeenCalledOnce();
      expect(await store.get('r-1')).toMatchObject({ sources: { web: { delivered: 20, failed: 0 } } });
    });

    it('is forgotten in time, with the names in it', async () => {
      const server = await empty();
      const store = new ServerDeletionStore(server, { keepMs: 1_000 });
      const old = { createdAt: Date.now() - 2_000, userIds: ['u1'], deliveryIds: new Map([['web', ['d1']]]) };
      await store.add({ id: 'old', ...old }, Promise.resolve());
      await store.settled('old', 'web', { deliveryId: 'd1', isDelivered: true });
      const young = { id: 'young', createdAt: Date.now() + 60_000, userIds: ['u2'], deliveryIds: new Map() };
      await store.add(young, Promise.resolve());
      expect([await store.get('old'), (await store.get('young'))?.id]).toEqual([undefined, 'young']);
    });
  });
}

function suite(open: () => Promise<DeletionStore>): void {
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

  it('goes to the sources that it names only', async () => {
    const { deletions, submitted } = setUp(store);
    await deletions.create({ userIds: ['u1'], sources: ['app'] });
    expect(submitted.map(({ source }) => source)).toEqual(['app']);
  });

  it('is refused for a source that is not there, and nothing is sent', async () => {
    const { deletions, submitted } = setUp(store);
    const refusal: unknown = await deletions
      .create({ userIds: ['u1'], sources: ['app', 'wep'] })
      .catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(ValidationError);
    expect(refusal).toMatchObject({
      message: 'expected the name of a source, got `wep`',
      hint: 'did you mean `web`?',
    });
    expect(submitted).toEqual([]);
  });

  it('has a state per source, to its end', async () => {
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

  it('has failed where one of its deliveries is a dead letter', async () => {
    const { deletions } = setUp(store);
    await deletions.create({ userIds: ['u1'] });
    await deletions.settled(ended('d1', 'deletion-r-1-0', 'dead'));
    await deletions.settled(ended('d2', 'deletion-r-1-0', 'delivered'));
    expect(states(await deletions.get('r-1'))).toContainEqual(['web', 'failed']);
    // The dead letter was retried.
    await deletions.settled(ended('d1', 'deletion-r-1-0', 'delivered'));
    expect(states(await deletions.get('r-1'))).toContainEqual(['web', 'delivered']);
  });

  it('knows which of its deliveries were not delivered', async () => {
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

  it('is not recorded when it could not be queued', async () => {
    const { deletions } = setUp(store, new Error('the disk is full'));
    await expect(deletions.create({ userIds: ['u1'] })).rejects.toThrow('the disk is full');
    expect(await deletions.get('r-1')).toBeUndefined();
  });
}

describe('MemoryDeletionStore', () => {
  it('remembers the latest so many', async () => {
    const store = new MemoryDeletionStore(2);
    for (const id of ['a', 'b', 'c'])
      await store.add({ id, createdAt: 0, userIds: [], deliveryIds: new Map() }, Promise.resolve());
    expect([await store.get('a'), (await store.get('c'))?.id]).toEqual([undefined, 'c']);
  });
});

describe('readDeletionRequest', () => {
  it('takes each name once', () => {
    expect(readDeletionRequest({ userIds: ['a', 'b', 'a'], sources: ['web'] })).toEqual({
      userIds: ['a', 'b'],
      sources: ['web'],
    });
    expect(readDeletionRequest({ userIds: ['a'], sources: null })).toEqual({ userIds: ['a'] });
  });

  it.each([
    [[], 'expected a deletion request to be a JSON object, got an empty list'],
    [{}, 'expected `userIds` to be a list of at least one string, got nothing'],
    [{ userIds: [] }, 'expected `userIds` to be a list of at least one string, got an empty list'],
    [{ userIds: 'u1' }, 'expected `userIds` to be a list of at least one string, got a string'],
    [{ userIds: ['a', 5] }, 'expected `userIds[1]` to be a non-empty string, got a number'],
    [
      { userIds: ['a'], sources: [''] },
      'expected `sources[0]` to be a non-empty string, got an empty string',
    ],
  ])('refuses %j', (input, sentence) => {
    expect(() => readDeletionRequest(input)).toThrow(sentence);
  });
});
