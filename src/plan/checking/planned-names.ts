import type { BoundedRegExp } from '../../message/bounded-regexp.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../message/types.ts';
import { closest } from '../../suggest.ts';
import { targetOf } from '../schema-parts.ts';
import { planPattern } from './plan-pattern.ts';

/** A schema, and the whole schema to whose definitions its `$ref` refers. */
interface Rooted {
  readonly schema: JsonValue;
  readonly whole: JsonValue;
}

/** The names that the schemas of one object list for its properties, and of the objects within. */
export class PlannedNames {
  /** The schemas that apply to the object, each with its whole schema. */
  readonly #schemas = new Map<JsonObject, JsonValue>();
  readonly #inner = new Map<string, PlannedNames | undefined>();
  readonly #names: ReadonlySet<string>;
  readonly #patterns: readonly BoundedRegExp[];
  #items: PlannedNames | undefined;
  /** Whether the schemas list any name. */
  readonly isListed: boolean;
  /** Whether the schemas say how other properties are, so that any name is planned. */
  readonly isOpen: boolean;

  constructor(schemas: readonly Rooted[]) {
    for (const each of schemas) addAlternatives(each, this.#schemas);
    const all = [...this.#schemas.keys()];
    this.#names = new Set(all.flatMap(namesOf));
    this.#patterns = all
      .flatMap(({ patternProperties }) => keysOf(patternProperties))
      .map((source) => planPattern(source));
    this.isListed = all.some(({ properties }) => properties !== undefined);
    this.isOpen = all.some(({ additionalProperties, unevaluatedProperties }) => {
      return isOpenFor(additionalProperties) || isOpenFor(unevaluatedProperties);
    });
  }

  has(name: string): boolean {
    return this.#names.has(name) || this.#patterns.some((pattern) => pattern.test(name));
  }

  /** Finds the listed name that `name` probably means. */
  near(name: string): string | undefined {
    return closest(name, this.#names);
  }

  /** The names in the value of a property. Undefined if nothing is listed for it. */
  of(name: string): PlannedNames | undefined {
    if (this.#inner.has(name)) return this.#inner.get(name);
    const schemas = this.#within(({ properties }) => {
      return isJsonObject(properties) && Object.hasOwn(properties, name) ? properties[name] : undefined;
    });
    const inner = schemas.length === 0 ? undefined : new PlannedNames(schemas);
    // Names that a schema does not list come from messages, so they are not kept.
    if (this.#names.has(name)) this.#inner.set(name, inner);
    return inner;
  }

  /** The names in each item of a list. */
  get ofItems(): PlannedNames {
    this.#items ??= new PlannedNames(this.#within(({ items }) => items));
    return this.#items;
  }

  #within(innerOf: (schema: JsonObject) => JsonValue | undefined): readonly Rooted[] {
    return [...this.#schemas].flatMap(([each, whole]) => {
      const schema = innerOf(each);
      return schema === undefined ? [] : { schema, whole };
    });
  }
}

/** The names that a schema lists: as properties, or as names that must be there. */
function namesOf({ properties, required, dependencies, dependentRequired }: JsonObject): readonly string[] {
  const dependent = [dependencies, dependentRequired].flatMap((each) =>
    isJsonObject(each) ? Object.entries(each) : [],
  );
  const names = [required, ...dependent.flat()].flat();
  return [...keysOf(properties), ...names.filter((name) => typeof name === 'string')];
}

function keysOf(value: JsonValue | undefined): readonly string[] {
  return isJsonObject(value) ? Object.keys(value) : [];
}

function isOpenFor(other: JsonValue | undefined): boolean {
  return other === true || isJsonObject(other);
}

/** Adds a schema and all schemas that may apply to the same value. */
function addAlternatives({ schema, whole }: Rooted, all: Map<JsonObject, JsonValue>): void {
  if (!isJsonObject(schema) || all.has(schema)) return;
  all.set(schema, whole);
  const { $ref, dependentSchemas, dependencies } = schema;
  const named = [dependentSchemas, dependencies].flatMap((each) =>
    isJsonObject(each) ? Object.values(each) : [],
  );
  const alternatives = ['allOf', 'anyOf', 'oneOf', 'if', 'then', 'else'].map((keyword) => schema[keyword]);
  const target = typeof $ref === 'string' ? targetOf($ref, whole) : undefined;
  for (const each of [...alternatives, ...named, target].flat()) {
    addAlternatives({ schema: each ?? null, whole }, all);
  }
}
