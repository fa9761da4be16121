import { setImmediate } from 'node:timers/promises';
import type { Clock } from '../clock.ts';
import { ConfigError, InputError } from '../errors.ts';
import type { JsonValue } from '../message/types.ts';
import type { Store } from '../stores/sqlite/file/store.ts';
import {
  addCounts,
  changesIn,
  PartitionComparison,
  emptyCounts,
  type Change,
  type Counts,
} from './difference.ts';
import { PARTITIONS } from './entry.ts';
import { surpriseIn, type MaxChange } from './guard.ts';
import type { ChangeOutcome, Outlet } from './outlet.ts';
import { findAudience, holdAlone } from './opening.ts';
import { Sending } from './sending.ts';
import { Spill } from './spill.ts';
import { AudienceState, type AudienceKind, type Overview } from '../stores/sqlite/audience-state.ts';
import type { PartitionChanges } from './step.ts';

export interface SyncOptions<O extends ChangeOutcome> {
  readonly kind: AudienceKind;
  readonly name: string;
  /** Where it goes, for people, without secrets: another place has another state. */
  readonly place: string;
  /** Opened with AUDIENCE_TABLES. */
  readonly store: Store;
  readonly clock: Clock;
  /** Puts every entry of the input into the spill. */
  readonly read: (spill: Spill) => Promise<void>;
  /** For an error about the input: a file's name. */
  readonly input: string;
  /** Opened when there is something to be sent. */
  readonly outlet: () => Promise<Outlet<O>>;
  readonly signal: AbortSignal;
  readonly maxChange?: MaxChange | undefined;
  /** Sends whatever the difference is. @default false */
  readonly force?: boolean | undefined;
  /** Sends and stores nothing. @default false */
  readonly dryRun?: boolean | undefined;
  /** What these three are called where they were given, for hints. */
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
  readonly surprise: string | undefined;
  /** Whether everybody is told now: nothing failed, and nothing interrupted it. */
  readonly isComplete: boolean;
  /** Of a dry run: some of the changes of each kind. */
  readonly examples: readonly Change[];
}

/** Of each kind. */
const EXAMPLES = 5;

/**
 * Tells those who came and those who left (of a computed trait: whose value changed) since the last sync. What was told is
 * kept as it is confirmed, so that a sync that ends half-way is carried on by the next one.
 * @throws ConfigError for a name that cannot be used or a difference that surprises, InputError for an input that cannot be
 * used, QueueError when the store fails or another sync of the same audience is under way.
 */
export async function sync<O extends ChangeOutcome>(options: SyncOptions<O>): Promise<SyncResult> {
  const { store, clock } = options;
  const state = new AudienceState(store, clock);
  const audience = await findAudience(state, options);
  const release = options.dryRun ? () => {} : await holdAlone(state, audience);
  try {
    const spill = await Spill.open();
    try {
      await options.read(spill);
      spill.finish();
      return await run({ options, state, audience, spill });
    } finally {
      // A name whose file was refused, or of which nothing was sent, is not taken. What went wrong first is what is told.
      if (!options.dryRun) await state.dropUnused(audience).catch(() => {});
      spill.close();
    }
  } finally {
    release();
  }
}

interface Run<O extends ChangeOutcome> {
  readonly options: SyncOptions<O>;
  readonly state: AudienceState;
  readonly audience: Overview;
  readonly spill: Spill;
}

async function run<O extends ChangeOutcome>(parts: Run<O>): Promise<SyncResult> {
  const { options, state, audience, spill } = parts;
  const { trait, place } = audience;
  const { counts, before, changed, examples } = await compareAll(parts);
  const isFirst = audience.syncedAt === undefined;
  const surprise =
    spill.total === 0
      ? `${options.input} ${emptySentence(options)}`
      : surpriseIn({ before, counts, isFirst }, options.maxChange);
  const result: SyncResult = { trait, place, counts, before, surprise, examples, isComplete: false };
  if (options.dryRun || options.signal.aborted) return result;
  refuse(result, spill, options);
  await options.onCounts?.(counts);
  const isComplete = changesIn(counts) === 0 || (await send(parts, changed));
  if (isComplete) await state.completed(audience);
  return { ...result, isComplete };
}

interface Compared {
  readonly counts: Counts;
  readonly before: number;
  /** The partitions in which something is to be told. */
  readonly changed: readonly number[];
  readonly examples: readonly Change[];
}

/** Counts before anything is sent. */
async function compareAll<O extends ChangeOutcome>(parts: Run<O>): Promise<Compared> {
  const { options, state, audience } = parts;
  const comparison = new PartitionComparison();
  const counts = emptyCounts();
  const changed: number[] = [];
  const examples = new Examples();
  let before = 0;
  for (let partition = 0; partition < PARTITIONS && !options.signal.aborted; partition++) {
    const kept = await state.partition(audience.audience, partition);
    const onChange = options.dryRun ? (change: Change) => examples.add(change) : undefined;
    const part = comparison.compare(kept, givenOf(parts, partition), onChange);
    addCounts(counts, part);
    before += kept.members;
    if (changesIn(part) > 0) changed.push(partition);
    if (partition % 16 === 15) {
      // So that Ctrl-C is heard.
      await setImmediate();
    }
  }
  return { counts, before, changed, examples: examples.all };
}

function givenOf<O extends ChangeOutcome>({ spill, options: { kind } }: Run<O>, partition: number) {
  return {
    chunks: spill.chunksOf(partition),
    count: spill.countOf(partition),
    absent: ABSENT[kind],
  };
}

/** What a user is told who is not given any more: who left is no member, and has no value. */
const ABSENT: Readonly<Record<AudienceKind, JsonValue>> = { audience: false, trait: null };

/** Returns whether everybody was told. */
async function send<O extends ChangeOutcome>(parts: Run<O>, changed: readonly number[]): Promise<boolean> {
  const { options, state, audience } = parts;
  const { clock, signal } = options;
  let areAllTold = true;
  const sending = new Sending<O>({
    audience,
    state,
    outlet: await options.outlet(),
    clock,
    signal,
    onOutcome: (change, outcome) => {
      if (outcome.outcome !== 'delivered' && outcome.outcome !== 'queued') areAllTold = false;
      return options.onOutcome(change, outcome);
    },
  });
  const comparison = new PartitionComparison();
  for (const partition of changed) {
    if (sending.isStopped) break;
    await sending.add(await changesOf(parts, partition, comparison));
  }
  await sending.end();
  return areAllTold && !signal.aborted;
}

async function changesOf<O extends ChangeOutcome>(
  parts: Run<O>,
  partition: number,
  comparison: PartitionComparison,
): Promise<PartitionChanges> {
  const stored = await parts.state.partition(parts.audience.audience, partition);
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

function refuse<O extends ChangeOutcome>(
  { surprise, before }: SyncResult,
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
          : `check what has written it; ${called.force} tells all ${before.toLocaleString('en-US')} that they left`,
    });
  }
  if (surprise === undefined) return;
  const limit = maxChange === undefined ? '' : ` (${called.maxChange})`;
  throw new ConfigError(`Refused, since it is a surprising difference: ${surprise}${limit}`, {
    key: called.maxChange,
    hint: `look with ${called.dryRun}; ${called.force} sends it, a larger ${called.maxChange} allows it`,
  });
}

function emptySentence({ kind }: { readonly kind: AudienceKind }): string {
  return `has no ${kind === 'audience' ? 'members' : 'values'} in it`;
}
