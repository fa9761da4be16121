import { resolve } from 'node:path';
import { parseYaml } from '../../config/files/parse-yaml.ts';
import type { JsonValue } from '../../message/types.ts';
import { compilePlan, readPlan, type PlanDocument, type PlanViolation } from '../../plan/plan.ts';
import { keyedMessage } from '../../receiver/messages/tracking-call.ts';
import type { Io } from '../io.ts';

/** Reads the tracking plan that a flag or an argument names: a file or a folder. Throws InputError. */
export function readPlanFile(path: string, { cwd }: Pick<Io, 'cwd'>): Promise<PlanDocument> {
  return readPlan(resolve(cwd, path), { shown: path, parseYaml });
}

/** Finds what a message violates; none if it follows the plan. A write key in the message is not a violation. */
export type FindViolations = (message: JsonValue) => readonly PlanViolation[];

/** Loads the plan of `--plan`. Throws InputError if the plan cannot be used. */
export async function planFlag(path: string, io: Pick<Io, 'cwd'>): Promise<FindViolations> {
  const check = await compilePlan(await readPlanFile(path, io));
  return (message) => check.violations(keyedMessage(message).value);
}
