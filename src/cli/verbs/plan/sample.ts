import { planSamples } from '../../../plan/plan.ts';
import { escapeInJson, printable } from '../../../redact.ts';
import { ExitCode } from '../../exit-code.ts';
import { readPlanFile } from '../../flags/plan-file.ts';
import type { Io } from '../../io.ts';
import { problemOf } from './lint-output.ts';

/** Runs `hooks plan sample`. */
export async function printSamples(plan: string, io: Io): Promise<ExitCode> {
  let code: ExitCode = ExitCode.ok;
  for (const { label, message, violations } of await planSamples(await readPlanFile(plan, io))) {
    if (violations === undefined) {
      io.verbatim.out(`${escapeInJson(JSON.stringify(message))}\n`);
      continue;
    }
    code = ExitCode.negative;
    const [problem] = violations.map(problemOf);
    io.note(`error: no message was found for ${printable(label, 200)}: ${problem?.sentence ?? ''}`);
  }
  return code;
}
