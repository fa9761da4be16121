import { InputError, ValidationError, type HooksError } from '../../../errors.ts';
import type { PlanViolation } from '../../../plan/plan.ts';
import { printable } from '../../../redact.ts';
import type { ReplayEntry, Origin } from '../../../replay/reading/replay-entry.ts';
import { originText, type ReportedResult } from '../../../report/report.ts';
import { withPosition } from '../../error-text.ts';
import { fitText } from '../../fit-text.ts';
import type { Screen } from '../../io.ts';
import { formatRow } from '../../print/table.ts';

/** An entry that cannot be sent, as printed. The journal of a replay stores it as JSON, to print it again with --resume. */
export interface InvalidEntry {
  readonly origin: Origin;
  /** `file:line`, `file:line:column` if the column of the problem is known, or `file request N` for a HAR file. */
  readonly place: string; // not renamed, because existing journals have this field
  readonly reason: string;
  readonly hint?: string | undefined;
  /** The path of the field in the message, if the error is about a field. */
  readonly path?: string | undefined;
  /** Whether the entry is a message that violates the tracking plan of --plan. */
  readonly isUnplanned?: true;
}

/** The error for a message that violates the tracking plan of --plan. */
class UnplannedError extends ValidationError {}

/** Creates an error that describes the first violation and counts the rest. Undefined without a violation. */
export function unplannedError([first, ...others]: readonly PlanViolation[]): UnplannedError | undefined {
  if (first === undefined) return undefined;
  const { path, got, sentence } = first;
  const count = others.length;
  const more = count === 0 ? '' : `; ${count} more violation${count === 1 ? '' : 's'}`;
  const hint = count === 0 ? undefined : 'hooks plan lint lists all violations';
  return new UnplannedError(sentence + more, { path, got, hint });
}

/** Describes an entry that cannot be sent. For a capture, suggests --exact, which also sends bodies that are not messages. */
export function invalidEntry({ kind, origin }: ReplayEntry, error: HooksError): InvalidEntry {
  const isOther = kind === 'capture' && error.hint?.includes('--exact') !== true;
  const hints = [error.hint, isOther ? 'add --exact to send the capture as it came' : undefined];
  return {
    origin,
    place: placeOf(origin, error),
    reason: printable(error.message, 2_000),
    hint: printable(hints.filter((hint) => hint !== undefined).join('; ')) || undefined,
    path: error instanceof ValidationError && error.path !== '' ? error.path : undefined,
    ...(error instanceof UnplannedError && { isUnplanned: true }),
  };
}

/** Returns the place of an error, in the format of `InvalidEntry.place`. */
function placeOf(origin: Origin, error: HooksError): string {
  const { line = origin.line, column } = error instanceof InputError ? error : {};
  if (origin.request !== undefined) return originText(origin);
  return `${origin.file}:${line}${column === undefined ? '' : `:${column}`}`;
}

export function invalidSentence({ place, reason }: Pick<InvalidEntry, 'place' | 'reason'>): string {
  return withPosition(printable(place), reason);
}

export function invalidText({ place, reason, hint }: InvalidEntry, screen: Screen): string {
  const { color, stdoutColumns: columns } = screen;
  const head = [
    { text: '✗ invalid', minWidth: 11, paint: color.red },
    { text: invalidSentence({ place, reason }) },
  ];
  const line = formatRow(head, { columns, gap: 1 });
  return hint === undefined ? line : `${line}\n${fitText(`  ${hint}`, columns)}`;
}

export function invalidLine({ origin, place, reason, path, isUnplanned }: InvalidEntry): object {
  return {
    outcome: 'invalid',
    error: isUnplanned ? 'unplanned' : 'invalid',
    reason,
    ...(path !== undefined && { path }),
    at: place,
    attempts: [],
    origin: originText(origin),
  };
}

export function reportedInvalid({ origin, place, reason, isUnplanned }: InvalidEntry): ReportedResult {
  return {
    name: 'invalid entry',
    origin,
    outcome: 'invalid',
    ...(isUnplanned && { error: 'unplanned' }),
    reason: `${reason} (${printable(place)})`,
    attempts: 0,
  };
}
