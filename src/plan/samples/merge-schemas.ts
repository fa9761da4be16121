import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from '../../message/types.ts';

/** Joins schemas that apply to the same value into one: its keywords are the stricter ones of all. */
export function mergeSchemas(schemas: readonly JsonObject[]): JsonObject {
  return schemas.reduce<JsonObject>((merged, schema) => {
    const entries = Object.entries(schema).map(([keyword, value]): [string, JsonValue] => {
      const before = Object.hasOwn(merged, keyword) ? merged[keyword] : undefined;
      return [keyword, before === undefined ? value : stricter(keyword, before, value)];
    });
    return { ...merged, ...Object.fromEntries(entries) };
  }, {});
}

function stricter(keyword: string, first: JsonValue, second: JsonValue): JsonValue {
  const numbers = [first, second].filter((value) => typeof value === 'number');
  if (/^(?:m|exclusiveM)ax/.test(keyword)) return Math.min(...numbers);
  if (/^(?:m|exclusiveM)in/.test(keyword)) return Math.max(...numbers);
  switch (keyword) {
    case 'type':
      return sharedTypes(first, second);
    case 'enum':
      return shared(first, second);
    case 'required':
      return [...new Set([...listOf(first), ...listOf(second)])];
    case 'properties':
    case 'patternProperties':
      return bothNamed(first, second);
    case 'items':
    case 'contains':
      return isJsonArray(first) ? first : { allOf: [first, second] };
    default:
      return second;
  }
}

function listOf(value: JsonValue): readonly JsonValue[] {
  return isJsonArray(value) ? value : [value];
}

/** `integer` is the stricter one of `number` and `integer`. */
function sharedTypes(first: JsonValue, second: JsonValue): JsonValue {
  const types = shared(withIntegers(listOf(first)), withIntegers(listOf(second)));
  return types.filter((type) => type !== 'integer' || !types.includes('number'));
}

function withIntegers(types: readonly JsonValue[]): readonly JsonValue[] {
  return types.includes('number') ? [...types, 'integer'] : types;
}

function shared(first: JsonValue, second: JsonValue): readonly JsonValue[] {
  const texts = new Set(listOf(second).map((value) => JSON.stringify(value)));
  return listOf(first).filter((value) => texts.has(JSON.stringify(value)));
}

/** Names in both lead to schemas that must both match. */
function bothNamed(first: JsonValue, second: JsonValue): JsonObject {
  const [before, after] = [first, second].map((each) => (isJsonObject(each) ? each : {})) as [
    JsonObject,
    JsonObject,
  ]; // two values
  const entries = Object.entries(after).map(([name, schema]): [string, JsonValue] => {
    const other = Object.hasOwn(before, name) ? before[name] : undefined;
    return [name, other === undefined ? schema : { allOf: [other, schema] }];
  });
  return { ...before, ...Object.fromEntries(entries) };
}
