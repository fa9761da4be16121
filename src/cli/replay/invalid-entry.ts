import { InputError, ValidationError, type HooksError } from '../../errors.ts';
import { printable } from '../../redact.ts';
import type { ReplayEntry, Origin } from '../../replay/reading/replay-entry.ts';
import type { ReportedResult } from '../../report/report.ts';
import type { Io } from '../io.ts';

/** An entry that is no message, as it is shown: as JSON it can be kept and shown again. */
export interface InvalidEntry {
  readonly origin: Origin;
  /** `file:line`, and the column where that is known. */
  readonly place: string; // the journals on disks have it by this name
  readonly reason: string;
  readonly hint?: string | undefined;
  /** The path of the field, if the error is about one. */
  readonly path?: string | undefined;
}

export function invalidEntry({ origin }: ReplayEntry, error: HooksError): InvalidEntry {
  const { line = origin.line, column } = error instanceof InputError ? error : {};
  return {
    origin,
    place: `${origin.file}:${line}${column === undefined ? '' : `:${column}`}`,
    reason: printable(error.message, 2_000),
    hint: error.hint && printable(error.hint),
    path: error instanceof ValidationError && error.path !== '' ? error.path : undefined,
  };
}

export function invalidText({ place, reason, hint }: InvalidEntry, color: Io['color']): string {
  const lines = [`${color.red('✗ invalid  ')} ${printable(place)}: ${reason}`, hint];
  return lines.filter((line) => line !== undefined).join('\n  ');
}

export function invalidLine({ origin, place, reason, path }: InvalidEntry): object {
  return {
    outcome: 'invalid',
    error: 'invalid',
    reason,
    ...(path !== undefined && { path }),
    at: place,
    attempts: [],
    origin: `${origin.file}:${origin.line}`,
  };
}

export function reportedInvalid({ origin, place, reason }: InvalidEntry): ReportedResult {
  return {
    name: 'invalid entry',
    origin,
    outcome: 'invalid',
    reason: `${reason} (${printable(place)})`,
    attempts: 0,
  };
}
