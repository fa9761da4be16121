import { setImmediate } from 'node:timers/promises';
import type { Clock } from '../clock.ts';
import { ConfigError, InputError } from '../errors.ts';
import type { JsonValue } from '../message/types.ts';
import { formatCount } from '../message/limits.ts';
import {
  addCounts,
  changesIn,
  PartitionComparison,
  emptyCounts,
  type Change,
  type Counts,
} from './difference.ts';
import { PARTITIONS } from './entry.ts';
import { suspiciousChangeIn, type MaxChange } from './guard.ts';
import { findAudience, holdAlone } from './opening.ts';
import { Sending, type ChangeOutcome, type ChangeTarget } from './sending.ts';
import { Spill } from './spill.ts';
import type { PartitionChanges } from './step.ts';
import type { AudienceKind, AudienceOverview, AudienceStore, ChunkStore, PartitionStore } from './store.ts';

export interface SyncOptions<O extends ChangeOutcome> {
  readonly kind: AudienceKind;
  readonly name: string;
  /** Where it goes, for people, without secrets: another place has another state. */
  readonly place: string;
  readonly store: AudienceStore;
  /** Opens temporary room for an input that does not fit into memory. */
  readonly openChunks: () => Promise<ChunkStore>;
  readonly clock: Clock;
  /** Puts every entry of the input into the spill. */
  readonly read: (spill: Spill) => Promise<void>;
  /** For an error about the input: a file's name. */
  readonly input: string;
  /** Opened when there is something to be sent. */
  readonly openTarget: () => Promise<ChangeTarget<O>>;
  readonly signal: AbortSignal;
  readonly maxChange?: MaxChange | undefined;
  /** Sends whatever the difference is. @default false */
  readonly force?: boolean | undefined;
  /** Sends and stores nothing. @default false */
  readonly dryRun?: boolean | undefined;
  /** The names of these three options where the caller set them, for hints. */
  readonly called: { readonly maxChange: string; readonly force: string; readonly dryRun: string };
  /** How the input differs is known, and sending begins. */
  readonly onCounts?: ((counts: Counts) => void | Promise<void>) | undefined;
  readonly onOutcome: (change: Change, outcome: O) => Promise<void> | undefined;
}

export interface SyncResult {
  readonly trait: string;
  readonly place: string;
  readonly counts: Counts;
  /** Members before. */
  readonly before: number;
  /** Why this would be, or would have been, refused. */
  readonly suspicion: string | undefined;
  /** Whether every change was sent: nothing failed, and nothing interrupted the sync. */
  readonly isComplete: boolean;
  /** For a dry run: some of the changes of each kind. */
  readonly examples: readonly Change[];
}

/** How many changes of each kind a dry run shows. */
const EXAMPLES = 5;

/**
 * Sends a message for each user who joined or left (of a computed trait: whose value changed) since the last sync. Outcomes are
 * kept as they come, so that the next sync continues one that ended half-way.
 * @throws ConfigError for a name that cannot be used or a suspicious change, InputError for an input that cannot be
 * used, QueueError when the store fails or another sync of the same audience runs.
 */
export async function sync<O extends ChangeOutcome>(options: SyncOptions<O>): Promise<SyncResult> {
  const { store } = options;
  const audience = await findAudience(store, options);
  const release = options.dryRun ? () => {} : await holdAlone(store, audience);
  try {
    const spill = new Spill(await options.openChunks());
    try {
      await options.read(spill);
      spill.finish();
      return await runSync({ options, partitions: store.partitions(audience), audience, spill });
    } finally {
      // Frees the name when its file was rejected or nothing was sent. The first error is the one that is thrown.
      if (!options.dryRun) await store.dropUnused(audience).catch(() => {});
      spill.close();
    }
  } finally {
    release();
  }
}

interface SyncRun<O extends ChangeOutcome> {
  readonly options: SyncOptions<O>;
  readonly partitions: PartitionStore;
  readonly audience: AudienceOverview;
  readonly spill: Spill;
}

async function runSync<O extends ChangeOutcome>(parts: SyncRun<O>): Promise<SyncResult> {
  const { options, audience, spill } = parts;
  const { trait, place } = audience;
  const { counts, before, changed, examples } = await compareAll(parts);
  const isFirst = audience.syncedAt === undefined;
  const suspicion =
    spill.total === 0
      ? `${options.input} ${emptySentence(options)}`
      : suspiciousChangeIn({ before, counts, isFirst }, options.maxChange);
  const result: SyncResult = { trait, place, counts, before, suspicion, examples, isComplete: false };
  if (options.dryRun || options.signal.aborted) return result;
  assertSendable(result, spill, options);
  await options.onCounts?.(counts);
  const isComplete = changesIn(counts) === 0 || (await sendChanges(parts, changed));
  if (isComplete) await options.store.completeSync(audience);
  return { ...result, isComplete };
}

interface ComparedInput {
  readonly counts: Counts;
  readonly before: number;
  /** The partitions that have changes. */
  readonly changed: readonly number[];
  readonly examples: readonly Change[];
}

/** Counts the changes before any is sent. */
async function compareAll<O extends ChangeOutcome>(parts: SyncRun<O>): Promise<ComparedInput> {
  const { options, partitions } = parts;
  const comparison = new PartitionComparison();
  const counts = emptyCounts();
  const changed: number[] = [];
  const examples = new Examples();
  let before = 0;
  for (let partition = 0; partition < PARTITIONS && !options.signal.aborted; partition++) {
    const kept = await partitions.get(partition);
    const onChange = options.dryRun ? (change: Change) => examples.add(change) : undefined;
    const part = comparison.compare(kept, givenOf(parts, partition), onChange);
    addCounts(counts, part);
    before += kept.members;
    if (changesIn(part) > 0) changed.push(partition);
    if (partition % 16 === 15) {
      // Lets Ctrl-C through.
      await setImmediate();
    }
  }
  return { counts, before, changed, examples: examples.all };
}

function givenOf<O extends ChangeOutcome>({ spill, options: { kind } }: SyncRun<O>, partition: number) {
  return {
    chunks: spill.chunksOf(partition),
    count: spill.countOf(partition),
    absent: ABSENT[kind],
  };
}

/** The value that a user gets who is no longer in the input: not a member, without a value. */
const ABSENT: Readonly<Record<AudienceKind, JsonValue>> = { audience: false, trait: null };

/** Returns whether every change was sent. */
async function sendChanges<O extends ChangeOutcome>(
  parts: SyncRun<O>,
  changed: readonly number[],
): Promise<boolean> {
  const { options, partitions, audience } = parts;
  const { clock, signal } = options;
  let areAllSent = true;
  const sending = new Sending<O>({
    audience,
    partitions,
    target: await options.openTarget(),
    clock,
    signal,
    onOutcome: (change, outcome) => {
      if (outcome.outcome !== 'delivered' && outcome.outcome !== 'queued') areAllSent = false;
      return options.onOutcome(change, outcome);
    },
  });
  const comparison = new PartitionComparison();
  for (const partition of changed) {
    if (sending.isStopped) break;
    await sending.add(await changesOf(parts, partition, comparison));
  }
  await sending.end();
  return areAllSent && !signal.aborted;
}

async function changesOf<O extends ChangeOutcome>(
  parts: SyncRun<O>,
  partition: number,
  comparison: PartitionComparison,
): Promise<PartitionChanges> {
  const stored = await parts.partitions.get(partition);
  const changes: Change[] = [];
  const kept = Buffer.allocUnsafe(stored.entries.length);
  let [end, keptMembers] = [0, 0];
  comparison.compare(
    stored,
    givenOf(parts, partition),
    (change) => changes.push(change),
    (line) => {
      kept.set(line, end);
      end += line.length;
      keptMembers++;
    },
  );
  return { partition, changes, kept: kept.subarray(0, end), keptMembers };
}

/** A few of each kind. */
class Examples {
  readonly all: Change[] = [];
  readonly #counts = new Map<Change['kind'], number>();

  add(change: Change): void {
    const count = this.#counts.get(change.kind) ?? 0;
    if (count >= EXAMPLES) return;
    this.#counts.set(change.kind, count + 1);
    this.all.push(change);
  }
}

function assertSendable<O extends ChangeOutcome>(
  { suspicion, before }: SyncResult,
  spill: Spill,
  { force, input, kind, maxChange, called }: SyncOptions<O>,
): void {
  if (force) return;
  if (spill.total === 0) {
    throw new InputError(emptySentence({ kind }), {
      file: input,
      hint:
        before === 0
          ? 'check what has written it'
          : `check what has written it; ${called.force} tells all ${formatCount(before)} that they left`,
    });
  }
  if (suspicion === undefined) return;
  const limit = maxChange === undefined ? '' : ` (${called.maxChange})`;
  throw new ConfigError(`Refusing to sync: suspicious change: ${suspicion}${limit}`, {
    key: called.maxChange,
    hint: `look with ${called.dryRun}; ${called.force} sends it, a larger ${called.maxChange} allows it`,
  });
}

function emptySentence({ kind }: { readonly kind: AudienceKind }): string {
  return `has no ${kind === 'audience' ? 'members' : 'values'} in it`;
}
