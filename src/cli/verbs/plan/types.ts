import { planTypes } from '../../../plan/plan.ts';
import { ExitCode } from '../../exit-code.ts';
import { readPlanFile } from '../../flags/plan-file.ts';
import type { Io } from '../../io.ts';

/** Runs `hooks plan types`. */
export async function writePlanTypes(plan: string, io: Io): Promise<ExitCode> {
  io.verbatim.out(await planTypes(await readPlanFile(plan, io)));
  return ExitCode.ok;
}
