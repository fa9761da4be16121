import type { Command } from 'commander';
import { wallClock } from '../../../clock.ts';
import type { LogLevel } from '../../../service/log.ts';
import type { ListenAddress } from '../../../service/options.ts';
import type { GlobalOptions } from '../../command.ts';
import type { Io } from '../../io.ts';
import { parsePort } from '../flag-values.ts';
import { addSettingFlags } from '../setting-flags.ts';
import { readSchemeFlag, type SchemeFlags } from '../signature/scheme-flags.ts';
import { openQueueToRun, type StoreFlags } from './queue-flags.ts';
import { addReachFlags, reachOf, type ReachFlags } from './reach-flags.ts';
import { commandSettings } from './settings.ts';
import { sourcesToDeliver } from './sources-to-deliver.ts';

/** The flags that `serve` and `worker` share. */
export interface ServiceFlags extends GlobalOptions, StoreFlags, ReachFlags, SchemeFlags {
  readonly metricsPort?: number;
  readonly metricsHost?: string;
}

/** Adds the flags that `serve` and `worker` share, except those of metrics, which `serve` adds after its own flags. */
export function addServiceFlags(command: Command): Command {
  return addReachFlags(addSettingFlags(command, 'store', 'scheme'));
}

export function addMetricsFlags(command: Command, port: string): Command {
  return command
    .option('--metrics-port <port>', port, parsePort)
    .option('--metrics-host <host>', 'serve it on this address (default: 127.0.0.1)');
}

/**
 * Reads the shared flags and the settings, and opens the queue. `hint` is added to the error that there is no destination.
 */
export async function openService(
  options: ServiceFlags,
  io: Io,
  { deliver, hint }: { readonly deliver: boolean; readonly hint?: string },
) {
  const settings = await commandSettings(options, io);
  const reach = reachOf(options, io);
  const schemes = await readSchemeFlag(options, io);
  return {
    sources: deliver ? sourcesToDeliver(settings, reach, { hint, schemes }) : settings.sources,
    open: await openQueueToRun(options, settings, { io, toAdd: !deliver }),
    metricsAt: metricsAddressOf(options),
    ...reach,
    ...logTo(options, io),
    clock: wallClock,
  };
}

function metricsAddressOf({
  metricsPort: port,
  metricsHost: host = '127.0.0.1',
}: ServiceFlags): ListenAddress | undefined {
  return port === undefined ? undefined : { host, port };
}

/** Returns the log output of `serve` and `worker`: JSON lines on stderr, or readable lines on a terminal. */
function logTo(
  options: GlobalOptions,
  io: Io,
): { readonly logLevel: LogLevel; readonly write: (line: string) => void } {
  return {
    logLevel: logLevelOf(options),
    write: io.stderrIsTty ? (line) => io.note(logText(line, io.errColor)) : io.note,
  };
}

function logLevelOf({ quiet, verbose }: GlobalOptions): LogLevel {
  if (quiet) return 'error';
  return verbose ? 'debug' : 'info';
}

/** Formats a JSON line of the log for a terminal: the time, the level, the message and the other fields. */
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
