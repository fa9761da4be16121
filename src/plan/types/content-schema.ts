import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from '../../message/types.ts';
import { plainSchema } from '../plain-schema.ts';
import { contentField, type PlanRule } from '../rule.ts';
import { mapSchemas } from '../schema-parts.ts';

/** Definition with the schema of the whole message, to which all references are changed. */
const MESSAGE = 'message';

/**
 * Returns the schema of a rule's properties or traits in the form from which types are written: names that a rule does not
 * list are errors, as in `hooks plan lint`.
 */
export function contentSchema({ type, schema }: Pick<PlanRule, 'type' | 'schema'>): JsonObject {
  const whole = isJsonObject(schema) ? plainSchema(schema) : {};
  const found = fieldSchemas(whole, contentField(type));
  const [only, ...others] = found;
  const content = only === undefined || others.length > 0 ? { allOf: found } : only;
  const listed = listsNames(content) ? content : { ...content, type: 'object', properties: {} };
  const description = content['description'] ?? whole['description'];
  return {
    ...typeSchema(listed),
    ...(description !== undefined && { description }),
    definitions: { [MESSAGE]: typeSchema(whole) },
  };
}

function typeSchema(schema: JsonObject): JsonObject {
  return mapSchemas(schema, (each) => withShape(withoutBooleans(withPlainKeywords(each))));
}

/** The schemas of a field: of the message, and of the schemas that the message must match too. */
function fieldSchemas({ properties, allOf }: JsonObject, field: string): readonly JsonObject[] {
  const own = isJsonObject(properties) && Object.hasOwn(properties, field) ? properties[field] : undefined;
  const others = isJsonArray(allOf) ? allOf : [];
  const inner = others.flatMap((each) => (isJsonObject(each) ? fieldSchemas(each, field) : []));
  return isJsonObject(own) ? [own, ...inner] : inner;
}

/** Keywords that say which properties an object has. */
const LISTS = ['properties', 'patternProperties', 'additionalProperties', '$ref', 'allOf', 'anyOf', 'oneOf'];

function listsNames(schema: JsonObject): boolean {
  return LISTS.some((keyword) => [schema[keyword]].flat().length > 0 && schema[keyword] !== undefined);
}

/**
 * Removes what types cannot express, the names of nested schemas, which would collide, and the keywords of the library that
 * would write any text of a plan into the program. Converts the keywords of draft 2020-12 to those of draft 07.
 */
function withPlainKeywords(schema: JsonObject): JsonObject {
  const { title: _title, $id: _id, $anchor: _anchor, nullable, ...named } = schema;
  const { tsType: _type, tsEnumNames: _names, tsImport: _import, extends: _extends, ...safe } = named;
  const { not: _not, if: _if, then: _then, else: _else, dependentSchemas: _schemas, ...others } = safe;
  const { dependencies: _dependencies, $defs, definitions, $ref, prefixItems, ...rest } = others;
  const defined = { ...asObject($defs), ...asObject(definitions) };
  const unevaluated = rest['unevaluatedProperties'];
  const isOpen = unevaluated === true || isJsonObject(unevaluated);
  return {
    ...rest,
    ...(nullable === true && { nullable }),
    ...(Object.keys(defined).length > 0 && { definitions: defined }),
    ...(typeof $ref === 'string' && { $ref: changedReference($ref) }),
    ...(isJsonArray(prefixItems) && { items: prefixItems, additionalItems: rest['items'] ?? {} }),
    ...(isOpen && { additionalProperties: true }),
  };
}

function asObject(value: JsonValue | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}

function changedReference(ref: string): string {
  if (!/^#(?:\/|$)/.test(ref)) return ref;
  return `#/definitions/${MESSAGE}${ref.slice(1).replaceAll('/$defs/', '/definitions/')}`;
}

/** Replaces the schema `true` by `{}`, and removes properties whose schema is `false`, because no value matches it. */
function withoutBooleans({ properties, items, ...others }: JsonObject): JsonObject {
  const named = Object.entries(asObject(properties)).filter(([, each]) => each !== false);
  const values = named.map(([name, each]): [string, JsonValue] => [name, each === true ? {} : (each ?? {})]);
  const listed = isJsonArray(items) ? items.map((each) => (isJsonObject(each) ? each : {})) : items;
  return {
    ...others,
    ...(properties !== undefined && { properties: Object.fromEntries(values) }),
    ...(listed !== undefined && { items: typeof listed === 'boolean' ? {} : listed }),
  };
}

/** Makes an object that lists no name open, or empty if it lists that it has none, and drops alternatives without a type. */
function withShape(schema: JsonObject): JsonObject {
  const { allOf, anyOf, oneOf, ...rest } = schema;
  const own = isJsonObject(rest['properties']) && Object.keys(rest['properties']).length > 0;
  const combined = {
    ...shaped('allOf', isJsonArray(allOf) ? allOf.filter(hasShape) : undefined),
    ...shaped('anyOf', anyOf),
    ...shaped('oneOf', oneOf),
  };
  if (Object.keys(combined).length > 0 || own || rest['$ref'] !== undefined) return { ...rest, ...combined };
  const { properties, patternProperties, additionalProperties, type } = rest;
  if (patternProperties !== undefined || isJsonObject(additionalProperties)) return rest;
  if (properties === undefined) {
    if (!hasShape(rest)) return { ...rest, tsType: 'unknown' };
    const isOpen = additionalProperties === undefined && [type].flat().includes('object');
    return isOpen ? { ...rest, additionalProperties: true } : rest;
  }
  const isClosed =
    additionalProperties !== true && [type ?? 'object'].flat().every((each) => each === 'object');
  return isClosed ? { ...rest, tsType: 'Record<string, never>' } : rest;
}

function shaped(keyword: string, schemas: JsonValue | undefined): JsonObject {
  return isJsonArray(schemas) && schemas.length > 0 && schemas.every(hasShape) ? { [keyword]: schemas } : {};
}

const SHAPES = ['type', 'properties', 'items', 'enum', 'const', '$ref', 'allOf', 'anyOf', 'oneOf'];

/** Whether a schema gives a type, not only conditions such as `required`. */
function hasShape(schema: JsonValue): boolean {
  return isJsonObject(schema) && SHAPES.some((keyword) => schema[keyword] !== undefined);
}
