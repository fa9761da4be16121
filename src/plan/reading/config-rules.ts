import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from '../../message/types.ts';
import type { PlanRule, RulesFound, RuleType } from '../rule.ts';
import { expected, isVersion, readEach, type PlacedValue } from './segment-rules.ts';

/**
 * Reads rules as Segment's older Config API returns them: `events` with the schemas of their messages, and schemas for
 * `identify`, `group` and all messages (`global`). `identify_traits` and `group_traits` list traits one by one.
 */
export function readConfigRules(rules: JsonObject, pointer: string, file: string): RulesFound {
  const { events = [], identify_traits: identifyTraits, group_traits: groupTraits } = rules;
  if (!isJsonArray(events)) {
    return { rules: [], problems: [expected('`events` to be a list', events, { file, pointer })] };
  }
  const ofEvents = readEach(
    events.map((value, index) => ({ value, pointer: `${pointer}/events/${index}`, file })),
    eventRule,
  );
  const traits = { identify: identifyTraits, group: groupTraits };
  const types: readonly (readonly [string, RuleType])[] = [
    ['identify', 'identify'],
    ['group', 'group'],
    ['global', 'common'],
  ];
  const ofTypes = types.flatMap(([key, type]): PlanRule[] => {
    const schema = rules[key];
    const listed =
      type === 'common' ? undefined : schemaOfTraits(traits[type === 'group' ? 'group' : 'identify']);
    const known = isJsonObject(schema) && Object.keys(schema).length > 0 ? schema : listed;
    return known === undefined
      ? []
      : [{ type, version: 1, schema: known, file, pointer: `${pointer}/${key}` }];
  });
  return { ...ofEvents, rules: [...ofEvents.rules, ...ofTypes] };
}

function eventRule(placed: PlacedValue): PlanRule {
  const { file, pointer, value } = placed;
  const { name = null, version = 1, rules = {} } = isJsonObject(value) ? value : {};
  if (typeof name !== 'string' || name === '') {
    throw expected('`name` to be the name of an event', name, placed);
  }
  if (!isVersion(version)) throw expected('`version` to be an integer from 1', version, placed);
  if (!isJsonObject(rules)) throw expected('`rules` to be a JSON Schema', rules, placed);
  return { type: 'track', event: name, version, schema: rules, file, pointer };
}

/** Makes the schema of a message from a list of traits: `{name, description, schema?}`. Undefined for an empty list. */
function schemaOfTraits(traits: JsonValue | undefined): JsonObject | undefined {
  if (!isJsonArray(traits) || traits.length === 0) return undefined;
  const named = traits.flatMap((trait): [string, JsonValue][] => {
    const { name, rules, schema = rules ?? {} } = isJsonObject(trait) ? trait : {};
    return typeof name === 'string' ? [[name, schema]] : [];
  });
  return {
    type: 'object',
    properties: { traits: { type: 'object', properties: Object.fromEntries(named) } },
  };
}
