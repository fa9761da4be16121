import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { openCaseReport, type CaseReport } from '../../report/case-report.ts';
import type { ExitCode } from '../exit-code.ts';
import type { Io } from '../io.ts';
import type { GithubStep } from './github-step.ts';
import type { Reported } from './write-failure-report.ts';

/** The reports that a command writes besides its output. */
export interface Reports {
  /** The step of the GitHub workflow that runs the command, for annotations. Undefined outside GitHub workflows. */
  readonly github: GithubStep | undefined;
  /**
   * Opens the report of a command with few results; undefined if there is none to write. Throws ConfigError or InputError.
   */
  readonly openCases: () => Promise<CaseReport | undefined>;
}

/**
 * Runs a command that has --report. If the command fails before it has written a report, writes one with the error, because
 * an older report at that path could show success.
 */
export async function withReports(
  reported: Reported,
  io: Io,
  run: (reports: Reports) => Promise<ExitCode>,
): Promise<ExitCode> {
  const { report, suite } = reported;
  const isOnGithub = io.env['GITHUB_ACTIONS'] === 'true';
  const github = isOnGithub ? new (await import('./github-step.ts')).GithubStep(suite, io) : undefined;
  const path = report === undefined ? undefined : resolve(io.cwd, report);
  await rejectLoss(reported, io);
  const before = path === undefined ? undefined : await fileAt(path);
  try {
    return await run({ github, openCases: () => openCases(reported, io, github) });
  } catch (error) {
    github?.addError(error);
    // Writing a report replaces the file, so a new report has another inode.
    if (report !== undefined && path !== undefined && (await fileAt(path)) === before) {
      const { writeFailureReport } = await import('./write-failure-report.ts');
      // The error of the command counts, not an error of its report.
      await writeFailureReport(error, { path, report, suite }).catch(() => {});
    }
    throw error;
  } finally {
    await github?.end();
  }
}

/** Throws InputError if the report would replace another file of the command. */
async function rejectLoss({ report, inputs }: Reported, { cwd }: Io): Promise<void> {
  if (report === undefined) return;
  const [{ expandInputs }, { rejectOverwrite }] = await Promise.all([
    import('../../replay/reading/expand-inputs.ts'),
    import('../../report/reject-overwrite.ts'),
  ]);
  const target = { path: resolve(cwd, report), name: report, flag: '--report' };
  for (const input of inputs) {
    // An input that does not exist cannot be overwritten.
    const files = input === undefined ? [] : await expandInputs([input], cwd).catch(() => []);
    await rejectOverwrite(
      files.map((file) => resolve(cwd, file)),
      target,
    );
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
