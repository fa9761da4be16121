import { openReplacing } from './replacing-file.ts';
import {
  originText,
  type CheckedOutcome,
  type Report,
  type ReportedOutcome,
  type ReportedResult,
} from './report.ts';
import { attributes, escapeXml } from './xml.ts';

/**
 * Opens a report in JUnit XML for continuous integration (Jenkins, GitLab, GitHub Actions) with one test case per message.
 * The totals precede the cases but are known only after them, so spaces after their tag reserve room.
 */
export async function openJunitReport(
  target: string,
  { name, suite }: { readonly name: string; readonly suite: string },
): Promise<Report> {
  const replacing = await openReplacing(target, name);
  await replacing.file.add(
    Buffer.from(paddedHead(suite, { tests: 0, failures: 0, errors: 0, skipped: 0, ms: 0 })),
  );
  const counts: Record<JunitOutcome, number> = { passed: 0, failure: 0, error: 0, skipped: 0 };
  return {
    add: (result) => {
      counts[OUTCOMES[result.outcome]]++;
      return replacing.file.add(Buffer.from(testCaseOf(result)));
    },
    finish: ({ ms }) => {
      const { passed, failure, error, skipped } = counts;
      const tests = passed + failure + error + skipped;
      const head = paddedHead(suite, { tests, failures: failure, errors: error, skipped, ms });
      return replacing.commit(async (file) => {
        await file.add(Buffer.from('</testsuite>\n</testsuites>\n'));
        await file.replace(0, Buffer.from(head));
      });
    },
    abandon: replacing.abandon,
  };
}

type JunitTotals = Readonly<Record<'tests' | 'failures' | 'errors' | 'skipped' | 'ms', number>>;

/**
 * Largest number for which the header of the report reserves room, because the header is overwritten in place at the end.
 */
const MOST = 9_999_999_999;

function paddedHead(suite: string, totals: JunitTotals): string {
  const most = { tests: MOST, failures: MOST, errors: MOST, skipped: MOST, ms: MOST * 1_000 };
  return `${`${junitHead(suite, totals)}>`.padEnd(junitHead(suite, most).length + 1)}\n`;
}

/** The start of a JUnit report with a single test suite, up to the `>` of the suite's tag. */
export function junitHead(suite: string, { ms, ...counts }: JunitTotals): string {
  const totals = attributes({ ...counts, time: secondsText(ms) });
  const suites = `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="hooks"${totals}>\n`;
  return `${suites}<testsuite${attributes({ name: suite })}${totals}`;
}

/** Formats a time for JUnit: seconds with three decimals. */
export function secondsText(ms: number | undefined): string | undefined {
  return ms === undefined ? undefined : (ms / 1_000).toFixed(3);
}

/** Outcome of a test case in JUnit. `error` means that the case could not be tried. */
export type JunitOutcome = 'passed' | 'failure' | 'error' | 'skipped';

/**
 * JUnit outcomes of messages. A message that could not be tried is an error, so that an interrupted replay does not count as
 * passed.
 */
const OUTCOMES = {
  delivered: 'passed',
  queued: 'passed',
  failed: 'failure',
  invalid: 'error',
  unsent: 'error',
  filtered: 'skipped',
  valid: 'passed',
  violation: 'failure',
} as const satisfies Record<ReportedOutcome | CheckedOutcome, JunitOutcome>;

function testCaseOf(result: ReportedResult): string {
  const { name, origin, ms, outcome, error, reason = outcome } = result;
  // Jenkins and GitLab identify cases by class and name, so the name has the line.
  const { file, line, request } = origin;
  const at = request === undefined ? `line ${line}` : `request ${request}`;
  const place = { classname: file, name: `${name} (${at})`, file, line };
  return testCaseXml(
    { ...place, time: secondsText(ms) },
    { outcome: OUTCOMES[outcome], message: reason, type: error ?? outcome, details: detailsOf(result) },
  );
}

/** The result of a test case. A case that did not pass also has a message, a type (a code) and details that explain why. */
export interface JunitResult {
  readonly outcome: JunitOutcome;
  readonly message?: string | undefined;
  readonly type?: string | undefined;
  readonly details?: string | undefined;
}

/** A test case of a JUnit report, with a final newline. */
export function testCaseXml(
  place: Readonly<Record<string, string | number | undefined>>,
  { outcome, message, type, details = '' }: JunitResult,
): string {
  const tag = `<testcase${attributes(place)}`;
  if (outcome === 'passed') return `${tag}/>\n`;
  if (outcome === 'skipped') return `${tag}><skipped${attributes({ message })}/></testcase>\n`;
  return `${tag}><${outcome}${attributes({ message, type })}>${escapeXml(details)}</${outcome}></testcase>\n`;
}

const DETAILS = ['outcome', 'origin', 'messageId', 'url', 'status', 'error', 'attempts', 'reason'] as const;

function detailsOf(result: ReportedResult): string {
  const facts = { ...result, origin: originText(result.origin) };
  return DETAILS.filter((name) => facts[name] !== undefined)
    .map((name) => `${name}: ${facts[name]}`)
    .join('\n');
}
