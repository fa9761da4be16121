import { InputError } from '../../errors.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../message/types.ts';
import { contentField, RULE_TYPES, type PlanRule, type RulesFound, type RuleType } from '../rule.ts';

/** A value in a file, with its place as a JSON pointer. */
export interface PlacedValue {
  readonly value: JsonValue;
  readonly pointer: string;
  readonly file: string;
}

/** Reads rules as Segment's Public API returns them: `{key, type, version, jsonSchema}`. */
export function readSegmentRules(values: readonly JsonValue[], pointer: string, file: string): RulesFound {
  return readEach(
    values.map((value, index) => ({ value, pointer: `${pointer}/${index}`, file })),
    segmentRule,
  );
}

/** Reads each value as a rule. Collects the problems of those that are not. */
export function readEach(
  values: readonly PlacedValue[],
  read: (placed: PlacedValue) => PlanRule,
): RulesFound {
  const rules: PlanRule[] = [];
  const problems: InputError[] = [];
  for (const placed of values) {
    try {
      rules.push(read(placed));
    } catch (error) {
      if (!(error instanceof InputError)) throw error;
      problems.push(error);
    }
  }
  return { rules, problems };
}

function segmentRule(placed: PlacedValue): PlanRule {
  const { file, pointer, value } = placed;
  const { key = null, type = 'TRACK', version = 1, jsonSchema = null } = isJsonObject(value) ? value : {};
  const named = typeof type === 'string' ? ruleType(type) : undefined;
  if (named === undefined) {
    throw expected('`type` to be TRACK, IDENTIFY, GROUP, PAGE, SCREEN or COMMON', type, placed);
  }
  const event = named === 'track' ? key : undefined;
  if (event !== undefined && (typeof event !== 'string' || event === '')) {
    throw expected('`key` to be the name of an event', key, placed);
  }
  if (!isVersion(version)) throw expected('`version` to be an integer from 1', version, placed);
  if (!isJsonObject(jsonSchema)) throw expected('`jsonSchema` to be a JSON Schema', jsonSchema, placed);
  return { type: named, event, version, schema: wholeSchema(jsonSchema, named), file, pointer };
}

/** Reads the name of a rule's type, in any case. Undefined for another word. */
export function ruleType(text: string): RuleType | undefined {
  return RULE_TYPES.find((type) => type === text.toLowerCase());
}

export function isVersion(value: JsonValue | undefined): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0;
}

/** The error about a value of a rule, which names the place of the rule. */
export function expected(
  what: string,
  got: JsonValue | undefined,
  { file, pointer }: Omit<PlacedValue, 'value'>,
): InputError {
  const text = got === undefined ? 'nothing' : JSON.stringify(got).slice(0, 80);
  return new InputError(`Expected ${what}, got ${text}${pointer === '' ? '' : ` (${pointer})`}`, {
    file,
    hint: 'correct the rule',
  });
}

/**
 * Returns the schema of the whole message. Typewriter saves the schema of the properties (or traits) alone, and marks it
 * by `eventMetadata`: https://github.com/segmentio/typewriter.
 */
export function wholeSchema(schema: JsonObject, type: RuleType): JsonObject {
  const { eventMetadata, $schema, ...own } = schema;
  if (eventMetadata === undefined) return schema;
  const field = contentField(type);
  return {
    ...($schema !== undefined && { $schema }),
    type: 'object',
    properties: { [field]: own },
    ...(own['required'] !== undefined && { required: [field] }),
  };
}
