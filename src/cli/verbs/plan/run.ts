import { resolve } from 'node:path';
import { systemClock } from '../../../clock.ts';
import { compilePlan, type PlanCheck } from '../../../plan/plan.ts';
import { printable } from '../../../redact.ts';
import { nothingToRead } from '../../../replay/reading/read-entries.ts';
import { openReport } from '../../../report/open-report.ts';
import type { Report } from '../../../report/report.ts';
import { rejectionOfMessage } from '../../../service/ingest/sort-messages.ts';
import { ExitCode, interruptedCode } from '../../exit-code.ts';
import { readPlanFile } from '../../flags/plan-file.ts';
import type { Io } from '../../io.ts';
import type { GithubStep } from '../../print/github-step.ts';
import { problemOf, LintOutput, type LintProblem } from './lint-output.ts';
import { entriesOf, openFiles, type EntryOfFile } from './messages.ts';
import type { LintFlags } from './options.ts';

interface LintContext {
  readonly options: LintFlags;
  readonly io: Io;
  readonly github?: GithubStep | undefined;
}

/** Runs `hooks plan lint`: reads the whole plan before any message. */
export async function lintFiles(
  plan: string,
  patterns: readonly string[],
  { options, io, github }: LintContext,
): Promise<ExitCode> {
  const check = await compilePlan(await readPlanFile(plan, io));
  const inputs = await openFiles(patterns, io);
  const report = await reportOf(options, io);
  const output = new LintOutput({ options, io, report, github });
  try {
    for await (const entry of entriesOf(inputs, io)) {
      await output.add(entry, problemsOf(entry, check, options));
    }
    if (output.messages === 0 && !io.signal.aborted) throw nothingToRead(inputs);
    if (io.signal.aborted) await report?.abandon();
  } catch (error) {
    await report?.abandon();
    throw error;
  }
  if (io.signal.aborted) output.interrupt();
  else await output.finish();
  const isOver = output.violations > (options.maxViolations ?? 0) || output.read > output.messages;
  return interruptedCode(io) ?? (isOver ? ExitCode.negative : ExitCode.ok);
}

function reportOf({ report }: LintFlags, { cwd }: Io): Promise<Report> | undefined {
  const formats = ['.sarif', '.xml', '.json'] as const;
  return report === undefined
    ? undefined
    : openReport(resolve(cwd, report), { name: report, suite: 'hooks plan lint', formats });
}

/** The violations of a message: of the plan, and of the limits of a tracking API, which would discard the message. */
function problemsOf(
  entry: EntryOfFile,
  check: PlanCheck,
  { allowUnplanned }: LintFlags,
): readonly LintProblem[] {
  if (entry.value === undefined) return [unusable('a message', entry.error.message)];
  const { value, bytes } = entry;
  const rejection = rejectionOfMessage({ input: value }, { now: systemClock.now(), requestBytes: bytes });
  if (rejection !== undefined) return [unusable('a message that a tracking API accepts', rejection.message)];
  const violations = check.violations(value).map(problemOf);
  return allowUnplanned ? violations.filter(({ kind }) => !kind.startsWith('unplanned')) : violations;
}

/** A message that cannot be used, whatever the plan says. */
function unusable(expected: string, reason: string): LintProblem {
  return {
    kind: 'other',
    pointer: '',
    expected,
    got: reason,
    sentence: `It is not ${expected}: ${printable(reason, 500)}`,
  };
}
