import { pino } from 'pino';
import { isoTime, type Clock } from '../clock.ts';
import { HooksError, messageOf } from '../errors.ts';
import { printable, withoutSecrets } from '../redact.ts';

/** A log for machines: each event is a constant sentence with variable fields. */
export type ServiceLog = Readonly<Record<LogLevel, (event: string, fields?: LogFields) => void>>;

export type LogLevel = 'debug' | 'info' | 'warn' | 'error';
export type LogFields = Readonly<Record<string, string | number | boolean | undefined>>;

interface LogOptions {
  /** The lowest level of the events that are written to the log. */
  readonly level: LogLevel;
  /** Secrets to mask in every field, because a receiver may repeat the request. */
  readonly secrets: readonly string[];
  readonly clock: Clock;
  /** Writes one line, given without its line break. */
  readonly write: (line: string) => void;
}

/** Creates a log of JSON lines. Masks secrets and control characters in every text field. */
export function createServiceLog({ level, secrets, clock, write }: LogOptions): ServiceLog {
  const logger = pino(
    {
      level,
      base: null,
      timestamp: () => `,"time":"${isoTime(clock.now())}"`,
      formatters: { level: (label) => ({ level: label }) },
    },
    { write: (line) => write(line.trimEnd()) },
  );
  const at =
    (name: LogLevel) =>
    (event: string, fields: LogFields = {}): void => {
      if (logger.isLevelEnabled(name)) logger[name](safe(fields, secrets), event);
    };
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
}

function safe(fields: LogFields, secrets: readonly string[]): LogFields {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [
      name,
      typeof value === 'string' ? printable(withoutSecrets(value, secrets)) : value,
    ]),
  );
}

/** An error as log fields: its message and its hint. */
export function errorFields(error: unknown): { readonly error: string; readonly hint: string | undefined } {
  return {
    error: messageOf(error),
    hint: error instanceof HooksError ? error.hint : undefined,
  };
}
