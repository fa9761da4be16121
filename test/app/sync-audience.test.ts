import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ConfigError, InputError, QueueError, ValidationError } from '../../src/errors.ts';
import { createDeliveryPipeline } from '../../src/app/pipeline/delivery-pipeline.ts';
import type { Pipeline } from '../../src/app/pipeline/pipeline.ts';
import { syncAudience, syncTrait, type AudienceChange } from '../../src/app/sync-audience.ts';
import { lastValues, type LastValues } from '../audience/last-values.ts';
import { temporaryFolder } from '../temporary-folder.ts';

let receiver: LastValues;
let pipeline: Pipeline;
beforeEach(async () => {
  receiver = await lastValues();
  pipeline = createDeliveryPipeline({ webhooks: [receiver.url], delivery: { retryForMs: 0 } });
});
afterEach(async () => {
  await pipeline.close();
  await receiver.close();
});

async function* later(ids: readonly string[]): AsyncGenerator<string> {
  for (const id of ids) yield await Promise.resolve(id);
}

const storeFile = (): string => join(temporaryFolder(), 'hooks.db');

describe('syncAudience', () => {
  it('sends every member first, then the members who joined and left', async () => {
    const store = storeFile();
    const changes: AudienceChange[] = [];
    const common = { name: 'Big Spenders', pipeline, store };
    const first = await syncAudience({ ...common, members: later(['a', 'b', 'b']) });
    expect(first).toMatchObject({ trait: 'big_spenders', added: 2, duplicates: 1, isComplete: true });
    const second = await syncAudience({
      ...common,
      members: ['b', 'c'],
      onOutcome: (change, { outcome }) => {
        expect(outcome).toBe('delivered');
        changes.push(change);
      },
    });
    expect(second).toMatchObject({
      before: 2,
      members: 2,
      added: 1,
      removed: 1,
      unchanged: 1,
      isComplete: true,
    });
    expect(
      changes.map(({ kind, userId, value }) => `${kind} ${userId} ${JSON.stringify(value)}`).toSorted(),
    ).toEqual(['added c true', 'removed a false']);
    expect(Object.fromEntries(receiver.values)).toEqual({ a: false, b: true, c: true });
    // The pipeline stays open.
    expect((await pipeline.client.identify({ userId: 'z', traits: { x: 1 } })).accepted).toBe(true);
  });

  it('rejects misspelled and missing options', async () => {
    const given = { name: 'VIP', pipeline, store: storeFile(), members: ['a'], dryrun: true };
    await expect(syncAudience(given)).rejects.toThrow(
      expect.objectContaining({ code: 'ERR_HOOKS_CONFIG', hint: 'did you mean `dryRun`?' }),
    );
    const { members: _, dryrun: __, ...rest } = given;
    const sync = syncAudience as (options?: object) => Promise<unknown>;
    await expect(sync(rest)).rejects.toThrow('Expected `members` to be given, got nothing');
    await expect(sync()).rejects.toThrow('Expected options, got nothing');
    expect(receiver.values.size).toBe(0);
  });

  it('has a state for each place', async () => {
    const common = { name: 'VIP', pipeline, store: storeFile(), members: ['a'] };
    expect(await syncAudience({ ...common, place: 'here' })).toMatchObject({ added: 1 });
    expect(await syncAudience({ ...common, place: 'there' })).toMatchObject({ added: 1 });
    expect(await syncAudience({ ...common, place: 'here' })).toMatchObject({ added: 0 });
  });

  it('sends nothing for a dry run, a suspicious change, no members, or an invalid name or id', async () => {
    const common = { name: 'VIP', pipeline, store: storeFile() };
    expect(await syncAudience({ ...common, members: ['a'], dryRun: true })).toMatchObject({
      added: 1,
      isComplete: false,
    });
    await expect(syncAudience({ ...common, members: [] })).rejects.toThrow(InputError);
    await expect(syncAudience({ ...common, name: '!', members: ['a'] })).rejects.toThrow(ConfigError);
    const store = 'redis://:pw@queue.internal:6379/0';
    const inFile = 'Expected `store` to be a file, because audiences are stored in a file, got redis://';
    for (const [given, error] of [
      [{ members: ['a', ''] }, 'Expected a user id, got an empty text'],
      [{ members: ['a', '\ud800'] }, 'half of a surrogate pair'],
      [{ members: ['a'], maxChange: -1 }, 'Expected `maxChange`'],
      // JavaScript callers can pass any ids. Each letter of a text would be a user.
      [{ members: [7 as unknown as string] }, 'got number'],
      [{ members: 'u12345' as unknown as string[] }, 'Expected user ids, got a text'],
      [{ members: ['a'], store }, new RegExp(`^${inFile}(?!.*pw)`)],
    ] as const) {
      await expect(syncAudience({ ...common, ...given })).rejects.toThrow(error);
    }
    expect(receiver.requests()).toBe(0);
    await syncAudience({ ...common, members: ['a', 'b', 'c'] });
    await expect(syncAudience({ ...common, members: ['a'] })).rejects.toMatchObject({
      message: expect.stringContaining('suspicious change') as unknown,
      hint: 'inspect it with dryRun: true; send it with force: true, or allow it with a larger maxChange',
    });
    await expect(syncAudience({ ...common, members: ['a', 'b'], maxChange: 0.1 })).rejects.toThrow(
      '1 of 3 members would change (maxChange)',
    );
    expect(receiver.requests()).toBe(3);
    expect(await syncAudience({ ...common, members: ['a'], force: true })).toMatchObject({ removed: 2 });
  });

  it('is rejected while the same audience is being synced, in one process too', async () => {
    const common = { name: 'VIP', pipeline, store: storeFile() };
    let second: unknown;
    async function* slow(): AsyncGenerator<string> {
      yield 'a';
      second = await syncAudience({ ...common, members: ['b'] }).catch((error: unknown) => error);
    }
    expect(await syncAudience({ ...common, members: slow() })).toMatchObject({ added: 1 });
    expect(second).toBeInstanceOf(QueueError);
    expect(String(second)).toContain('is being synced already');
  });

  it('stops when its signal aborts and continues in the next sync', async () => {
    const common = { name: 'VIP', pipeline, store: storeFile() };
    const members = Array.from({ length: 2_000 }, (_, index) => `u${index}`);
    const stop = new AbortController();
    const first = await syncAudience({
      ...common,
      members,
      signal: stop.signal,
      onOutcome: () => stop.abort(),
    });
    expect(first.isComplete).toBe(false);
    expect(receiver.values.size).toBeLessThan(2_000);
    expect(await syncAudience({ ...common, members })).toMatchObject({ isComplete: true });
    expect(receiver.values.size).toBe(2_000);
  });
});

describe('syncTrait', () => {
  it('sends typed values, then changed values, and null for missing users', async () => {
    const common = { name: 'Plan', pipeline, store: storeFile() };
    const at = new Date(0);
    const first = [
      { userId: 'a', value: 'pro' },
      { userId: 'b', value: { seats: 3 } },
      { userId: 'c', value: at as unknown as string },
    ];
    expect(await syncTrait({ ...common, values: first })).toMatchObject({ added: 3, isComplete: true });
    expect(Object.fromEntries(receiver.values)).toEqual({ a: 'pro', b: { seats: 3 }, c: at.toISOString() });
    const second = await syncTrait({ ...common, values: [{ userId: 'a', value: 1 }, ...first.slice(1, 2)] });
    expect(second).toMatchObject({ changed: 1, removed: 1, unchanged: 1 });
    expect(Object.fromEntries(receiver.values)).toEqual({ a: 1, b: { seats: 3 }, c: null });
    await expect(syncTrait({ ...common, values: [{ userId: 'a', value: NaN }] })).rejects.toThrow(
      ValidationError,
    );
  });
});
