import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { systemClock } from '../../../clock.ts';
import { UnsafeFolderError } from '../../../config/data-folder.ts';
import type { Settings } from '../../../config/settings.ts';
import { HooksError } from '../../../errors.ts';
import type { JsonValue } from '../../../message/types.ts';
import { ReplayInUseError } from '../../../replay/checkpoint/checkpoint-lock.ts';
import { openCheckpoint, type Checkpoint } from '../../../replay/checkpoint/checkpoint.ts';
import { expandInputs } from '../../../replay/reading/expand-inputs.ts';
import { openInputs, STDIN, type Input } from '../../../replay/reading/inputs.ts';
import { ExpectedTotal } from '../../../replay/expected-total.ts';
import { Ledger } from '../../../replay/ledger.ts';
import type { ProgressMeasure } from '../../print/progress.ts';
import { createPace } from '../../../replay/pace.ts';
import { HarNotes } from '../../../capture/import/har-notes.ts';
import { InvalidCaptures } from '../../../replay/reading/invalid-captures.ts';
import { assertFormats, nothingToRead } from '../../../replay/reading/read-entries.ts';
import { createRewrite } from '../../../replay/rewrite.ts';
import { ReplaySelection } from '../../../replay/selection.ts';
import { ExitCode, interruptedCode } from '../../exit-code.ts';
import type { Io } from '../../io.ts';
import { openPipeline } from '../../flags/delivery/open-pipeline.ts';
import { previewOf } from '../../flags/delivery/preview-flags.ts';
import { errorSentence } from '../../error-text.ts';
import { remarkOnSigning } from '../../flags/signature/unsigned-note.ts';
import { commandSettings } from '../../flags/delivery/settings.ts';
import { noteHiddenSettings } from '../../flags/hidden-settings.ts';
import { claimStdin } from '../../stdin.ts';
import { resolveWhereTo, type WhereTo } from '../../flags/delivery/where-to.ts';
import type { ReadyOptions } from './entry-message.ts';
import { giveUpMs, planOf, type ReplayOptions, type ReplayPlan } from './options.ts';
import type { GithubStep } from '../../print/github-step.ts';
import { ReplayOutput } from './output.ts';
import { RecordedHeaders } from '../../flags/delivery/recorded-headers.ts';
import { unplannedError } from './invalid-entry.ts';
import { resentEntries } from './resent-entries.ts';
import { ResponseWatch } from '../../../replay/response-watch.ts';
import { ReplayRun } from './run.ts';

/** Runs `hooks replay`. Validates all flags, files and settings before sending the first message. */
export async function replay(
  patterns: readonly string[],
  options: ReplayOptions,
  { io, github }: ReplayOutputs,
): Promise<ExitCode> {
  const plan = planOf(options);
  const files = await expandInputs(patterns, io.cwd);
  const stdin = files.includes(STDIN) ? claimStdin(io, 'the input -') : io.stdin;
  const inputs = await openInputs(files, { cwd: io.cwd, stdin });
  if (options.exact) await assertFormats(inputs, options);
  const readyOptions = await readyOptionsOf(options, io);
  const settings = await commandSettings(options, io);
  const to = await resolveWhereTo(options, settings, io);
  remarkOnSigning(to, options, { settings, io });
  const onRequest = await previewOf(options, io);
  const checkpoint =
    onRequest === undefined ? await checkpointFor(inputs, { to, options, settings, io }) : undefined;
  try {
    return await replayInputs({
      inputs,
      plan,
      readyOptions,
      to,
      onRequest,
      checkpoint,
      options,
      settings,
      io,
      github,
    });
  } finally {
    await checkpoint?.close();
  }
}

const now = (): number => systemClock.now();

/** Creates the options of `readyEntry`. Throws InputError if the tracking plan (`--plan`) cannot be used. */
export async function readyOptionsOf(options: ReplayOptions, io: Pick<Io, 'cwd'>): Promise<ReadyOptions> {
  const { plan, exact = false, strict = false, timestamps, messageIds } = options;
  const rewrite = createRewrite({ timestamps, messageIds, now, newId: randomUUID });
  if (plan === undefined) return { exact, strict, rewrite, now };
  const { planFlag } = await import('../../flags/plan-file.ts');
  const violations = await planFlag(plan, io);
  const violation = (message: JsonValue): HooksError | undefined => unplannedError(violations(message));
  return { exact, strict, rewrite, now, violation };
}

/** Outputs of `hooks replay`: the streams of the process and, in a GitHub workflow, its annotations. */
interface ReplayOutputs {
  readonly io: Io;
  /** The step of the GitHub workflow that runs the replay. Undefined outside of GitHub Actions. */
  readonly github?: GithubStep | undefined;
}

interface PreparedReplay extends CheckpointContext, ReplayOutputs {
  readonly inputs: readonly Input[];
  readonly plan: ReplayPlan;
  readonly readyOptions: ReadyOptions;
  readonly onRequest: Awaited<ReturnType<typeof previewOf>>;
  readonly checkpoint: Checkpoint | undefined;
}

async function replayInputs(prepared: PreparedReplay): Promise<ExitCode> {
  const { inputs, plan, readyOptions, to, onRequest, checkpoint, options, settings, io, github } = prepared;
  const paths = inputs.flatMap(({ identity }) => identity?.path ?? []);
  const ledger = new Ledger(systemClock, checkpoint?.isKept ? undefined : (plan.selection.offset ?? 0));
  const expected = new ExpectedTotal(inputs);
  const measure: ProgressMeasure = () => ({ done: ledger.done, total: expected.total });
  const resent = resentEntries({ inputs, checkpoint, selection: plan.selection, options, signal: io.signal });
  const output = await ReplayOutput.open(options, { inputs: paths, checkpoint, resent, github, measure }, io);
  await checkpoint?.begin();
  const quiet = options.quiet ?? false;
  const note = (line: string): void => output.note(line);
  if (checkpoint?.note !== undefined) note(checkpoint.note);
  const isSent = onRequest === undefined && to.kind !== 'queue';
  const watch = isSent ? watchFor(output, options, io) : undefined;
  const onResponse = watch && ((): void => watch.responded());
  const recorded = new RecordedHeaders(settings.ownSchemes);
  const shown = shownAttempts(options);
  const opening = { io, settings, quiet, onRequest, onResponse, note, headersOfBody: recorded.of, ...shown };
  const open = await openPipeline(to, opening).catch(async (error: unknown) => {
    watch?.stop();
    await output.abandon();
    throw error;
  });
  const { exact = false, format } = options;
  const invalid = new InvalidCaptures();
  const harNotes = new HarNotes();
  const run = new ReplayRun({
    inputs,
    options,
    output,
    checkpoint,
    isPreview: onRequest !== undefined,
    watch,
    ledger,
    expected,
    reading: { exact, format, onBytes: expected.read, onInvalidCapture: invalid.add, harNotes },
    taken: to.kind === 'queue' ? 'queued' : 'delivered',
    io,
    open,
    pace: createPace({ clock: systemClock, ...plan }),
    selection: new ReplaySelection(plan.selection),
    readyOptions,
    recorded,
  });
  const result = await run.finish();
  if (!quiet) noteEach([invalid.remark, harNotes.skipped, harNotes.sanitized, ...recorded.remarks(to)], note);
  if (!result.foundAny && !io.signal.aborted) throw nothingToRead(inputs);
  if (!result.isGood) noteHiddenSettings(options, settings, io);
  return interruptedCode(io) ?? (result.isGood ? ExitCode.ok : ExitCode.negative);
}

/** Returns which details of attempts are shown. `-v` shows each retry and, unless the output is JSON, the headers. */
function shownAttempts({ verbose, output }: ReplayOptions) {
  const isVerbose = verbose === true;
  return { gathersRetries: !isVerbose, showsHeaders: isVerbose && output === 'text' };
}

export function noteEach(remarks: readonly (string | undefined)[], note: (line: string) => void): void {
  for (const remark of remarks) if (remark) note(`note: ${remark}`);
}

function watchFor(output: ReplayOutput, options: ReplayOptions, io: Io): ResponseWatch | undefined {
  const limitMs = giveUpMs(options, io);
  if (limitMs === undefined) return undefined;
  return new ResponseWatch({ limitMs, onSilence: () => output.gaveUp(limitMs), clock: systemClock });
}

interface CheckpointContext {
  readonly to: WhereTo;
  readonly options: ReplayOptions;
  readonly settings: Settings;
  readonly io: Io;
}

/**
 * Opens the checkpoint, with which `--resume` can continue this replay later. Returns undefined if it cannot be opened,
 * because a replay can run without a checkpoint. Throws instead if the user resumes a replay, if the data folder is
 * unsafe, or if another process is running the same replay.
 */
async function checkpointFor(
  inputs: readonly Input[],
  { to, options, settings, io }: CheckpointContext,
): Promise<Checkpoint | undefined> {
  const again = options.again ?? false;
  const resume = again || (options.resume ?? false);
  try {
    return await openCheckpoint({
      folder: join(settings.dataDir, 'replays'),
      inputs,
      identity: replayIdentity(to, options, settings),
      resume,
      again,
      clock: systemClock,
    });
  } catch (error) {
    if (resume || !(error instanceof HooksError)) throw error;
    if (error instanceof UnsafeFolderError || error instanceof ReplayInUseError) throw error;
    if (options.verbose) io.note(`not resumable if interrupted: ${errorSentence(error)}`);
    return undefined;
  }
}

/**
 * Identifies a replay by its destination and by the options that select or change messages. Pace, retry window and
 * secret are left out, so that they may change between an interruption and --resume: a user may want to resume more
 * slowly. The identity may contain secrets, because the checkpoint stores only its hash.
 */
function replayIdentity(
  to: WhereTo,
  { filter, offset, limit, exact, format, timestamps, messageIds }: ReplayOptions,
  settings: Settings,
): string {
  const queue = to.kind === 'queue' && { store: to.store ?? settings.store };
  return JSON.stringify([
    destinationIdentity(to),
    queue,
    { filter, offset, limit, exact, format, timestamps, messageIds },
  ]);
}

function destinationIdentity(to: WhereTo): unknown {
  if (to.kind === 'loopback') return to.kind;
  if (to.kind === 'tracking-api') return [to.endpoint, to.writeKey];
  return Object.entries(to.sources).map(([source, { destinations }]) => [
    source,
    Object.entries(destinations).map(([name, { enabled, webhooks }]) => [
      name,
      enabled,
      webhooks.map(({ url }) => url),
    ]),
  ]);
}
