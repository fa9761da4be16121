import { InputError } from '../../errors.ts';
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from '../../message/types.ts';
import { throwProblems } from '../problems.ts';
import { ruleLabel, type PlanDocument, type PlanFile, type PlanRule, type RulesFound } from '../rule.ts';
import { readConfigRules } from './config-rules.ts';
import { isRudderFile, readRudderRules } from './rudder-rules.ts';
import { isSchema, readSchemas, readSingleSchema } from './schema-files.ts';
import { readSegmentRules } from './segment-rules.ts';

/**
 * Reads the files of one plan, each in the form that its content shows: rules of Segment's Public API or of its older
 * Config API, one JSON Schema, or an object of event name to JSON Schema. Throws InputError with all problems.
 */
export function readDocument(files: readonly PlanFile[]): PlanDocument {
  const rudder = files.filter(({ value }) => isRudderFile(value));
  const others = files.filter((file) => !rudder.includes(file));
  const found: FileRules[] = others.map(readFile);
  if (rudder.length > 0) found.push(readRudderRules(rudder));
  const rules = found.flatMap((each) => each.rules);
  const problems = found.flatMap((each) => each.problems);
  throwProblems([...problems, ...repeatedRules(rules)]);
  const isSchemas = found.every((each) => each.isSchemas === true);
  const isForAll = isSchemas && rules.some(({ type }) => type === 'common');
  return { rules, listsProperties: !isSchemas, listsEvents: !isForAll };
}

/** The rules of a file. `isSchemas` marks a file that only maps event names to schemas, as `expect --schema` takes it. */
type FileRules = RulesFound & { readonly isSchemas?: true };

function readFile({ file, value }: PlanFile): FileRules {
  const rules = rulesOf(value, '');
  if (rules !== undefined && isJsonArray(rules.value)) {
    return readSegmentRules(rules.value, rules.pointer, file);
  }
  if (rules !== undefined && isJsonObject(rules.value)) {
    return readConfigRules(rules.value, rules.pointer, file);
  }
  if (isJsonObject(value) && isSchema(value)) return readSingleSchema(value, file);
  if (isEmptyResponse(value)) return { rules: [], problems: [] };
  return { ...readSchemas(value, file), isSchemas: true };
}

/** Whether a value is a response of an API that describes a plan without its rules. */
function isEmptyResponse(value: JsonValue): boolean {
  const keys = isJsonObject(value) ? Object.keys(value) : [];
  return keys.length === 1 && (keys[0] === 'data' || keys[0] === 'trackingPlan');
}

interface PlacedRules {
  readonly value: readonly JsonValue[] | JsonObject;
  readonly pointer: string;
}

/** Finds the rules of a plan as the APIs return it: a list, or `rules`, which may stand within `data` or `trackingPlan`. */
function rulesOf(value: JsonValue, pointer: string): PlacedRules | undefined {
  if (isJsonArray(value)) return { value, pointer };
  if (!isJsonObject(value)) return undefined;
  const { rules } = value;
  if (isJsonArray(rules) || (isJsonObject(rules) && !isSchema(rules))) {
    return { value: rules, pointer: `${pointer}/rules` };
  }
  const within = ['data', 'trackingPlan'].filter((key) => isJsonObject(value[key]) && !isSchema(value[key]));
  for (const key of within) {
    const found = rulesOf(value[key] ?? null, `${pointer}/${key}`);
    if (found !== undefined) return found;
  }
  return undefined;
}

function repeatedRules(rules: readonly PlanRule[]): readonly InputError[] {
  const first = new Map<string, PlanRule>();
  return rules.flatMap((rule) => {
    const label = ruleLabel(rule);
    const other = first.get(label);
    if (other === undefined) first.set(label, rule);
    if (other === undefined) return [];
    const place = other.file === rule.file ? other.pointer : other.file;
    return new InputError(
      `Expected one rule for ${label}, got two (${place}, ${rule.pointer || rule.file})`,
      {
        file: rule.file,
        hint: 'give one of them another version, or remove it',
      },
    );
  });
}
