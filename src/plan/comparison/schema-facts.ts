import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from '../../message/types.ts';
import { plainSchema } from '../plain-schema.ts';

/** The demands of a schema on the value at one path of a message. */
export interface PathFacts {
  readonly isRequired: boolean;
  /** The allowed types. Undefined if any type is allowed. `number` includes `integer`. */
  readonly types: ReadonlySet<string> | undefined;
  /** The allowed values as JSON. Undefined if there is no list of them. */
  readonly values: ReadonlySet<string> | undefined;
  /** Whether unlisted properties are rejected. */
  readonly isClosed: boolean;
  /** The other keywords that demand something, each with its value as JSON. */
  readonly keywords: ReadonlyMap<string, string>;
}

/** Keywords that demand nothing: notes for people, and names that other keywords refer to. */
const NOTES: ReadonlySet<string> = new Set(
  '$comment $defs $id $schema default definitions deprecated description examples readOnly title writeOnly'.split(
    ' ',
  ),
);
/** Keywords that have a field of their own in PathFacts, or whose schemas have paths of their own. */
const OWN: ReadonlySet<string> = new Set(
  'type enum const required properties items additionalProperties'.split(' '),
);

/**
 * Returns the demands of a schema by path: `properties.items[].price`; the whole message has the path ''. `listsProperties`:
 * a property that the rule does not list is a violation.
 */
export function factsOf(
  schema: JsonObject | boolean,
  listsProperties: boolean,
): ReadonlyMap<string, PathFacts> {
  const facts = new Map<string, PathFacts>();
  const place = { path: '', isRequired: true, listsProperties };
  addFacts(isJsonObject(schema) ? plainSchema(schema) : schema, place, facts);
  return facts;
}

interface Place {
  readonly path: string;
  readonly isRequired: boolean;
  readonly listsProperties: boolean;
}

/** Matches the paths whose properties the rules of a plan list. */
const CONTENT = /^(?:properties|traits)(?:$|[.[])/;

/** Whether a property that the schema does not list is a violation. */
function isClosedAt(
  { path, listsProperties }: Place,
  { properties, additionalProperties }: JsonObject,
): boolean {
  if (additionalProperties !== undefined) return additionalProperties === false;
  if (!listsProperties || !CONTENT.test(path)) return false;
  // An object within that lists no property is free.
  return /^\w+$/.test(path) || (isJsonObject(properties) && Object.keys(properties).length > 0);
}

function addFacts(schema: JsonValue, at: Place, facts: Map<string, PathFacts>): void {
  const { path, isRequired, listsProperties } = at;
  const given = isJsonObject(schema) ? schema : {};
  const { required = [], properties, items, additionalProperties } = given;
  const demanding = Object.entries(given).filter(([key]) => !NOTES.has(key) && !OWN.has(key));
  const keywords = new Map(demanding.map(([key, value]) => [key, JSON.stringify(value)]));
  // `false` accepts nothing, and a list of items has no path for each of them.
  if (schema === false) keywords.set('false', 'true');
  if (isJsonArray(items)) keywords.set('items', JSON.stringify(items));
  if (isJsonObject(additionalProperties)) {
    keywords.set('additionalProperties', JSON.stringify(additionalProperties));
  }
  facts.set(path, {
    isRequired,
    // Each message is an object.
    types: path === '' ? undefined : typesOf(given),
    values: valuesOf(given),
    isClosed: isClosedAt(at, given),
    keywords,
  });
  if (isJsonObject(items)) addFacts(items, { path: `${path}[]`, isRequired: false, listsProperties }, facts);
  const names = new Set(isJsonArray(required) ? required : []);
  const listed = isJsonObject(properties) ? Object.entries(properties) : [];
  const others = [...names].filter(
    (name): name is string => typeof name === 'string' && !listed.some(([each]) => each === name),
  );
  for (const [name, inner] of [...listed, ...others.map((each) => [each, {}] as const)]) {
    const within = /^[$\w]+$/.test(name) ? name : JSON.stringify(name);
    const inside = path === '' ? within : `${path}.${within}`;
    addFacts(inner, { path: inside, isRequired: names.has(name), listsProperties }, facts);
  }
}

/** The allowed types: those of `type`, else those of the values of `enum` or `const`. */
function typesOf({ type, enum: values, const: value }: JsonObject): ReadonlySet<string> | undefined {
  if (type === undefined) {
    const listed = value === undefined ? values : [value];
    return isJsonArray(listed) ? new Set(listed.map(typeNameOf)) : undefined;
  }
  const types = new Set([type].flat().map(String));
  if (types.has('number')) types.add('integer');
  return types;
}

function typeNameOf(value: JsonValue): string {
  if (value === null) return 'null';
  if (isJsonArray(value)) return 'array';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  return typeof value;
}

function valuesOf({ enum: values, const: value }: JsonObject): ReadonlySet<string> | undefined {
  if (value !== undefined) return new Set([JSON.stringify(value)]);
  return isJsonArray(values) ? new Set(values.map((each) => JSON.stringify(each))) : undefined;
}
