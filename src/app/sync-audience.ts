import {
  sync,
  type AudienceKind,
  type Change,
  type ChangeTarget,
  type Counts,
  type MemberList,
} from '../audience/sync.ts';
import { validateOptions } from '../validate-options.ts';
import { systemClock } from '../clock.ts';
import { ConfigError } from '../errors.ts';
import type { JsonValue } from '../message/types.ts';
import { redactUrl } from '../redact.ts';
import { isServer, openAudienceStore, openChunkStore } from '../stores/open.ts';
import type { Outcome } from './pipeline/outcomes.ts';
import type { Pipeline } from './pipeline/pipeline.ts';

export interface SyncMembersOptions {
  /** The name of the audience or computed trait; the sent trait has this name in snake case. */
  readonly name: string;
  /** Delivers the changes. The sync does not close it. */
  readonly pipeline: Pipeline;
  /**
   * The file that records the changes sent for each user: `sqlite:./hooks.db` or a path. The CLI uses hooks.db in the data
   * folder.
   */
  readonly store: string;
  /** Name of the pipeline's target. The store keeps a separate record of sent changes per target. @default 'default' */
  readonly place?: string | undefined;
  /**
   * The largest accepted difference, as a share of the previous members (0.2 is 20 %). @default rejects differences that
   * suggest a wrong file
   */
  readonly maxChange?: number | undefined;
  /** Whether to send a difference of any size. @default false */
  readonly force?: boolean | undefined;
  /** Whether to only count the changes, without sending or storing them. @default false */
  readonly dryRun?: boolean | undefined;
  /** Stops the sync when it aborts. The next sync sends the remaining changes. */
  readonly signal?: AbortSignal | undefined;
  /** Called with the outcome of each change. The next change waits for the returned promise. */
  readonly onOutcome?: ((change: AudienceChange, outcome: Outcome) => Promise<void> | void) | undefined;
}

/** A change that a sync sends for one user: a user joined or left an audience, or has a new value of a computed trait. */
export type AudienceChange = Pick<Change, 'kind' | 'userId' | 'value'>;

export interface SyncAudienceOptions extends SyncMembersOptions {
  /** The user ids of all members. A single string is rejected, because it would be an iterable of its characters. */
  readonly members: AsyncIterable<string> | (Iterable<string> & object);
}

export interface SyncTraitOptions extends SyncMembersOptions {
  /** The current value of every user. A user whose value was sent before and is missing now gets null. */
  readonly values: AsyncIterable<TraitValue> | Iterable<TraitValue>;
}

export interface TraitValue {
  readonly userId: string;
  readonly value: JsonValue;
}

export interface SyncSummary extends Counts {
  /** The name of the sent trait. */
  readonly trait: string;
  /** Number of members before the sync. */
  readonly before: number;
  /** Whether every change was sent. The next sync sends failed and interrupted changes. */
  readonly isComplete: boolean;
}

/**
 * Sends an identify for every user who joined (true) or left (false) the audience since the last sync. The first sync sends
 * every member. Memory use does not depend on the number of members.
 * @throws ConfigError for an unknown option, an invalid name or a suspicious change, InputError for an invalid id or an
 * empty list, ValidationError for a value that JSON cannot represent, QueueError if the store fails or the audience is
 * already being synced.
 */
export function syncAudience(options: SyncAudienceOptions): Promise<SyncSummary> {
  return run('audience', options, () => ({ userIds: options.members }));
}

/** Sends every value of a computed trait that changed since the last sync. Throws the errors of `syncAudience`. */
export function syncTrait(options: SyncTraitOptions): Promise<SyncSummary> {
  return run('trait', options, () => ({ values: options.values }));
}

const KINDS = {
  name: 'a string',
  pipeline: 'an object',
  store: 'a string',
  place: 'a string',
  maxChange: 'given',
  force: 'a boolean',
  dryRun: 'a boolean',
  signal: 'an object',
  onOutcome: 'a function',
} as const satisfies Record<keyof SyncMembersOptions, string>;

/** Number of changes to send in parallel. */
const CAPACITY = 1_024;

async function run(
  kind: AudienceKind,
  options: SyncMembersOptions,
  listOf: () => MemberList,
): Promise<SyncSummary> {
  const input = kind === 'audience' ? 'members' : 'values';
  validateOptions(options, {
    kinds: { ...KINDS, [input]: 'given' },
    required: ['name', 'pipeline', 'store', input],
  });
  const { name, pipeline, place = 'default', force, dryRun, onOutcome } = options;
  const { signal = new AbortController().signal } = options; // a signal that never aborts
  const maxChange = changeLimitOf(options);
  if (isServer(options.store)) throw noFile(options.store);
  const store = await openAudienceStore(options.store, systemClock);
  try {
    const { trait, counts, before, isComplete } = await sync<Outcome>({
      kind,
      name,
      place,
      store,
      openChunks: openChunkStore,
      clock: systemClock,
      input: { name: input, ...listOf() },
      signal,
      maxChange,
      force,
      dryRun,
      called: { maxChange: 'maxChange', force: 'force: true', dryRun: 'dryRun: true' },
      openTarget: async () => changeTarget(pipeline, CAPACITY),
      onOutcome: ({ kind: change, userId, value }, outcome) =>
        onOutcome?.({ kind: change, userId, value }, outcome) ?? undefined,
    });
    return { trait, before, isComplete, ...counts };
  } finally {
    await store.close();
  }
}

/** Sends changes through a pipeline, at most `capacity` of them in flight. */
export function changeTarget(pipeline: Pipeline, capacity: number): ChangeTarget<Outcome> {
  return {
    capacity,
    ready: () => pipeline.client.ready(),
    deliverThen: (message, onOutcome) => pipeline.deliverThen(message, onOutcome),
    flush: () => void pipeline.client.flush(),
  };
}

function noFile(store: string): ConfigError {
  return new ConfigError(
    `Expected \`store\` to be a file, because audiences are stored in a file, got ${redactUrl(store)}`,
    {
      key: 'store',
      hint: 'for example sqlite:./hooks.db; the queue of the pipeline may be elsewhere',
    },
  );
}

function changeLimitOf({ maxChange }: SyncMembersOptions) {
  if (maxChange === undefined) return undefined;
  if (maxChange >= 0) return { kind: 'share', share: maxChange } as const;
  throw new ConfigError(`Expected \`maxChange\` to be a number from 0, got ${maxChange}`, {
    key: 'maxChange',
    hint: '0.5 is half of the members',
  });
}
