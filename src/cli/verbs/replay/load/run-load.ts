import type { Readable } from 'node:stream';
import { elapsedMs } from '../../../../clock.ts';
import { formatDuration } from '../../../../duration.ts';
import { HooksError, InputError } from '../../../../errors.ts';
import { WHOLE } from '../../../../replay/load/load-curve.ts';
import { expandInputs } from '../../../../replay/reading/expand-inputs.ts';
import { openInputs, STDIN, type Input } from '../../../../replay/reading/inputs.ts';
import { assertFormats, nothingToRead } from '../../../../replay/reading/read-entries.ts';
import { errorSentence } from '../../../error-text.ts';
import type { ExitCode } from '../../../exit-code.ts';
import { askForPublicHosts } from '../../../flags/public-host.ts';
import { commandSettings } from '../../../flags/delivery/settings.ts';
import { destinationsOf, resolveWhereTo, type ToWebhooks } from '../../../flags/delivery/where-to.ts';
import { flagError } from '../../../flags/flag-values.ts';
import { remarkOnSigning } from '../../../flags/signature/unsigned-note.ts';
import type { Io } from '../../../io.ts';
import { claimStdin } from '../../../stdin.ts';
import type { ReplayOptions } from '../options.ts';
import { nothingLeftText } from '../output.ts';
import { ArrivalCounter } from './arrival-counter.ts';
import { LoadControl, type RecordedPart } from './load-control.ts';
import { loadOptions, loadPlanOf, type LoadPlan } from './load-options.ts';
import { LoadOutput } from './output/load-output.ts';
import { loadExitCode, replaySummary, type Arrivals, type LoadResult } from './load-result.ts';
import type { LoadSending } from './load-sending.ts';
import { findMax } from './max-load.ts';
import { openLoadRun, type LoadSetup } from './open-load-run.ts';

interface LoadContext {
  readonly io: Io;
  /** Returns whether an option was given on the command line. False for a default. */
  readonly isGiven: (name: string) => boolean;
}

/** Runs `hooks replay --load`. Validates all flags, files and settings before sending the first message. */
export async function runLoad(
  patterns: readonly string[],
  given: ReplayOptions,
  { io, isGiven }: LoadContext,
): Promise<ExitCode> {
  const options = loadOptions(given, isGiven);
  const plan = loadPlanOf(options);
  const files = await expandInputs(patterns, io.cwd);
  const stdin = files.includes(STDIN) ? claimStdin(io, 'the input -') : io.stdin;
  if (files.includes(STDIN) && (options.workers ?? 1) > 1) {
    const sentence = '`--workers` sends from several threads, which cannot share standard input';
    throw flagError('--workers', sentence, 'write the messages to a file first, or leave out --workers');
  }
  const inputs = await openInputs(files, { cwd: io.cwd, stdin });
  if (options.exact) await assertFormats(inputs, options);
  const target = await openTarget(options, io);
  try {
    const urls = destinationsOf(target.to.sources).flatMap(({ enabled, webhooks }) =>
      enabled ? webhooks.map(({ url }) => url) : [],
    );
    const text = (hosts: string): string =>
      `Is ${hosts}, a public host, yours? Should hooks ${loadText(plan)}?`;
    const declined = await askForPublicHosts({ urls, yes: options.yes ?? false, text }, io);
    const limits = limitsOf(options, target.to);
    return declined ?? (await sendLoad({ plan, options, files, inputs, stdin, to: target.to, limits, io }));
  } finally {
    await target.close();
  }
}

interface LoadTarget {
  readonly to: ToWebhooks;
  readonly close: () => Promise<void>;
}

/** Finds the webhook, or starts the receiver of `--loopback`. Throws ConfigError for a tracking API or the queue. */
async function openTarget(options: ReplayOptions, io: Io): Promise<LoadTarget> {
  const settings = await commandSettings(options, io);
  const to = await resolveWhereTo(options, settings, io);
  if (to.kind === 'tracking-api' || to.kind === 'queue') {
    const hint = 'give --url with the URL of the receiver';
    throw flagError('--load', '`--load` is for a webhook, and the config names a tracking API', hint);
  }
  remarkOnSigning(to, options, { settings, io });
  if (to.kind === 'webhooks') return { to, close: () => Promise.resolve() };
  const loopback = await (await import('../../../flags/delivery/loopback.ts')).startLoopback(to);
  return { to: loopback.to, close: loopback.close };
}

function loadText({ text, shape }: LoadPlan): string {
  const ms = shape.kind === 'max' ? shape.durationMs : shape.curve.durationMs;
  const time = formatDuration(Math.round(ms));
  return shape.kind === 'max' ? `search its highest rate for ${time}` : `send ${text} for ${time}`;
}

interface PreparedLoad {
  readonly plan: LoadPlan;
  readonly options: ReplayOptions;
  readonly files: readonly string[];
  readonly inputs: readonly Input[];
  readonly stdin: Readable;
  readonly to: ToWebhooks;
  readonly limits: LoadLimits;
  readonly io: Io;
}

type LoadLimits = Pick<LoadSetup, 'slots' | 'retryForMs'>;

async function sendLoad(prepared: PreparedLoad): Promise<ExitCode> {
  const { plan, options, inputs, io } = prepared;
  const { received } = options;
  const counter = received === undefined ? undefined : await ArrivalCounter.open(received, io);
  const paths = inputs.flatMap(({ identity }) => identity?.path ?? []);
  const output = await LoadOutput.open(options, paths, io);
  const sendings: LoadSending[] = [];
  try {
    await openSendings(sendings, prepared, (sentence) => output.invalid(sentence));
    const control = new LoadControl(sendings, io.signal, (count) => counter?.second(count));
    const startedAt = elapsedMs();
    const part = await runShape(control, plan, output, io);
    const { read, skipped } = control.report.counts;
    if (read === 0 && skipped > 0) throw new InputError(nothingLeftText(skipped, options));
    if (read === 0 && !io.signal.aborted) throw nothingToRead(inputs);
    const arrived = counter === undefined ? {} : await arrivalsOf(counter, control, output);
    const ms = elapsedMs() - startedAt;
    const summary = replaySummary({ plan, control, part, arrived, ms, slots: prepared.limits.slots });
    await output.finish(summary);
    return loadExitCode(summary, io);
  } catch (error) {
    await output.abandon();
    throw error;
  } finally {
    await Promise.all(sendings.map((sending) => sending.close()));
  }
}

/**
 * Opens one sender in this thread, or one per thread of `--workers`, and adds each to `sendings` for the caller to
 * close. Throws HooksError if the webhook or a file is unusable.
 */
async function openSendings(
  sendings: LoadSending[],
  prepared: PreparedLoad,
  onInvalid: (sentence: string) => void,
): Promise<void> {
  const { options, files, stdin, to, io } = prepared;
  const { slots, retryForMs } = prepared.limits;
  const { env, cwd } = io;
  const setup = { files, options, sources: to.sources, env, cwd, retryForMs };
  // Uses no more threads than connections, because each thread needs at least one.
  const of = Math.min(options.workers ?? 1, slots.count);
  if (of === 1) {
    sendings.push(await openLoadRun({ ...setup, share: WHOLE, slots }, { stdin, onInvalid }));
    return;
  }
  const { LoadThread } = await import('./load-thread.ts');
  const threads = Array.from({ length: of }, (_, index) => {
    const count = Math.floor((slots.count + index) / of);
    return new LoadThread({ ...setup, share: { index, of }, slots: { ...slots, count } }, onInvalid);
  });
  sendings.push(...threads);
  await Promise.all(threads.map((thread) => thread.opened()));
}

/**
 * Returns the limits of a load, which depend only on the flags and on the limit of open files. The concurrency and the
 * retry window of the config do not apply.
 */
function limitsOf({ concurrency, retryFor }: ReplayOptions, to: ToWebhooks): LoadLimits {
  const [enabled] = destinationsOf(to.sources).filter((each) => each.enabled);
  const most = concurrency === undefined ? MAX_CONNECTIONS : (enabled?.delivery.concurrency ?? 1);
  const count = Math.min(most, connectionLimit());
  return {
    slots: { count, isOwnLimit: count < most },
    retryForMs: retryFor === undefined ? 0 : (enabled?.delivery.retryForMs ?? 0),
  };
}

function runShape(control: LoadControl, plan: LoadPlan, output: LoadOutput, io: Io): Promise<LoadResult> {
  const { shape, text, forMs, warmupMs, objectives } = plan;
  if (shape.kind === 'curve') {
    const onSecond: RecordedPart['onSecond'] = (second, inFlight) => output.second(second, inFlight);
    return control.part({ shape: text, forMs, warmupMs, objectives, onSecond });
  }
  let count = 0;
  return findMax(control, {
    durationMs: shape.durationMs,
    warmupMs,
    objectives,
    // Numbers the seconds across all steps, because each step counts from 1.
    onSecond: (second, inFlight, rate) => output.second({ ...second, second: ++count }, inFlight, rate),
    onStep: (point) => output.step(point),
    signal: io.signal,
  });
}

async function arrivalsOf(
  counter: ArrivalCounter,
  { report }: LoadControl,
  output: LoadOutput,
): Promise<Arrivals> {
  try {
    const arrived = await counter.finish(report.counts.delivered);
    if (counter.isUncertain) output.note(UNCERTAIN);
    return arrived;
  } catch (error) {
    if (!(error instanceof HooksError)) throw error;
    output.note(`note: ${errorSentence(error)}`);
    return { received: null, lost: null };
  }
}

const UNCERTAIN =
  'note: the number of --received fell or could not be read, as during a restart: more messages may have arrived';

/** Number of open files that the process needs in addition to its connections. */
const OTHER_FILES = 100;
/** Maximum number of connections to one address: Linux has only 28,232 local ports for them by default. */
const MAX_CONNECTIONS = 20_000;

/** Returns the number of connections that the limit of open files allows. Infinity if there is no limit or it is unknown. */
function connectionLimit(): number {
  const { userLimits } = process.report.getReport() as { userLimits?: { open_files?: { soft?: unknown } } }; // as Node documents it
  const files = Number(userLimits?.open_files?.soft ?? Number.NaN);
  return Number.isNaN(files) ? Infinity : Math.max(1, files - OTHER_FILES);
}
