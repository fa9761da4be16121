import { wallClock } from '../../clock.ts';
import { runService } from '../../app/service/run-service.ts';
import { ConfigError } from '../../errors.ts';
import type { LogLevel } from '../../service/log.ts';
import type { DeletionReach, ListenAddress } from '../../service/options.ts';
import { aborted } from '../aborted.ts';
import type { GlobalOptions } from '../command.ts';
import { ExitCode } from '../exit-code.ts';
import type { Io } from '../io.ts';
import { listeningText, listeningUrls } from '../print/listening-urls.ts';
import { jsonLine } from '../json-line.ts';
import { openQueueToRun, type StoreFlags } from '../flags/delivery/queue-flags.ts';
import { reachOf, type ReachFlags } from '../flags/delivery/reach-flags.ts';
import { sourcesToDeliver } from '../flags/delivery/sources-to-deliver.ts';
import { commandSettings } from '../flags/delivery/settings.ts';
import { readSchemeFlag, type SchemeFlags } from '../flags/signature/scheme-flags.ts';

export interface ServeOptions extends GlobalOptions, StoreFlags, ReachFlags, SchemeFlags {
  readonly port: number;
  readonly host: string;
  readonly metricsPort?: number;
  readonly metricsHost?: string;
  readonly deliver: boolean;
  readonly deletions: DeletionReach;
  /** The same as `--deletions own`. */
  readonly confineDeletions?: true;
}

/** Runs `hooks serve` until it is interrupted, which is a clean end. */
export async function serve(options: ServeOptions, io: Io): Promise<ExitCode> {
  const { host, port, deliver } = options;
  const deletionReach = deletionReachOf(options);
  const settings = await commandSettings(options, io);
  const reach = reachOf(options, io);
  const schemes = await readSchemeFlag(options, io);
  const sources = deliver
    ? sourcesToDeliver(settings, reach, { hint: 'or only queue, with --no-deliver', schemes })
    : settings.sources;
  const service = await runService({
    sources,
    open: await openQueueToRun(options, settings, { io, toAdd: !deliver }),
    host,
    port,
    metricsAt: metricsAddressOf(options),
    deliver,
    deletionReach,
    ...reach,
    logLevel: logLevelOf(options),
    write: io.stderrIsTty ? (line) => io.note(logText(line, io.errColor)) : io.note,
    clock: wallClock,
  });
  const { url, metricsUrl: metrics } = service;
  const urls = listeningUrls(url, host);
  io.out(
    options.output === 'json'
      ? jsonLine({ ready: true, url, urls, metrics })
      : listeningText('Taking calls on', { url, urls }, io.color.bold),
  );
  await aborted(io.signal);
  await service.close();
  return ExitCode.ok;
}

function metricsAddressOf({
  metricsPort: port,
  metricsHost: host = '127.0.0.1',
}: ServeOptions): ListenAddress | undefined {
  return port === undefined ? undefined : { host, port };
}

function deletionReachOf({ deletions, confineDeletions }: ServeOptions): DeletionReach {
  if (confineDeletions !== true || deletions === 'own') return deletions;
  throw new ConfigError('Expected one of `--deletions all` and `--confine-deletions`, got both', {
    key: 'deletions',
    origin: '--deletions',
    hint: 'leave one of them out; --confine-deletions means --deletions own',
  });
}

function logLevelOf({ quiet, verbose }: GlobalOptions): LogLevel {
  if (quiet) return 'error';
  return verbose ? 'debug' : 'info';
}

/** A line of the service's log for a person at a terminal: the time, the level, what happened, and its fields. */
function logText(line: string, color: Io['errColor']): string {
  const { level, time, msg, ...fields } = JSON.parse(line) as Record<string, unknown>; // the log writes objects
  const name = String(level);
  const paint = { error: color.red, warn: color.yellow, debug: color.dim }[name] ?? color.green;
  const facts = Object.entries(fields).map(([key, value]) => `${color.dim(`${key}=`)}${factText(value)}`);
  return [String(time).slice(11, 19), paint(name.padEnd(5)), String(msg), ...facts].join('  ');
}

function factText(value: unknown): string {
  const text = String(value);
  return /\s/.test(text) || text === '' ? JSON.stringify(text) : text;
}
