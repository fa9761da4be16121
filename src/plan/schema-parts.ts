import type { PathStep } from '../message/json/json-path.ts';
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from '../message/types.ts';

/** Keywords whose value maps names to schemas. */
const NAMED = ['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas', 'dependencies'];

/** Keywords whose value is a schema or a list of schemas. */
const SCHEMAS = [
  'allOf',
  'anyOf',
  'oneOf',
  'not',
  'if',
  'then',
  'else',
  'items',
  'prefixItems',
  'additionalItems',
  'unevaluatedItems',
  'contains',
  'additionalProperties',
  'unevaluatedProperties',
  'propertyNames',
  'contentSchema',
];

/** Returns the schemas in the value of a keyword, each with its path below the keyword. */
export function schemasOf(key: string, value: JsonValue): readonly (readonly [PathStep[], JsonValue])[] {
  if (NAMED.includes(key)) {
    return isJsonObject(value) ? Object.entries(value).map(([name, schema]) => [[name], schema ?? null]) : [];
  }
  if (!SCHEMAS.includes(key)) return [];
  if (!isJsonArray(value)) return [[[], value]];
  return value.map((schema, index) => [[index], schema]);
}

/** Returns a schema in which `change` has replaced each schema, inner ones first. Values of other keywords are kept. */
export function mapSchemas(schema: JsonObject, change: (schema: JsonObject) => JsonObject): JsonObject {
  const inner = (value: JsonValue): JsonValue => (isJsonObject(value) ? mapSchemas(value, change) : value);
  const entries = Object.entries(schema).map(([key, value]): [string, JsonValue] => {
    if (NAMED.includes(key) && isJsonObject(value)) {
      const named = Object.entries(value).map(([name, each]): [string, JsonValue] => [name, inner(each)]);
      return [key, Object.fromEntries(named)];
    }
    if (!SCHEMAS.includes(key)) return [key, value];
    return [key, isJsonArray(value) ? value.map(inner) : inner(value)];
  });
  return change(Object.fromEntries(entries));
}

/** Finds the schema that a local `$ref` names. Undefined for other references: the validator reports them. */
export function targetOf(ref: string, whole: JsonValue): JsonValue | undefined {
  if (!ref.startsWith('#')) return undefined;
  const steps = decodeURIComponent(ref.slice(1)).split('/').slice(1);
  return steps.reduce<JsonValue | undefined>((value, step) => {
    const key = step.replaceAll('~1', '/').replaceAll('~0', '~');
    if (isJsonArray(value)) return value[Number(key)];
    return isJsonObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
  }, whole);
}

/** Counts the schemas of a schema, those behind a local `$ref` once for each reference. A reference to itself counts as one. */
export function expandedSize(whole: JsonValue): number {
  const sizes = new Map<JsonObject, number>();
  const sizeOf = (schema: JsonValue): number => {
    if (!isJsonObject(schema)) return 1;
    const known = sizes.get(schema);
    if (known !== undefined) return known;
    sizes.set(schema, 1);
    const { $ref } = schema;
    const target = typeof $ref === 'string' ? targetOf($ref, whole) : undefined;
    const inner = Object.entries(schema)
      .filter(([key]) => key !== '$defs' && key !== 'definitions')
      .flatMap(([key, value]) => schemasOf(key, value).map(([, each]) => each));
    const size = [...inner, target ?? true].reduce<number>((sum, each) => sum + sizeOf(each), 1);
    sizes.set(schema, size);
    return size;
  };
  return sizeOf(whole);
}
