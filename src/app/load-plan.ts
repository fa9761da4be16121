import { resolve } from 'node:path';
import type { JsonValue } from '../message/types.ts';
import { parseYaml } from '../config/files/parse-yaml.ts';
import { compilePlan, readPlan, type PlanViolation } from '../plan/plan.ts';

/** A loaded tracking plan. */
export interface TrackingPlan {
  /** The violations of a message, none if it follows the plan. At most 10. */
  violations(message: JsonValue): readonly PlanViolation[];
}

/**
 * Loads the tracking plan for the option `plan` of a pipeline and for the matcher `toFollowPlan`: a file or a folder, as
 * `hooks plan lint` takes it. Throws InputError if it cannot be used.
 */
export async function loadPlan(path: string): Promise<TrackingPlan> {
  return compilePlan(await readPlan(resolve(path), { shown: path, parseYaml }));
}
