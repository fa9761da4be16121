import { resolve } from 'node:path';
import { parseYaml } from '../../config/files/parse-yaml.ts';
import { readPlan, type PlanDocument } from '../../plan/plan.ts';
import type { Io } from '../io.ts';

/** Reads the tracking plan that a flag or an argument names: a file or a folder. Throws InputError. */
export function readPlanFile(path: string, { cwd }: Pick<Io, 'cwd'>): Promise<PlanDocument> {
  return readPlan(resolve(cwd, path), { shown: path, parseYaml });
}
