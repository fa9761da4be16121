import { escapeInJson } from '../redact.ts';
import { junitHead, secondsText, testCaseXml, type JunitResult } from './junit-report.ts';
import { reportFormat } from './open-report.ts';
import { openReplacing } from './replacing-file.ts';
import { escapeXml } from './xml.ts';

/** One case of a report whose cases all fit into memory. */
export interface ReportedCase extends JunitResult {
  /** Class name of the case: JUnit tells cases apart by `classname` and `name` together. */
  readonly classname: string;
  readonly name: string;
  readonly ms?: number | undefined;
  /** The line of a file that the failure is about, for an annotation. */
  readonly origin?: { readonly file: string; readonly line: number } | undefined;
  /** Fix of the failure. */
  readonly hint?: string | undefined;
  /** The case as an object of a JSON report. */
  readonly line: object;
}

/** A report of all cases, which is written only at the end. */
export interface CaseReport {
  /**
   * Writes the report. Throws InputError if it cannot be written. `output` is the last output of the program under test:
   * JUnit's `system-err`.
   */
  finish(cases: readonly ReportedCase[], summary: { readonly ms: number }, output?: string): Promise<void>;
}

interface CaseReportOptions {
  /** Name of the file in errors. */
  readonly name: string;
  /** Name of the JUnit test suite, such as `hooks test`. */
  readonly suite: string;
}

/**
 * Opens a JUnit or JSON report, by the extension. Throws ConfigError for another extension, InputError if the file cannot be
 * written, before any case is tried.
 */
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
  const head = junitHead(suite, {
    tests: cases.length,
    failures: count('failure'),
    errors: count('error'),
    skipped: count('skipped'),
    ms,
  });
  const caseLines = cases.map(({ classname, name, ms: caseMs, ...result }) =>
    testCaseXml({ classname, name, time: secondsText(caseMs) }, result),
  );
  const printed = systemErr === '' ? '' : `<system-err>${escapeXml(systemErr)}</system-err>\n`;
  return `${head}>\n${caseLines.join('')}${printed}</testsuite>\n</testsuites>\n`;
}
