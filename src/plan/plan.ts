import { InputError } from '../errors.ts';
import type { JsonValue } from '../message/types.ts';
import type { PlanChange } from './comparison/compare-plans.ts';
import type { PlanCheck } from './checking/plan-check.ts';
import type { PlanSample } from './samples/samples-of-rules.ts';
import { throwProblems } from './problems.ts';
import type { PlanInference } from './inference/infer-plan.ts';
import { readPlanFiles, type ParseYaml } from './reading/plan-files.ts';
import { readDocument } from './reading/read-document.ts';
import { EVERY_MESSAGE, isSchema, readSchemas } from './reading/schema-files.ts';
import { ruleLabel, type PlanDocument } from './rule.ts';

export type { PlanChange } from './comparison/compare-plans.ts';
export type { PlanCheck } from './checking/plan-check.ts';
export type { PlanDocument, PlanRule } from './rule.ts';
export type { PlanViolation, ViolationKind } from './violation.ts';

/**
 * Reads a tracking plan: a file or a folder of files, recognized by their content. `path` is absolute, and errors name
 * `shown`. Throws InputError if a file cannot be read or is not a plan, with all its problems.
 */
export async function readPlan(
  path: string,
  { shown, parseYaml }: { readonly shown: string; readonly parseYaml: ParseYaml },
): Promise<PlanDocument> {
  const document = readDocument(await readPlanFiles(path, shown, parseYaml));
  if (document.rules.length > 0) return document;
  throw new InputError('Expected a tracking plan, got one without a rule', {
    file: shown,
    hint: 'name a file with rules, as GET /tracking-plans/ID/rules returns them, or a folder with a JSON Schema for each event',
  });
}

/** Reads one JSON Schema for every message, or an object of event name to JSON Schema. Throws InputError with all problems. */
export function planOfSchemas(schemas: JsonValue, file: string): PlanDocument {
  const { rules, problems } = readSchemas(isSchema(schemas) ? { [EVERY_MESSAGE]: schemas } : schemas, file);
  throwProblems(problems);
  return { rules, listsProperties: false, listsEvents: rules.every(({ type }) => type !== 'common') };
}

/** Compiles the schemas of a plan, and loads the validator. Throws InputError with the problems of all rules. */
export async function compilePlan(document: PlanDocument): Promise<PlanCheck> {
  const { PlanCheck: Check } = await import('./checking/plan-check.ts');
  return new Check(document);
}

/** Starts to infer a plan from messages. */
export async function inferPlan(): Promise<PlanInference> {
  const { PlanInference: Inference } = await import('./inference/infer-plan.ts');
  return new Inference();
}

/**
 * Compares two plans rule by rule, in the order of the names of their rules. Throws InputError if a schema of one does not
 * compile.
 */
export async function planChanges(
  before: PlanDocument,
  after: PlanDocument,
): Promise<readonly (PlanChange & { readonly label: string })[]> {
  for (const plan of [before, after]) await compilePlan(plan);
  const { comparePlans } = await import('./comparison/compare-plans.ts');
  return comparePlans(before, after).map((change) => ({ ...change, label: ruleLabel(change.rule) }));
}

/** Forms in which a plan is written: for Segment's Public API, or one JSON Schema for each rule. */
export type PlanForm = 'segment' | 'folder';

/**
 * Returns the files of a plan in another form. For Segment, each file has at most 200 rules, the limit of its API; without
 * `isSplit` one file has all.
 */
export async function planFiles(
  document: PlanDocument,
  { form, isSplit }: { readonly form: PlanForm; readonly isSplit: boolean },
): Promise<readonly { readonly name: string; readonly value: object }[]> {
  const { schemaFiles, segmentParts, MOST_RULES } = await import('./writing/segment-form.ts');
  if (form === 'folder') return schemaFiles(document).map(({ name, schema }) => ({ name, value: schema }));
  const parts = segmentParts(document, isSplit ? MOST_RULES : Infinity);
  return parts.map((value, index) => ({ name: `rules-${index + 1}.json`, value }));
}

/**
 * Writes TypeScript for the events of a plan. Throws InputError if a schema does not compile, or if the optional package
 * json-schema-to-typescript is not installed.
 */
export async function planTypes(document: PlanDocument): Promise<string> {
  await compilePlan(document);
  const { writeTypes } = await import('./types/write-types.ts');
  return writeTypes(document);
}

/** Makes a message for each rule of a plan, or finds what its best message violates. */
export async function planSamples(document: PlanDocument): Promise<readonly PlanSample[]> {
  const check = await compilePlan(document);
  const { samplesOfRules } = await import('./samples/samples-of-rules.ts');
  return samplesOfRules(document, check);
}
