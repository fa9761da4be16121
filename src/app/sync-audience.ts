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
  /** The name of the audience or the computed trait; the trait that is sent has it in snake case. */
  readonly name: string;
  /** Delivers the changes. The sync leaves it open. */
  readonly pipeline: Pipeline;
  /** The file that records which change was sent for which user: `sqlite:./hooks.db` or a path. The CLI's is hooks.db in the data folder. */
  readonly store: string;
  /** Names where the pipeline delivers to; each place has its own state. @default 'default' */
  readonly place?: string | undefined;
  /** Rejects a larger difference, as a share of the members before (0.2 is 20 %). @default rejects what looks like a wrong file */
  readonly maxChange?: number | undefined;
  /** Sends the difference however large it is. @default false */
  readonly force?: boolean | undefined;
  /** Counts only: sends and keeps nothing. @default false */
  readonly dryRun?: boolean | undefined;
  /** Nothing more is sent once it aborts; the next sync carries on. */
  readonly signal?: AbortSignal | undefined;
  /** Called with the outcome of each change. The next change waits for the promise that it may return. */
  readonly onOutcome?: ((change: AudienceChange, outcome: Outcome) => Promise<void> | void) | undefined;
}

/** A change that is sent for one user. */
export type AudienceChange = Pick<Change, 'kind' | 'userId' | 'value'>;

export interface SyncAudienceOptions extends SyncMembersOptions {
  /** The ids of all members. A single string is rejected: it would be an iterable of its letters. */
  readonly members: AsyncIterable<string> | (Iterable<string> & object);
}

export interface SyncTraitOptions extends SyncMembersOptions {
  /** The value of every user; a user who is missing has none (null). */
  readonly values: AsyncIterable<TraitValue> | Iterable<TraitValue>;
}

export interface TraitValue {
  readonly userId: string;
  readonly value: JsonValue;
}

export interface SyncSummary extends Counts {
  /** The name of the trait that is sent. */
  readonly trait: string;
  /** Members before. */
  readonly before: number;
  /** Whether every change was sent. The next sync sends what failed or was interrupted. */
  readonly isComplete: boolean;
}

/**
 * Sends an identify for every user who joined (true) or left (false) the audience since the last sync; the first one sends every
 * member. Memory does not grow with their number.
 * @throws ConfigError for an unknown option, a name that cannot be used or a suspicious change, InputError for an id that cannot be
 * used or no members at all, ValidationError for a value that JSON cannot carry, QueueError when the store fails or the audience is being synced already.
 */
export function syncAudience(options: SyncAudienceOptions): Promise<SyncSummary> {
  return run('audience', options, () => ({ userIds: options.members }));
}

/** Sends what changed of a computed trait: every value that changed since the last sync. */
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
  const { signal = new AbortController().signal } = options; // one that is never aborted
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
    `Expected \`store\` to be a file, since audiences are kept in one, got ${redactUrl(store)}`,
    {
      key: 'store',
      hint: 'for example sqlite:./hooks.db; the pipeline may have its queue elsewhere',
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
