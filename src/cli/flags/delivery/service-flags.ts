import type { Command } from 'commander';
import type { LogLevel } from '../../../service/log.ts';
import type { ListenAddress } from '../../../service/options.ts';
import type { GlobalOptions } from '../../command.ts';
import type { Io } from '../../io.ts';
import { parsePort } from '../flag-values.ts';

export interface MetricsFlags {
  readonly metricsPort?: number;
  readonly metricsHost?: string;
}

export function addMetricsFlags(command: Command, port: string): Command {
  return command
    .option('--metrics-port <port>', port, parsePort)
    .option('--metrics-host <host>', 'serve it on this address (default: 127.0.0.1)');
}

export function metricsAddressOf({
  metricsPort: port,
  metricsHost: host = '127.0.0.1',
}: MetricsFlags): ListenAddress | undefined {
  return port === undefined ? undefined : { host, port };
}

/** Returns the log output of `serve` and `worker`: JSON lines on stderr, or readable lines on a terminal. */
export function logTo(
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
