import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { ExitCode } from '../exit-code.ts';
import type { Io } from '../io.ts';
import type { Reported } from './write-failure-report.ts';

/**
 * Runs a command that has --report. When the command cannot run and has written no report, this writes one that says so: the one
 * at that path may be of an earlier day, and green.
 */
export async function withFailureReport(
  { report, suite, inputs }: Reported,
  io: Pick<Io, 'cwd'>,
  run: () => Promise<ExitCode>,
): Promise<ExitCode> {
  if (report === undefined) return run();
  const path = resolve(io.cwd, report);
  const before = await fileAt(path);
  try {
    return await run();
  } catch (error) {
    // A report replaces the file, so that a new one has another inode.
    if ((await fileAt(path)) === before) {
      const { writeFailureReport } = await import('./write-failure-report.ts');
      // The first error counts, not that of the report.
      await writeFailureReport(error, { path, report, suite, inputs, cwd: io.cwd }).catch(() => {});
    }
    throw error;
  }
}

function fileAt(path: string): Promise<string | undefined> {
  return stat(path).then(
    ({ dev, ino }) => `${dev} ${ino}`,
    () => undefined,
  );
}
