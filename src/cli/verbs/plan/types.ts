import { planTypes } from '../../../plan/plan.ts';
import { escapeInJson } from '../../../redact.ts';
import { ExitCode } from '../../exit-code.ts';
import { readPlanFile } from '../../flags/plan-file.ts';
import type { Io } from '../../io.ts';

/** Runs `hooks plan types`. */
export async function writePlanTypes(plan: string, io: Io): Promise<ExitCode> {
  // In a program too, characters that change the direction of text would hide what the reader of the file is shown.
  io.verbatim.out(escapeInJson(await planTypes(await readPlanFile(plan, io))));
  return ExitCode.ok;
}
