import { resolve } from 'node:path';
import { readPlan, type PlanDocument } from '../../plan/plan.ts';
import type { Io } from '../io.ts';

/** Reads the tracking plan that a flag or an argument names: a file or a folder. Throws InputError. */
export function readPlanFile(path: string, { cwd }: Pick<Io, 'cwd'>): Promise<PlanDocument> {
  return readPlan(resolve(cwd, path), { shown: path, parseYaml });
}

/** Loads the parser only for a YAML file. */
async function parseYaml(file: string, text: string): Promise<unknown> {
  const { defaultLoaders } = await import('../../config/files/yaml.ts');
  return defaultLoaders['.yaml'](file, text);
}
