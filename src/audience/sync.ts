import type { Clock } from '../clock.ts';
import { ConfigError, InputError } from '../errors.ts';
import { formatCount } from '../message/limits.ts';
import { ChangeSender, type ChangeOutcome, type ChangeTarget } from './change-sender.ts';
import { InputComparison } from './compare-input.ts';
import { changesIn, type Change, type Counts } from './difference.ts';
import { PARTITIONS, parseMember, type AudienceEntry } from './entry.ts';
import { findAudience, findNamed, holdAlone, type NamedAudience } from './find-audience.ts';
import { MemberTarget } from './read/member-target.ts';
import { readMembers, type MembersFile } from './read/read-entries.ts';
import { readList, type MemberList } from './read/read-list.ts';
import { Spill } from './spill.ts';
import type { AudienceKind, AudienceOverview, AudienceStore, ChunkStore } from './store.ts';
import { suspiciousChangeIn, type MaxChange } from './suspicious-change.ts';

export type { ChangeTarget } from './change-sender.ts';
export type { Change, Counts } from './difference.ts';
export type { MemberList } from './read/read-list.ts';
export type { AudienceCatalog, AudienceKind, AudienceOverview } from './store.ts';
export type { MaxChange } from './suspicious-change.ts';

export interface SyncOptions<O extends ChangeOutcome> {
  readonly kind: AudienceKind;
  readonly name: string;
  /** Target of the sync, for people, without secrets. The store keeps separate members for each place. */
  readonly place: string;
  readonly store: AudienceStore;
  /** Opens temporary storage for an input that does not fit into memory. */
  readonly openChunks: () => Promise<ChunkStore>;
  readonly clock: Clock;
  /** The members of the audience, or the values of the trait. `name` (such as the name of a file) is used in errors. */
  readonly input: { readonly name: string } & (MembersFile | MemberList);
  /** Opens the target. Called only if there are changes to send. */
  readonly openTarget: () => Promise<ChangeTarget<O>>;
  readonly signal: AbortSignal;
  readonly maxChange?: MaxChange | undefined;
  /** Whether to send even suspicious changes. @default false */
  readonly force?: boolean | undefined;
  /** Whether to only compare, without sending or storing. @default false */
  readonly dryRun?: boolean | undefined;
  /** Names of the options `maxChange`, `force` and `dryRun` in the caller's interface, for hints. */
  readonly called: { readonly maxChange: string; readonly force: string; readonly dryRun: string };
  /** Called with the number of changes, before the first is sent. */
  readonly onStart?: ((changes: number) => void) | undefined;
  readonly onOutcome: (change: Change, outcome: O) => Promise<void> | undefined;
}

export interface SyncResult {
  readonly trait: string;
  readonly place: string;
  readonly counts: Counts;
  /** Number of members before the sync. */
  readonly before: number;
  /** Why the input is suspicious: it has no entries, or the changes exceed a limit. Undefined if it is not. */
  readonly suspicion: string | undefined;
  /** Whether every change was sent, without failures or interruptions. */
  readonly isComplete: boolean;
  /** A few changes of each kind (EXAMPLES), which only a dry run collects. */
  readonly examples: readonly Change[];
}

/** Maximum number of changes of each kind that a dry run shows. */
const EXAMPLES = 5;

/**
 * Sends a message for each user who joined or left, or whose value of a computed trait changed, since the last sync. Stores
 * outcomes immediately, so that the next sync continues an interrupted one.
 * @throws ConfigError for an unusable name or a suspicious change, InputError for an unusable input, QueueError if the store
 * fails or another sync of the same audience runs.
 */
export async function sync<O extends ChangeOutcome>(options: SyncOptions<O>): Promise<SyncResult> {
  const { store } = options;
  const audience = await findAudience(store, options);
  const release = options.dryRun ? () => {} : await holdAlone(store, audience);
  try {
    const spill = new Spill(await options.openChunks());
    try {
      await readInput(options, spill);
      spill.finish();
      return await runSync(options, audience, spill);
    } finally {
      // Removes the audience if nothing was ever sent for it, so that its name is free. Ignores errors of the removal, so
      // that the first error is thrown.
      if (!options.dryRun) await store.dropUnused(audience).catch(() => {});
      spill.close();
    }
  } finally {
    release();
  }
}

/**
 * Finds the audiences of this kind and name, of one destination or of all destinations. Throws ConfigError if there are
 * none.
 */
export async function findAudiences(
  store: AudienceStore,
  wanted: NamedAudience,
): Promise<readonly AudienceOverview[]> {
  return findNamed(await store.list(), wanted);
}

/** Yields the stored entries of all users, one partition at a time. */
export async function* membersOf(
  store: AudienceStore,
  audience: AudienceOverview,
): AsyncGenerator<readonly AudienceEntry[]> {
  const partitions = store.partitions(audience);
  for (let partition = 0; partition < PARTITIONS; partition++) {
    const { entries } = await partitions.get(partition);
    yield Buffer.from(entries).toString().split('\n').slice(0, -1).map(parseMember);
  }
}

function readInput<O extends ChangeOutcome>(
  { kind, input, signal }: SyncOptions<O>,
  spill: Spill,
): Promise<void> {
  const target = new MemberTarget({ kind, file: input.name, spill });
  return 'open' in input ? readMembers(input, target, signal) : readList(input, target);
}

async function runSync<O extends ChangeOutcome>(
  options: SyncOptions<O>,
  audience: AudienceOverview,
  spill: Spill,
): Promise<SyncResult> {
  const { kind, store, input, signal, dryRun } = options;
  const { trait, place } = audience;
  const comparison = new InputComparison({ kind, partitions: store.partitions(audience), spill, signal });
  const examples: Change[] = [];
  const addExample = (change: Change): void => {
    if (examples.filter(({ kind: each }) => each === change.kind).length < EXAMPLES) examples.push(change);
  };
  const { counts, before, changed } = await comparison.compareAll(dryRun ? addExample : undefined);
  const isFirst = audience.syncedAt === undefined;
  const suspicion =
    spill.total === 0
      ? `${input.name} ${emptySentence(options)}`
      : suspiciousChangeIn({ before, counts, isFirst }, options.maxChange);
  const result = { trait, place, counts, before, suspicion, examples, isComplete: false };
  if (dryRun || signal.aborted) return result;
  assertSendable(result, spill, options);
  options.onStart?.(changesIn(counts));
  const isComplete = changed.length === 0 || (await sendChanges(options, audience, { comparison, changed }));
  if (isComplete) await store.completeSync(audience);
  return { ...result, isComplete };
}

/** Returns whether every change was sent. */
async function sendChanges<O extends ChangeOutcome>(
  options: SyncOptions<O>,
  audience: AudienceOverview,
  { comparison, changed }: { readonly comparison: InputComparison; readonly changed: readonly number[] },
): Promise<boolean> {
  const { clock, signal, store } = options;
  let areAllSent = true;
  const sender = new ChangeSender<O>({
    audience,
    partitions: store.partitions(audience),
    target: await options.openTarget(),
    clock,
    signal,
    onOutcome: (change, outcome) => {
      if (outcome.outcome !== 'delivered' && outcome.outcome !== 'queued') areAllSent = false;
      return options.onOutcome(change, outcome);
    },
  });
  for (const partition of changed) {
    if (sender.isStopped) break;
    await sender.add(await comparison.changesOf(partition));
  }
  await sender.end();
  return areAllSent && !signal.aborted;
}

function assertSendable<O extends ChangeOutcome>(
  { suspicion, before }: SyncResult,
  spill: Spill,
  { force, input, kind, maxChange, called }: SyncOptions<O>,
): void {
  if (force) return;
  if (spill.total === 0) {
    throw new InputError(emptySentence({ kind }), {
      file: input.name,
      hint:
        before === 0
          ? 'check the program that wrote it'
          : `check the program that wrote it; ${called.force} removes all ${formatCount(before)} from the ${kind}`,
    });
  }
  if (suspicion === undefined) return;
  const limit = maxChange === undefined ? '' : ` (${called.maxChange})`;
  throw new ConfigError(`Sync rejected: suspicious change: ${suspicion}${limit}`, {
    key: called.maxChange,
    hint: `inspect it with ${called.dryRun}; send it with ${called.force}, or allow it with a larger ${called.maxChange}`,
  });
}

function emptySentence({ kind }: { readonly kind: AudienceKind }): string {
  return `has no ${kind === 'audience' ? 'members' : 'values'} in it`;
}
