import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { openCaseReport, type CaseReport } from '../../report/case-report.ts';
import type { ExitCode } from '../exit-code.ts';
import type { Io } from '../io.ts';
import type { GithubStep } from './github-step.ts';
import type { Reported } from './write-failure-report.ts';

/** What a command writes besides its output. */
export interface Reports {
  /** Undefined where no workflow of GitHub runs the command. */
  readonly github: GithubStep | undefined;
  /** Opens the report of a command that has few results. Undefined without --report. Throws ConfigError or InputError. */
  readonly openCases: () => Promise<CaseReport | undefined>;
}

/**
 * Runs a command that has --report. When the command cannot run and has written no report, this writes one that says so: the one
 * at that path may be of an earlier day, and green.
 */
export async function withReports(
  reported: Reported,
  io: Io,
  run: (reports: Reports) => Promise<ExitCode>,
): Promise<ExitCode> {
  const { report, suite, inputs } = reported;
  const isOnGithub = io.env['GITHUB_ACTIONS'] === 'true';
  const github = isOnGithub ? new (await import('./github-step.ts')).GithubStep(suite, io) : undefined;
  const path = report === undefined ? undefined : resolve(io.cwd, report);
  const before = path === undefined ? undefined : await fileAt(path);
  try {
    return await run({ github, openCases: () => openCases(reported, io, github) });
  } catch (error) {
    github?.addError(error);
    // A report replaces the file, so that a new one has another inode.
    if (report !== undefined && path !== undefined && (await fileAt(path)) === before) {
      const { writeFailureReport } = await import('./write-failure-report.ts');
      // The first error counts, not that of the report.
      await writeFailureReport(error, { path, report, suite, inputs, cwd: io.cwd }).catch(() => {});
    }
    throw error;
  } finally {
    await github?.end();
  }
}

async function openCases(
  { report, suite }: Reported,
  { cwd }: Io,
  github: GithubStep | undefined,
): Promise<CaseReport | undefined> {
  const file =
    report === undefined ? undefined : await openCaseReport(resolve(cwd, report), { name: report, suite });
  if (github === undefined) return file;
  return {
    finish: async (cases, summary, output) => {
      github.addCases(cases);
      await file?.finish(cases, summary, output);
    },
  };
}

function fileAt(path: string): Promise<string | undefined> {
  return stat(path).then(
    ({ dev, ino }) => `${dev} ${ino}`,
    () => undefined,
  );
}
