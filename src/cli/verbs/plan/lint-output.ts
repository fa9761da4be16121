import { systemClock } from '../../../clock.ts';
import { formatCount } from '../../../message/limits.ts';
import { isJsonObject, type JsonValue } from '../../../message/types.ts';
import type { PlanViolation, ViolationKind } from '../../../plan/plan.ts';
import { printable } from '../../../redact.ts';
import type { Report } from '../../../report/report.ts';
import { fitText } from '../../fit-text.ts';
import type { Io, Screen } from '../../io.ts';
import { jsonLine } from '../../json-line.ts';
import type { GithubStep } from '../../print/github-step.ts';
import { ColumnLayout, type Column } from '../../print/column-layout.ts';
import { formatRow } from '../../print/table.ts';
import type { EntryOfFile } from './messages.ts';
import type { LintFlags } from './options.ts';

interface LintOutputParts {
  readonly options: LintFlags;
  readonly io: Io;
  readonly report: Report | undefined;
  readonly github: GithubStep | undefined;
}

/** A violation as printed. */
export interface LintProblem {
  readonly kind: ViolationKind;
  /** Path of the value as a JSON pointer. Empty for the whole message. */
  readonly pointer: string;
  readonly expected: string;
  readonly got: JsonValue | undefined;
  /** Sentence about both, escaped for a terminal. */
  readonly sentence: string;
}

/** Maximum length of a value in a sentence. */
const MAX_VALUE = 200;

export function problemOf({ kind, pointer, expected, got, found }: PlanViolation): LintProblem {
  const isMissing = kind === 'missing' && found === undefined;
  const sentence = isMissing
    ? `${printable(pointer.slice(pointer.lastIndexOf('/') + 1), MAX_VALUE)} is missing`
    : `Expected ${printable(expected, MAX_VALUE)}, got ${printable(got, MAX_VALUE)}`;
  return { kind, pointer, expected, got: found, sentence };
}

/** The output of `hooks plan lint`: a line for each violation, and a summary. */
export class LintOutput {
  read = 0;
  /** Number of entries that are messages, even if they violate the plan. */
  messages = 0;
  violations = 0;
  #valid = 0;
  readonly #kinds = new Map<ViolationKind, number>();
  readonly #parts: LintOutputParts;
  readonly #startedAt = systemClock.now();

  constructor(parts: LintOutputParts) {
    this.#parts = parts;
  }

  /** Adds a message with what it violates. */
  async add({ origin, value }: EntryOfFile, problems: readonly LintProblem[]): Promise<void> {
    const { report } = this.#parts;
    this.read++;
    if (value !== undefined) this.messages++;
    if (problems.length === 0) {
      this.#valid++;
      await report?.add({ name: labelOf(value), origin, outcome: 'valid' });
    }
    for (const problem of problems) {
      this.violations++;
      this.#kinds.set(problem.kind, (this.#kinds.get(problem.kind) ?? 0) + 1);
      this.#print({ origin, value }, problem);
      const result = {
        name: labelOf(value),
        origin,
        outcome: 'violation' as const,
        error: problem.kind,
        reason: [printable(problem.pointer), problem.sentence].filter(Boolean).join(': '),
      };
      this.#parts.github?.addResult(result, undefined);
      await report?.add(result);
    }
  }

  /** Ends without a report and a summary of files that were not read to their end. */
  interrupt(): void {
    const { options, io } = this.#parts;
    if (!options.quiet) io.note(`interrupted after ${formatCount(this.read)} messages; no report is written`);
  }

  async finish(): Promise<void> {
    const { options, io, report, github } = this.#parts;
    const { read, violations } = this;
    const summary = { read, valid: this.#valid, violations };
    if (options.output === 'json') io.out(jsonLine({ summary }));
    else if (!options.quiet) io.out(`${fitText(this.#summaryText(), io.stdoutColumns)}\n`);
    github?.conclude(this.#summaryText());
    await report?.finish({ ...summary, ms: systemClock.now() - this.#startedAt });
  }

  #print({ origin, value }: Pick<EntryOfFile, 'origin' | 'value'>, problem: LintProblem): void {
    const { options, io } = this.#parts;
    const { kind, pointer, expected, got, sentence } = problem;
    const { file, line } = origin;
    if (options.output === 'json') {
      const { type, event } = isJsonObject(value) ? value : {};
      io.out(jsonLine({ file, line, type, event, pointer, kind, expected, got }));
      return;
    }
    const texts = [printable(`${file}:${line}`), labelOf(value), printable(pointer)] as const;
    io.out(
      `${io.stdoutColumns === undefined ? pipedText(texts, sentence) : terminalText(texts, sentence, io)}\n`,
    );
  }

  #summaryText(): string {
    const messages = `${formatCount(this.read)} message${this.read === 1 ? '' : 's'}`;
    if (this.violations === 0) return `${messages} read, all follow the plan`;
    const kinds = [...this.#kinds].toSorted(([, one], [, other]) => other - one);
    const counts = kinds.map(([kind, count]) => `${formatCount(count)} ${kind}`).join(', ');
    const word = this.violations === 1 ? 'violation' : 'violations';
    return `${messages} read, ${formatCount(this.#valid)} follow${this.#valid === 1 ? 's' : ''} the plan; ${formatCount(this.violations)} ${word}: ${counts}`;
  }
}

type ProblemTexts = readonly [place: string, event: string, pointer: string];

function pipedText(texts: ProblemTexts, sentence: string): string {
  const cells = [...texts, sentence].filter((text) => text !== '').map((text) => ({ text }));
  return formatRow(cells, { columns: undefined });
}

/** The columns at a terminal. The pointer is last, because it can be long. */
const COLUMNS: readonly Column[] = [
  { least: 12, most: 24, rank: 1 },
  { least: 10, most: 20, rank: 2 },
  { least: 16, most: Infinity, rank: 3 },
];

/** Formats a violation as aligned columns, which are shortened, and the whole sentence below them. */
function terminalText(
  [place, event, pointer]: ProblemTexts,
  sentence: string,
  { color, stdoutColumns = Infinity }: Screen,
): string {
  const layout = new ColumnLayout(COLUMNS, stdoutColumns);
  const line = layout.line([{ text: place }, { text: event, paint: color.bold }, { text: pointer }]);
  return `${line}\n${fitText(`  ${sentence}`, stdoutColumns)}`;
}

/** A short name of a message: the event of a track, else the type. */
function labelOf(value: JsonValue | undefined): string {
  const { type, event } = isJsonObject(value) ? value : {};
  const text = type === 'track' && typeof event === 'string' ? event : type;
  return typeof text === 'string' ? printable(text, 80) : 'no message';
}
