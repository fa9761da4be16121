import { appendFile } from 'node:fs/promises';
import { HooksError, InputError, messageOf } from '../../errors.ts';
import { commandEscaper, printable } from '../../redact.ts';
import { STDIN_ORIGIN } from '../../replay/reading/inputs.ts';
import type { ReportedResult } from '../../report/report.ts';
import type { ReportedCase } from '../../report/case-report.ts';
import { errorSentence } from '../error-text.ts';
import type { Io } from '../io.ts';

/** A failure, which GitHub shows next to a file or at the top of a run. */
interface StepFailure {
  readonly title: string;
  readonly message: string;
  /** The hint or details of the failure, printed below its message. */
  readonly more?: string | undefined;
  /** The file and the line (from 1) that the failure is about. */
  readonly origin?: { readonly file: string; readonly line?: number | undefined } | undefined;
}

/** Maximum number of annotations that GitHub shows for one step. */
const MAX_ANNOTATIONS = 10;
const MAX_ROWS = 50;
/** Parts of a failure's reason that differ for each message: number of rounds, time, and position in the file. */
const OF_ONE = / after \d+ rounds? in [^:]+(?=: )| \([^()]*:\d+\)$/g;
const MAX_TEXT = 2_000;

/**
 * The step of a GitHub workflow that runs this command. Prints failures as annotations on stderr (`::error
 * file=…,line=…::…`), and appends a summary to the file that GITHUB_STEP_SUMMARY names, which GitHub shows on the page of
 * the run.
 */
export class GithubStep {
  readonly #command: string;
  readonly #io: Pick<Io, 'env' | 'note' | 'verbatim'>;
  readonly #rows: StepFailure[] = [];
  /** The first failure and the number of failures, by reason and hint. */
  readonly #causes = new Map<string, { readonly first: StepFailure; count: number }>();
  #failures = 0;
  #counts: string | undefined;

  /** @param command for example `hooks test` */
  constructor(command: string, io: Pick<Io, 'env' | 'note' | 'verbatim'>) {
    this.#command = command;
    this.#io = io;
  }

  fail(failure: StepFailure): void {
    this.#failures++;
    if (this.#rows.length < MAX_ROWS) this.#rows.push(failure);
  }

  /** Adds the cases of a command with few results. Cases that failed for the same reason become one failure. */
  addCases(cases: readonly ReportedCase[]): void {
    for (const same of sameReasons(cases, 'failure')) {
      const [{ name, message = '', details, hint = details, origin }] = same;
      const title = same.length === 1 ? name : `${same.length} failures`;
      const names = same.length === 1 ? [] : same.map((each) => each.name);
      this.fail({
        title: `${this.#command}: ${title}`,
        message,
        more: [hint, ...names].filter(Boolean).join('\n'),
        ...(origin?.file !== STDIN_ORIGIN && { origin }),
      });
    }
    for (const same of sameReasons(cases, 'error')) {
      const [{ message = '', details }] = same;
      const more = same.length === 1 ? details : same.map(({ name }) => name).join('\n');
      this.fail({ title: `${this.#command}: not tried`, message, more });
    }
    this.#counts ??= countsOf(cases);
  }

  /** Adds a message that was not delivered. Messages with the same reason become one failure. */
  addResult({ name, origin, reason = '' }: ReportedResult, hint: string | undefined): void {
    const isFile = origin.file !== STDIN_ORIGIN;
    const title = `${this.#command}: ${name}`;
    const key = JSON.stringify([reason.replaceAll(OF_ONE, ''), hint]);
    const cause = this.#causes.get(key);
    if (cause !== undefined) cause.count++;
    else if (this.#causes.size >= MAX_ROWS) this.#failures++;
    else {
      const first = { title, message: reason, more: hint, ...(isFile && { origin }) };
      this.#causes.set(key, { first, count: 1 });
    }
  }

  /** Sets the final counts of the summary. Collapses spaces, because Markdown does not align columns. */
  conclude(counts: string): void {
    this.#counts = counts.replaceAll(/ {2,}/g, ' ');
  }

  /** Adds the error that ended the command. Skips the error if failures were added, because they already report it. */
  addError(error: unknown): void {
    if (this.#failures + this.#causes.size > 0) return;
    const isOurs = error instanceof HooksError;
    const message = isOurs ? errorSentence(error) : messageOf(error);
    const { file, line } = error instanceof InputError ? error : {};
    const origin = file === undefined ? undefined : { file, line };
    this.fail({ title: this.#command, message, more: isOurs ? error.hint : undefined, origin });
  }

  /** Prints the annotations and writes the summary. If the summary cannot be written, prints a note. */
  async end(): Promise<void> {
    for (const { first, count } of this.#causes.values()) {
      const title = count === 1 ? first.title : `${first.title} and ${count - 1} more`;
      this.fail({ ...first, title });
    }
    this.#annotate();
    const file = this.#io.env['GITHUB_STEP_SUMMARY'];
    if (file === undefined || file === '') return;
    try {
      await appendFile(file, this.#summary());
    } catch (error) {
      const code = (error as NodeJS.ErrnoException).code ?? 'unknown'; // what fs throws
      this.#io.note(`note: the summary cannot be added to GITHUB_STEP_SUMMARY: ${code}`);
    }
  }

  #annotate(): void {
    const shown = this.#failures > MAX_ANNOTATIONS ? MAX_ANNOTATIONS - 1 : MAX_ANNOTATIONS;
    for (const failure of this.#rows.slice(0, shown)) this.#print(failure);
    const left = this.#failures - shown;
    if (left > 0) this.#print({ title: this.#command, message: `and ${left} more` });
  }

  #print(failure: StepFailure): void {
    const { env, verbatim } = this.#io;
    verbatim.note(`::${commandEscaper(env)(annotation(failure))}`);
  }

  #summary(): string {
    const mark = this.#failures === 0 ? '✓' : '✗';
    const counts = this.#counts === undefined ? '' : `\n${markdown(this.#counts)}\n`;
    const rows = this.#rows.map(({ title, message, more = '', origin }) => {
      const file = origin === undefined ? '' : `${[origin.file, origin.line].filter(Boolean).join(':')}: `;
      return `| ${markdown(file + title)} | ${markdown([message, more].filter(Boolean).join('\n'))} |\n`;
    });
    const left = this.#failures - rows.length;
    const table = rows.length === 0 ? '' : `\n| what failed | why |\n| --- | --- |\n${rows.join('')}`;
    return `### ${mark} ${this.#command}\n${counts}${table}${left > 0 ? `\nand ${left} more\n` : ''}\n`;
  }
}

/** Formats a workflow command of GitHub, after its `::`. Escapes `%` and line breaks, in properties also `:` and `,`. */
function annotation({ title, message, more, origin }: StepFailure): string {
  const properties = { file: origin?.file, line: origin?.line, title };
  const given = Object.entries(properties).filter(([, value]) => value !== undefined);
  const texts = given.map(([name, value]) => `${name}=${propertyText(String(value))}`);
  return `error ${texts.join(',')}::${messageText([message, more].filter(Boolean).join('\n'))}`;
}

function messageText(text: string): string {
  const lines = text.replaceAll('%', '%25').split(/\r\n|[\r\n]/);
  return lines.map((line) => printable(line, MAX_TEXT)).join('%0A');
}

function propertyText(text: string): string {
  return messageText(text).replaceAll(':', '%3A').replaceAll(',', '%2C');
}

/** Characters that can start markup, a mention, an emoji, or an address that GitHub turns into a link. */
const MARKUP = /[&<>|[\]()*_~`\\@#$]|:(?=[a-z+/-]|100:|1234:|8ball:)|(?<=www)\./gi;

/** Escapes text for Markdown, so that text from outside cannot create a link, an image or a table. */
function markdown(text: string): string {
  const lines = text.split(/\r\n|[\r\n]/).map((line) => printable(line, MAX_TEXT));
  return lines.map((line) => line.replace(MARKUP, (one) => `&#${one.charCodeAt(0)};`)).join('<br>');
}

type SameCases = [ReportedCase, ...ReportedCase[]];

/** Groups the cases of an outcome by their message and, for failures, their hint. */
function sameReasons(cases: readonly ReportedCase[], outcome: ReportedCase['outcome']): readonly SameCases[] {
  const groups = new Map<string, SameCases>();
  for (const one of cases.filter((each) => each.outcome === outcome)) {
    const key = JSON.stringify([one.message, one.outcome === 'failure' ? one.hint : undefined]);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [one]);
    else group.push(one);
  }
  return [...groups.values()];
}

const COUNTED = { passed: 'passed', failure: 'failed', skipped: 'skipped', error: 'not tried' } as const;

/** Returns the counts of the cases by outcome, such as `21 passed, 2 failed, 3 not tried`. */
function countsOf(cases: readonly ReportedCase[]): string {
  const parts = Object.entries(COUNTED).map(([outcome, word]) => {
    const count = cases.filter((one) => one.outcome === outcome).length;
    return count === 0 ? undefined : `${count} ${word}`;
  });
  return parts.filter((part) => part !== undefined).join(', ');
}
