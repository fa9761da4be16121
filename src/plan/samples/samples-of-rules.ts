import { createHash } from 'node:crypto';
import { isJsonObject, type JsonObject, type JsonValue } from '../../message/types.ts';
import type { PlanCheck } from '../checking/plan-check.ts';
import { ruleLabel, type PlanDocument, type PlanRule, type RuleType } from '../rule.ts';
import type { PlanViolation } from '../violation.ts';
import { sampleValue, type SampleChoice } from './sample-value.ts';

/** A message that follows a rule, or what the most complete message violates because none was found. */
export type PlanSample = { readonly label: string } & (
  | { readonly message: JsonObject; readonly violations?: undefined }
  | { readonly message?: undefined; readonly violations: readonly PlanViolation[] }
);

interface MessageChoice extends SampleChoice {
  /** Whether the schema also decides the usual fields, such as `userId`. */
  readonly isBySchema: boolean;
}

/** Attempts for each rule: with all properties that it lists, then with the required ones only. */
const CHOICES: readonly MessageChoice[] = [false, true].flatMap((isShort) => {
  return [false, true].flatMap((isBySchema) => {
    return [0, 1, 2, 3].map((alternative) => ({ alternative, isShort, isBySchema }));
  });
});

/** Makes a message for each rule but the common one. The same plan gives the same messages. */
export function samplesOfRules({ rules }: PlanDocument, check: PlanCheck): readonly PlanSample[] {
  const common = rules.filter(({ type }) => type === 'common');
  return rules.filter(({ type }) => type !== 'common').map((rule) => sampleOf(rule, common, check));
}

function sampleOf(rule: PlanRule, common: readonly PlanRule[], check: PlanCheck): PlanSample {
  const label = ruleLabel(rule);
  let first: readonly PlanViolation[] | undefined;
  for (const choice of CHOICES) {
    const message = messageOfRule(rule, common, choice);
    const violations = check.violations(message);
    if (violations.length === 0) return { label, message };
    first ??= violations;
  }
  return { label, violations: first ?? [] };
}

/** A fixed time, because the same plan must give the same messages. `hooks replay --timestamps` can change it. */
const TIMESTAMP = '2026-01-01T00:00:00.000Z';

/** The fields of a message that a tracking API requires, and those that a receiver expects. */
function usualFields({ type, event, version }: PlanRule): JsonObject {
  const name = ruleLabel({ type, event, version });
  const messageId = `sample-${createHash('sha256').update(name).digest('hex').slice(0, 16)}`;
  const fields: JsonObject = { messageId, timestamp: TIMESTAMP, userId: 'user-1' };
  return { ...fields, ...FIELDS_OF_TYPES[type] };
}

const FIELDS_OF_TYPES: Partial<Readonly<Record<RuleType, JsonObject>>> = {
  group: { groupId: 'group-1' },
  alias: { previousId: 'user-0' },
  page: { name: 'Home' },
  screen: { name: 'Home' },
};

/** The types of fields in the tracking API, for rules that list a field without its type. */
const FORM: JsonObject = {
  type: 'object',
  properties: {
    ...Object.fromEntries(
      ['context', 'integrations', 'properties', 'traits'].map((name) => [name, { type: 'object' }]),
    ),
    ...Object.fromEntries(
      ['timestamp', 'originalTimestamp', 'sentAt', 'receivedAt'].map((name) => [
        name,
        { format: 'date-time' },
      ]),
    ),
  },
};

function messageOfRule(rule: PlanRule, common: readonly PlanRule[], choice: MessageChoice): JsonObject {
  const parts = [...common, rule].map(({ schema }) => sampleValue(schema, FORM, choice));
  const made = parts.filter(isJsonObject).reduce<JsonObject>(merged, {});
  const { type, event, version } = rule;
  const identity = { type, ...(event !== undefined && { event }) };
  const usual = usualFields(rule);
  const message = { ...identity, ...usual, ...made, ...(!choice.isBySchema && usual), ...identity };
  return version === 1 ? message : merged(message, { context: { protocols: { event_version: version } } });
}

/** Joins two objects and the objects in them. Other values of `second` replace those of `first`. */
function merged(first: JsonObject, second: JsonObject): JsonObject {
  const entries = Object.entries(second).map(([key, value]): [string, JsonValue] => {
    const before = Object.hasOwn(first, key) ? first[key] : undefined;
    return [key, isJsonObject(before) && isJsonObject(value) ? merged(before, value) : value];
  });
  return { ...first, ...Object.fromEntries(entries) };
}
