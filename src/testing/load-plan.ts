import { resolve } from 'node:path';
import type { JsonValue } from '../message/types.ts';
import { PlanCheck } from '../plan/checking/plan-check.ts';
import { readPlan, type PlanViolation } from '../plan/plan.ts';

/** A loaded tracking plan. */
export interface TrackingPlan {
  /** The violations of a message, none if it follows the plan. At most 10. */
  violations(message: JsonValue): readonly PlanViolation[];
}

/**
 * Loads the tracking plan for `toFollowPlan`: a file or a folder, as `hooks plan lint` takes it. Throws InputError if it
 * cannot be used.
 */
export async function loadPlan(path: string): Promise<TrackingPlan> {
  return new PlanCheck(await readPlan(resolve(path), { shown: path, parseYaml }));
}

/** Loads the parser only for a YAML file. */
async function parseYaml(file: string, text: string): Promise<unknown> {
  const { defaultLoaders } = await import('../config/files/yaml.ts');
  return defaultLoaders['.yaml'](file, text);
}
