import { openReplacing, type ReplacingFile } from './replacing-file.ts';
import type { Report, ReportedOutcome, ReportedResult, ReportedSummary } from './report.ts';
import { attributes, escapeXml } from './xml.ts';

/**
 * Opens a report in JUnit XML for continuous integration (Jenkins, GitLab, GitHub Actions): one testcase per message. The
 * totals come before the cases but are known after them: they get room, padded with the blanks that a tag may have.
 */
export async function openJunitReport(target: string, name = target): Promise<Report> {
  const replacing = await openReplacing(target, name);
  await replacing.file.add(Buffer.from(headOf({ tests: 0, failures: 0, errors: 0, skipped: 0, seconds: 0 })));
  return new JunitReport(replacing);
}

interface Totals {
  readonly tests: number;
  readonly failures: number;
  readonly errors: number;
  readonly skipped: number;
  readonly seconds: number;
}

/** Counts of messages, and seconds, are smaller; the totals get room for this. */
const MOST = 9_999_999_999;

function headOf(totals: Totals): string {
  const longest = headText({ tests: MOST, failures: MOST, errors: MOST, skipped: MOST, seconds: MOST });
  return headText(totals).padEnd(longest.length) + '>\n';
}

function headText({ seconds, ...counts }: Totals): string {
  const totals = attributes({ ...counts, time: seconds.toFixed(3) });
  const suites = `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="hooks"${totals}>\n`;
  return `${suites}<testsuite name="hooks replay"${totals}`;
}

class JunitReport implements Report {
  readonly #replacing: ReplacingFile;
  readonly #counts: Record<Verdict, number> = { passed: 0, failure: 0, error: 0, skipped: 0 };

  constructor(replacing: ReplacingFile) {
    this.#replacing = replacing;
  }

  add(result: ReportedResult): Promise<void> | undefined {
    this.#counts[VERDICTS[result.outcome]]++;
    return this.#replacing.file.add(Buffer.from(testCaseOf(result)));
  }

  async finish({ ms }: ReportedSummary): Promise<void> {
    const { passed, failure, error, skipped } = this.#counts;
    const tests = passed + failure + error + skipped;
    const head = headOf({ tests, failures: failure, errors: error, skipped, seconds: ms / 1_000 });
    await this.#replacing.commit(async (file) => {
      await file.add(Buffer.from('</testsuite>\n</testsuites>\n'));
      await file.replace(0, Buffer.from(head));
    });
  }

  abandon(): Promise<void> {
    return this.#replacing.abandon();
  }
}

type Verdict = 'passed' | 'failure' | 'error' | 'skipped';

/** The verdicts by outcome. A message that could not be tried is an error, so that an interrupted replay does not count as passed. */
const VERDICTS = {
  delivered: 'passed',
  queued: 'passed',
  failed: 'failure',
  invalid: 'error',
  unsent: 'error',
  filtered: 'skipped',
} as const satisfies Record<ReportedOutcome, Verdict>;

function testCaseOf(result: ReportedResult): string {
  const { name, origin, ms } = result;
  const time = ms === undefined ? undefined : (ms / 1_000).toFixed(3);
  // Jenkins and GitLab tell cases apart by class and name: the line makes them differ.
  const place = { classname: origin.file, name: `${name} (line ${origin.line})`, ...origin, time };
  const verdict = VERDICTS[result.outcome];
  if (verdict === 'passed') return `<testcase${attributes(place)}/>\n`;
  return `<testcase${attributes(place)}>${verdictOf(verdict, result)}</testcase>\n`;
}

function verdictOf(verdict: Verdict, result: ReportedResult): string {
  const { outcome, error, reason = outcome } = result;
  if (verdict === 'skipped') return `<skipped${attributes({ message: reason })}/>`;
  return `<${verdict}${attributes({ message: reason, type: error ?? outcome })}>${escapeXml(detailsOf(result))}</${verdict}>`;
}

const DETAILS = ['outcome', 'origin', 'messageId', 'url', 'status', 'error', 'attempts', 'reason'] as const;

function detailsOf(result: ReportedResult): string {
  const facts = { ...result, origin: `${result.origin.file}:${result.origin.line}` };
  return DETAILS.filter((name) => facts[name] !== undefined)
    .map((name) => `${name}: ${facts[name]}`)
    .join('\n');
}
