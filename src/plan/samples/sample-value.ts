import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from '../../message/types.ts';
import { targetOf } from '../schema-parts.ts';
import { mergeSchemas } from './merge-schemas.ts';
import { sampleNumber } from './sample-number.ts';
import { sampleText } from './sample-text.ts';

/** Which value is made, if a schema allows several. */
export interface SampleChoice {
  /** Number of the alternative of `anyOf`, `oneOf`, and of `then` (even) and `else` (odd). */
  readonly alternative: number;
  /** Whether properties that are not required are left out. */
  readonly isShort: boolean;
}

interface SamplePlace extends SampleChoice {
  /** The schema to whose definitions a `$ref` refers. */
  readonly whole: JsonValue;
  readonly depth: number;
  /** Number of the item in its list, so that the items of a list differ. */
  readonly item: number;
}

/** Depth from which properties that are not required are left out, because a schema may contain itself. */
const MOST_DEPTH = 8;
/** Depth at which a schema that requires itself is given up. */
const END_DEPTH = 64;
/** Maximum number of items of a list and of further properties of an object. */
const MOST_MEMBERS = 100;

/**
 * Makes a value that most likely matches a schema: it obeys the keywords of JSON Schema without looking for a solution of
 * their combinations, so the caller must check the value. The value has the form of `form` too. Undefined if
 * the schema matches nothing.
 */
export function sampleValue(
  schema: JsonValue,
  form: JsonObject,
  choice: SampleChoice,
): JsonValue | undefined {
  if (schema === false) return undefined;
  return valueOf({ allOf: [form, schema] }, { ...choice, whole: schema, depth: 0, item: 0 });
}

function valueOf(schema: JsonValue, place: SamplePlace): JsonValue | undefined {
  if (schema === false || place.depth > END_DEPTH) return undefined;
  const flat = mergeSchemas(flattened(schema, place, 0));
  const { const: only, enum: allowed } = flat;
  if (only !== undefined) return only;
  if (isJsonArray(allowed)) return allowed[place.item % allowed.length];
  return typedValue(typeOf(flat), flat, place);
}

/** Maximum number of references and combinations that lead to the schemas of one value. */
const MOST_NESTED = 50;

/** The schemas that a value must match, without those that combine others. */
function flattened(schema: JsonValue, place: SamplePlace, nested: number): readonly JsonObject[] {
  if (!isJsonObject(schema) || nested > MOST_NESTED) return [];
  const { allOf, anyOf, oneOf, $ref, if: condition, then, else: otherwise, ...own } = schema;
  const isThen = place.alternative % 2 === 0;
  const conditional = condition === undefined ? [] : isThen ? [condition, then] : [otherwise];
  const chosen = [anyOf, oneOf].map((list) => {
    return isJsonArray(list) ? list[place.alternative % list.length] : undefined;
  });
  const target = typeof $ref === 'string' ? targetOf($ref, place.whole) : undefined;
  const others = [target, ...(isJsonArray(allOf) ? allOf : []), ...chosen, ...conditional];
  return [own, ...others.flatMap((each) => flattened(each ?? null, place, nested + 1))];
}

/** Keywords that are for values of one type only. */
const TYPE_OF_KEYWORDS: readonly (readonly [string, readonly string[]])[] = [
  ['object', ['properties', 'required', 'additionalProperties', 'patternProperties', 'minProperties']],
  ['array', ['items', 'prefixItems', 'minItems', 'maxItems', 'uniqueItems', 'contains']],
  ['number', ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf']],
];

function typeOf({ type, ...keywords }: JsonObject): JsonValue | undefined {
  const types = type === undefined ? [] : [type].flat();
  const wanted = types.find((each) => each !== 'null') ?? types[0];
  if (wanted !== undefined) return wanted;
  const [implied] =
    TYPE_OF_KEYWORDS.find(([, names]) => names.some((name) => keywords[name] !== undefined)) ?? [];
  return implied ?? 'string';
}

function typedValue(
  type: JsonValue | undefined,
  flat: JsonObject,
  place: SamplePlace,
): JsonValue | undefined {
  switch (type) {
    case 'object':
      return objectOf(flat, place);
    case 'array':
      return listOfSchema(flat, place);
    case 'number':
    case 'integer':
      return sampleNumber(flat, type === 'integer', place.item);
    case 'boolean':
      return place.item % 2 === 0;
    case 'null':
      return null;
    default:
      return sampleText(flat, place.item);
  }
}

function objectOf(flat: JsonObject, place: SamplePlace): JsonObject {
  const { required = [], properties = {}, minProperties = 0, maxProperties = Infinity } = flat;
  const needed = isJsonArray(required) ? required.filter((name) => typeof name === 'string') : [];
  const listed = isJsonObject(properties) ? Object.keys(properties) : [];
  const isShort = place.isShort || place.depth >= MOST_DEPTH;
  const names = [...new Set([...needed, ...(isShort ? [] : listed)])].slice(0, Number(maxProperties));
  const missing = Math.min(Number(minProperties), MOST_MEMBERS) - names.length;
  const more = [...listed.filter((name) => !names.includes(name)), ...furtherNames(flat, missing)];
  const within = { ...place, depth: place.depth + 1, item: 0 };
  const entries = [...names, ...more.slice(0, Math.max(0, missing))].flatMap(
    (name): [string, JsonValue][] => {
      const value = valueOf(propertySchema(name, flat), within);
      return value === undefined ? [] : [[name, value]];
    },
  );
  return Object.fromEntries(entries);
}

/** Names for properties that the schema does not list. */
function furtherNames({ propertyNames }: JsonObject, count: number): readonly string[] {
  const schema = isJsonObject(propertyNames) ? propertyNames : {};
  return Array.from({ length: Math.max(0, count) }, (_, index) => sampleText(schema, index));
}

function propertySchema(
  name: string,
  { properties, additionalProperties, patternProperties }: JsonObject,
): JsonValue {
  if (isJsonObject(properties) && Object.hasOwn(properties, name)) return properties[name] ?? {};
  const [pattern] = isJsonObject(patternProperties) ? Object.values(patternProperties) : [];
  return pattern ?? (isJsonObject(additionalProperties) ? additionalProperties : {});
}

function listOfSchema(flat: JsonObject, place: SamplePlace): readonly JsonValue[] {
  const { items = {}, prefixItems, additionalItems = {}, contains, minItems = 1, maxItems = Infinity } = flat;
  const first = [prefixItems, items].find(isJsonArray) ?? [];
  const rest = isJsonArray(items) ? additionalItems : items;
  const isEnded = place.depth >= MOST_DEPTH && flat['minItems'] === undefined;
  const least = isEnded ? 0 : Math.max(Number(minItems), first.length);
  const count = Math.min(least, Number(maxItems), MOST_MEMBERS);
  const schemas = Array.from({ length: count }, (_, index) => {
    const own = first[index] ?? rest;
    return index === first.length && contains !== undefined ? { allOf: [own, contains] } : own;
  });
  return schemas.flatMap((schema, item) => {
    const value = valueOf(schema, { ...place, depth: place.depth + 1, item });
    return value === undefined ? [] : [value];
  });
}
