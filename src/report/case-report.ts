import { escapeInJson } from '../redact.ts';
import { reportFormat } from './open-report.ts';
import { openReplacing } from './replacing-file.ts';
import { attributes, escapeXml } from './xml.ts';

/** One case of a report that is small enough for memory. */
export interface ReportedCase {
  /** Distinguishes cases in JUnit, together with `name`. */
  readonly classname: string;
  readonly name: string;
  /** `error`: the case could not be tried. */
  readonly outcome: 'passed' | 'failure' | 'error' | 'skipped';
  readonly ms?: number | undefined;
  /** Why it did not pass: in a line, as a code, and at length. */
  readonly message?: string | undefined;
  readonly type?: string | undefined;
  readonly details?: string | undefined;
  /** What to do. */
  readonly hint?: string | undefined;
  /** The case in a JSON report. */
  readonly line: object;
}

/** A report that is written in one go, at the end. */
export interface CaseReport {
  /** Throws InputError when it could not be written. `output` is what the program under test printed last: JUnit's `system-err`. */
  finish(cases: readonly ReportedCase[], summary: { readonly ms: number }, output?: string): Promise<void>;
}

interface CaseReportOptions {
  /** The file as errors show it. */
  readonly name: string;
  /** As `hooks test`. */
  readonly suite: string;
}

/** Opens a JUnit or JSON report, by the extension. Throws ConfigError for another extension, InputError when the file cannot be written: before anything is tried. */
export async function openCaseReport(
  target: string,
  { name, suite }: CaseReportOptions,
): Promise<CaseReport> {
  const format = reportFormat(target, name);
  const replacing = await openReplacing(target, name);
  return {
    finish: async (cases, summary, systemErr) => {
      const text =
        format === '.xml'
          ? junitCaseReport(suite, cases, { ...summary, systemErr })
          : jsonCaseReport(cases, summary);
      await replacing.commit(async (file) => file.add(Buffer.from(text)));
    },
  };
}

function jsonCaseReport(cases: readonly ReportedCase[], summary: object): string {
  const lines = cases.map(({ line }) => `\n${JSON.stringify(line)}`).join(',');
  return escapeInJson(`{"results":[${lines}\n],"summary":${JSON.stringify(summary)}}\n`);
}

function junitCaseReport(
  suite: string,
  cases: readonly ReportedCase[],
  { ms, systemErr = '' }: { readonly ms: number; readonly systemErr?: string | undefined },
): string {
  const count = (wanted: ReportedCase['outcome']): number =>
    cases.filter(({ outcome }) => outcome === wanted).length;
  const totals = attributes({
    tests: cases.length,
    failures: count('failure'),
    errors: count('error'),
    skipped: count('skipped'),
    time: seconds(ms),
  });
  const head = `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="hooks"${totals}>\n`;
  const suiteTag = `<testsuite${attributes({ name: suite })}${totals}>\n`;
  const printed = systemErr === '' ? '' : `<system-err>${escapeXml(systemErr)}</system-err>\n`;
  return `${head}${suiteTag}${cases.map(reportedCaseXml).join('')}${printed}</testsuite>\n</testsuites>\n`;
}

function reportedCaseXml({
  classname,
  name,
  outcome,
  ms,
  message,
  type,
  details = '',
}: ReportedCase): string {
  const tag = `<testcase${attributes({ classname, name, time: ms === undefined ? undefined : seconds(ms) })}`;
  if (outcome === 'passed') return `${tag}/>\n`;
  if (outcome === 'skipped') return `${tag}><skipped${attributes({ message })}/></testcase>\n`;
  return `${tag}><${outcome}${attributes({ message, type })}>${escapeXml(details)}</${outcome}></testcase>\n`;
}

function seconds(ms: number): string {
  return (ms / 1_000).toFixed(3);
}
