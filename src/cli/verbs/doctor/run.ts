import { join } from 'node:path';
import { systemClock } from '../../../clock.ts';
import type { Settings } from '../../../config/settings.ts';
import type { Sources } from '../../../engine/options.ts';
import { ConfigError, HooksError } from '../../../errors.ts';
import { examineQueue, isServer, type QueueExamination } from '../../../stores/open.ts';
import { printable } from '../../../redact.ts';
import { surveyInspection } from '../../../queue/survey.ts';
import type { GlobalOptions } from '../../command.ts';
import { foreignQueueError } from '../../flags/bind-queue.ts';
import { namedStore, openQueue, type StoreFlags } from '../../flags/delivery/queue-flags.ts';
import { reachOf, type ReachFlags } from '../../flags/delivery/reach-flags.ts';
import { commandSettings } from '../../flags/delivery/settings.ts';
import { errorSentence } from '../../error-text.ts';
import { ExitCode, interruptedCode } from '../../exit-code.ts';
import type { Io } from '../../io.ts';
import { jsonLine } from '../../json-line.ts';
import { readSources, settingsResults, sourceResults } from './config-results.ts';
import { fitText } from '../../fit-text.ts';
import { formatRow } from '../../print/table.ts';
import { fail, ok, warn, type DoctorResult } from './doctor-result.ts';
import { machineResults } from './machine-results.ts';
import { queueResults, storeResults } from './queue-results.ts';
import { webhookResults } from './webhook-results.ts';

export interface DoctorOptions extends GlobalOptions, StoreFlags, Pick<ReachFlags, 'allowPrivate'> {}

/** Runs `hooks doctor`: examines everything that a delivery needs, without sending. */
export async function examine(options: DoctorOptions, io: Io): Promise<ExitCode> {
  const counts = { ok: 0, warn: 0, fail: 0 };
  const show = (results: readonly DoctorResult[]): void => {
    for (const result of results) {
      counts[result.status]++;
      if (options.quiet !== true || result.status === 'fail') io.out(resultText(result, options, io));
    }
  };
  for await (const results of allResults(options, io)) show(results);
  if (options.output === 'json') io.out(jsonLine({ summary: counts }));
  else if (options.quiet !== true) io.out(`\n${conclusion(counts)}\n`);
  return interruptedCode(io) ?? (counts.fail > 0 ? ExitCode.negative : ExitCode.ok);
}

/** Yields the results in the order in which a person would search for the problem. Stops on an interruption. */
async function* allResults(options: DoctorOptions, io: Io): AsyncGenerator<readonly DoctorResult[]> {
  yield machineResults(io, Date.now());
  const settings = await resultsOnError('config', () => commandSettings(options, io));
  if ('results' in settings) {
    yield settings.results;
    return;
  }
  yield settingsResults(settings.value, io);
  const { sources, results } = readSources(settings.value);
  yield results;
  if (sources !== undefined) {
    yield sourceResults(sources);
    yield integrationResults(sources);
    yield (await Promise.all(Object.entries(sources).map((each) => planResults(each, io)))).flat();
    if (!io.signal.aborted) yield await webhookResults(sources, reachOf(options, io), io);
  }
  if (!io.signal.aborted) yield await queueAndStore(options, settings.value, sources);
}

/** Calls `look`. Turns an error into results, so that the command continues. */
async function resultsOnError<T>(
  check: string,
  look: () => Promise<T>,
): Promise<{ readonly value: T } | { readonly results: readonly DoctorResult[] }> {
  try {
    return { value: await look() };
  } catch (error) {
    if (!(error instanceof HooksError)) throw error;
    const others = error instanceof ConfigError ? error.others : [];
    return { results: [error, ...others].map((each) => fail(check, errorSentence(each), each.hint)) };
  }
}

/** Loads the tracking plan of a source, as `hooks serve` does. */
async function planResults(
  [name, { plan }]: readonly [name: string, source: Sources[string]],
  io: Io,
): Promise<readonly DoctorResult[]> {
  if (plan === undefined) return [];
  const result = await resultsOnError('plan', async () => {
    const { planFlag } = await import('../../flags/plan-file.ts');
    await planFlag(plan.file, io);
  });
  return 'results' in result ? result.results : [ok('plan', `source ${name}: ${plan.file}`)];
}

async function queueAndStore(
  options: DoctorOptions,
  settings: Settings,
  sources: Sources | undefined,
): Promise<readonly DoctorResult[]> {
  const result = await resultsOnError('store', async () => {
    const named = namedStore(options, settings);
    const place = named ?? join(settings.dataDir, 'hooks.db');
    if (isServer(place)) return serverResults(options, settings, sources);
    const seen = await examineQueue(place, systemClock);
    const survey = seen.kind === 'there' ? seen.survey : undefined;
    return [
      ...storeResults(seen, { isNeeded: named !== undefined || isService(sources) }),
      ...(survey === undefined ? [] : queueResults(survey, sources, Date.now())),
      ...(named === undefined && seen.kind === 'there' ? foreignResults(seen, settings, sources) : []),
    ];
  });
  return 'results' in result ? result.results : result.value;
}

/** Reports a queue of the data folder that belongs to another config: a failure if the config is for `serve`. */
function foreignResults(
  { store: { file }, config }: Extract<QueueExamination, { readonly kind: 'there' }>,
  settings: Settings,
  sources: Sources | undefined,
): readonly DoctorResult[] {
  const error = foreignQueueError(file, config, settings);
  if (error === undefined) return [];
  const { message: said, hint = '' } = error;
  return [isService(sources) ? fail('store', said, hint) : warn('store', said, hint)];
}

/** Whether `hooks serve` can accept calls with these sources. */
function isService(sources: Sources = {}): boolean {
  return Object.values(sources).some(({ writeKey }) => writeKey !== undefined);
}

/** Reports a queue on a server: whether it can be written, and its warnings. */
async function serverResults(
  options: DoctorOptions,
  settings: Settings,
  sources: Sources | undefined,
): Promise<readonly DoctorResult[]> {
  const durable = await openQueue(options, settings);
  try {
    await durable.check();
    const warnings = await durable.warnings();
    const hint = 'see docs/several-machines.md for what each setting promises';
    return [
      ok('store', `${durable.place} can be reached and written`),
      ...warnings.map((said) => warn('store', said, hint)),
      ...queueResults(await surveyInspection(durable.inspection), sources, Date.now()),
    ];
  } finally {
    await durable.close();
  }
}

/** Reports where messages go, because a message that is sent nowhere looks like a lost one. */
function integrationResults(sources: Sources): DoctorResult[] {
  const names = Object.values(sources).flatMap(({ destinations }) =>
    Object.entries(destinations).flatMap(([name, { enabled }]) => (enabled ? [name] : [])),
  );
  if (names.length === 0) return [];
  const unique = [...new Set(names)].join(', ');
  const said = `a message goes to ${unique}, unless its \`integrations\` turn that off (case matters)`;
  return [ok('integrations', said)];
}

function resultText(
  { check, status, said, hint }: DoctorResult,
  { output }: DoctorOptions,
  { color, stdoutColumns: columns, named }: Io,
): string {
  if (output === 'json') return jsonLine({ check, status, said, hint });
  const [mark, paint] = (
    { ok: ['✓', color.green], warn: ['!', color.yellow], fail: ['✗', color.red] } as const
  )[status];
  // An `ok` with a hint is ok for some uses only.
  const isPartly = status === 'ok' && hint !== undefined;
  const first = isPartly ? { text: '·', paint: color.dim } : { text: mark, paint };
  const cells = [first, { text: `${check.padEnd(12)} ` }, { text: printable(said, 2_000) }];
  const line = `${formatRow(cells, { columns, gap: 1 })}\n`;
  if (hint === undefined) return line;
  return line + fitText(`${' '.repeat(16)}${color.dim('hint:')} ${named(printable(hint, 2_000))}\n`, columns);
}

function conclusion({ warn: warned, fail: failed }: Record<DoctorResult['status'], number>): string {
  if (failed > 0) return `${failed} to fix${warned > 0 ? `, ${warned} to look at` : ''}`;
  return warned > 0 ? `Nothing to fix, ${warned} to look at` : 'All is well';
}
