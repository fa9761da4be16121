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

/** Returns the demands of a schema by path: `properties.items[].price`; the whole message has the path ''. */
export function factsOf(schema: JsonObject | boolean): ReadonlyMap<string, PathFacts> {
  const facts = new Map<string, PathFacts>();
  addFacts(isJsonObject(schema) ? plainSchema(schema) : schema, { path: '', isRequired: true }, facts);
  return facts;
}

interface Place {
  readonly path: string;
  readonly isRequired: boolean;
}

function addFacts(schema: JsonValue, { path, isRequired }: Place, facts: Map<string, PathFacts>): void {
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
    types: typesOf(given),
    values: valuesOf(given),
    isClosed: additionalProperties === false,
    keywords,
  });
  if (isJsonObject(items)) addFacts(items, { path: `${path}[]`, isRequired: false }, facts);
  if (!isJsonObject(properties)) return;
  const names: readonly JsonValue[] = isJsonArray(required) ? required : [];
  for (const [name, inner] of Object.entries(properties)) {
    const within = /^[$\w]+$/.test(name) ? name : JSON.stringify(name);
    const place = { path: path === '' ? within : `${path}.${within}`, isRequired: names.includes(name) };
    addFacts(inner, place, facts);
  }
}

function typesOf({ type }: JsonObject): ReadonlySet<string> | undefined {
  if (type === undefined) return undefined;
  const types = new Set([type].flat().map(String));
  if (types.has('number')) types.add('integer');
  return types;
}

function valuesOf({ enum: values, const: value }: JsonObject): ReadonlySet<string> | undefined {
  if (value !== undefined) return new Set([JSON.stringify(value)]);
  return isJsonArray(values) ? new Set(values.map((each) => JSON.stringify(each))) : undefined;
}
