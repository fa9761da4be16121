import { openLoadSender, type LoadSender } from '../../../../app/load/load-sender.ts';
import { elapsedMs } from '../../../../clock.ts';
import { formatDuration } from '../../../../duration.ts';
import { HooksError } from '../../../../errors.ts';
import { withWarmup } from '../../../../replay/load/load-shape.ts';
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
import { readyOptionsOf } from '../replay.ts';
import { LoadMessages } from './load-messages.ts';
import { loadOptions, loadPlanOf, type LoadPlan } from './load-options.ts';
import { LoadOutput } from './output/load-output.ts';
import { loadExitCode, loadSummary, replaySummary, type Arrivals, type LoadResult } from './load-result.ts';
import { LoadRun } from './load-run.ts';
import { findMax } from './max-load.ts';
import { readReceived, readSettled } from './received-count.ts';

interface LoadContext {
  readonly io: Io;
  /** Whether an option is on the command line, and not a default. */
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
  const inputs = await openInputs(files, { cwd: io.cwd, stdin });
  if (options.exact) await assertFormats(inputs, options);
  const target = await openTarget(options, io);
  try {
    const { sources } = target.to;
    const urls = destinationsOf(sources).flatMap(({ enabled, webhooks }) => (enabled ? webhooks : []));
    const question = {
      urls: urls.map(({ url }) => url),
      yes: options.yes ?? false,
      text: (hosts: string) => `Is ${hosts}, a public host, yours? Should hooks ${loadText(plan)}?`,
    };
    const declined = await askForPublicHosts(question, io);
    if (declined !== undefined) return declined;
    const sender = await openLoadSender({ sources, proxyEnv: io.env });
    try {
      return await sendLoad({ plan, options, inputs, sender, to: target.to, io });
    } finally {
      await sender.close();
    }
  } finally {
    await target.close();
  }
}

interface LoadTarget {
  readonly to: ToWebhooks;
  readonly close: () => Promise<void>;
}

/** Finds the webhook. Starts the receiver of --loopback. Throws ConfigError for a tracking API or the queue. */
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
  readonly inputs: readonly Input[];
  readonly sender: LoadSender;
  readonly to: ToWebhooks;
  readonly io: Io;
}

async function sendLoad(prepared: PreparedLoad): Promise<ExitCode> {
  const { plan, options, inputs, sender, io } = prepared;
  const before = options.received === undefined ? 0 : await readReceived(options.received, io);
  const paths = inputs.flatMap(({ identity }) => identity?.path ?? []);
  const output = await LoadOutput.open(options, paths, io);
  const stop = new AbortController();
  try {
    const messages = await messagesOf(prepared, output, stop.signal);
    await messages.begun;
    const run = new LoadRun({
      sender,
      messages,
      ...limitsOf(prepared),
      signal: io.signal,
      onTick: (moment) => output.moment(moment),
    });
    const startedAt = elapsedMs();
    const part = await runShape(run, plan, output, io);
    if (messages.counts.read === 0 && !io.signal.aborted) throw nothingToRead(inputs);
    const arrived = await arrivalsOf(prepared, before, run, output);
    const load = loadSummary({ plan, run, part, arrived, messages, sender, io });
    const summary = replaySummary(run, messages, { load, ms: elapsedMs() - startedAt });
    await output.finish(summary);
    return loadExitCode(summary, plan, io);
  } catch (error) {
    await output.abandon();
    throw error;
  } finally {
    stop.abort();
  }
}

async function messagesOf(
  { plan, options, inputs, to, io }: PreparedLoad,
  output: LoadOutput,
  signal: AbortSignal,
): Promise<LoadMessages> {
  const { exact = false, format, loop = false, order } = options;
  const [destination = ''] = Object.values(to.sources).flatMap(({ destinations }) =>
    Object.keys(destinations).filter((name) => destinations[name]?.enabled === true),
  );
  return new LoadMessages({
    inputs,
    reading: { exact, format },
    readyOptions: await readyOptionsOf(options, io),
    selection: plan.selection,
    loops: loop,
    destination,
    keepsOrder: order === 'user',
    onInvalid: (entry, error) => output.invalid(entry, error),
    signal,
  });
}

/** Returns the limits of a load. Neither the concurrency nor the retries of the config apply, only those of flags. */
function limitsOf({ options, to }: PreparedLoad): { slots: number; retryForMs: number } {
  const [delivery] = destinationsOf(to.sources).flatMap(({ enabled, delivery: each }) =>
    enabled ? each : [],
  );
  const isLimited = options.concurrency !== undefined && delivery !== undefined;
  return {
    slots: isLimited ? delivery.concurrency : connectionLimit(),
    retryForMs: options.retryFor === undefined ? 0 : (delivery?.retryForMs ?? 0),
  };
}

function runShape(run: LoadRun, plan: LoadPlan, output: LoadOutput, io: Io): Promise<LoadResult> {
  const { shape, warmupMs, objectives } = plan;
  if (shape.kind === 'curve') {
    const curve = withWarmup(shape.curve, warmupMs);
    return run.part({ curve, warmupMs, objectives, onSecond: (second) => output.second(second) });
  }
  let count = 0;
  return findMax(run, {
    durationMs: shape.durationMs,
    warmupMs,
    objectives,
    // Numbers the seconds of all steps.
    onSecond: (second, rate) => output.second({ ...second, second: ++count }, rate),
    onStep: (point) => output.step(point),
    signal: io.signal,
  });
}

async function arrivalsOf(
  { options: { received: source }, io }: PreparedLoad,
  before: number,
  { counts: { delivered } }: LoadRun,
  output: LoadOutput,
): Promise<Arrivals> {
  if (source === undefined) return {};
  try {
    const received = (await readSettled(source, io, before + delivered)) - before;
    return { received, lost: Math.max(0, delivered - received) };
  } catch (error) {
    if (!(error instanceof HooksError)) throw error;
    output.note(`note: ${errorSentence(error)}`);
    return { received: null, lost: null };
  }
}

/** Files that the process needs besides connections. */
const OTHER_FILES = 100;
/** Maximum number of connections to one address: the ports of one machine end a little above. */
const MAX_CONNECTIONS = 20_000;

/** Returns how many connections the limit of open files allows. */
function connectionLimit(): number {
  const { userLimits } = process.report.getReport() as { userLimits?: { open_files?: { soft?: unknown } } }; // as Node documents it
  const files = Number(userLimits?.open_files?.soft ?? Number.NaN);
  return files > OTHER_FILES ? Math.min(files - OTHER_FILES, MAX_CONNECTIONS) : MAX_CONNECTIONS;
}
