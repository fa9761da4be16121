import { InputError } from '../../errors.ts';
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from '../../message/types.ts';
import type { PlanFile, PlanRule, RulesFound } from '../rule.ts';
import { expected, readEach, ruleType, type PlacedValue } from './segment-rules.ts';

/** Lists of the files of a RudderStack project by their `kind`, and the word of references to their items in rudder/v1. */
const LISTS: Readonly<Record<string, readonly [list: string, word: string]>> = {
  events: ['events', 'event'],
  properties: ['properties', 'property'],
  'custom-types': ['types', 'custom-type'],
};

/** Whether a file belongs to a project of RudderStack's CLI: it has `version: rudder/…` and a `kind`. */
export function isRudderFile(value: JsonValue): value is JsonObject {
  const { version, kind } = isJsonObject(value) ? value : {};
  return typeof version === 'string' && version.startsWith('rudder/') && typeof kind === 'string';
}

/**
 * Reads the files of a RudderStack project (rudder/0.1, v0.1 and v1): tracking plans, and the events, properties and custom
 * types to which their rules refer. `includes` of other files are the files of the folder.
 */
export function readRudderRules(files: readonly PlanFile[]): RulesFound {
  const project = new RudderProject(files);
  const rules = files.flatMap(({ file, value }): PlacedValue[] => {
    if (!isRudderFile(value) || !/^(?:tp|tracking-plan)$/.test(textOf(value['kind']))) return [];
    const { rules: list } = isJsonObject(value['spec']) ? value['spec'] : {};
    return isJsonArray(list)
      ? list.map((each, index) => ({ file, pointer: `/spec/rules/${index}`, value: each }))
      : [];
  });
  return readEach(rules, (placed) => project.ruleOf(placed));
}

/** The items of a project, found by references such as `#/properties/common/user_id` or `#property:user_id`. */
class RudderProject {
  readonly #items = new Map<string, JsonObject>();

  constructor(files: readonly PlanFile[]) {
    for (const { value } of files) {
      if (!isRudderFile(value)) continue;
      const { kind, metadata, spec } = value;
      const [list = '', word = ''] = LISTS[textOf(kind)] ?? [];
      const { name: group } = isJsonObject(metadata) ? metadata : {};
      const items = isJsonObject(spec) ? spec[list] : undefined;
      for (const item of isJsonArray(items) ? items : []) {
        if (!isJsonObject(item)) continue;
        this.#items.set(`#${word}:${textOf(item['id'])}`, item);
        this.#items.set(`#/${textOf(kind)}/${textOf(group)}/${textOf(item['id'])}`, item);
      }
    }
  }

  ruleOf(placed: PlacedValue): PlanRule {
    const { file, pointer, value } = placed;
    const rule = isJsonObject(value) ? value : {};
    const { event: reference, identity_section: section } = rule;
    const event = this.#item(isJsonObject(reference) ? reference['$ref'] : reference, placed);
    const type = ruleType(textOf(event['event_type'] ?? 'track'));
    if (type === undefined) {
      throw expected('`event_type` to be a type of messages', event['event_type'], placed);
    }
    const name = type === 'track' ? textOf(event['name'] ?? event['id']) : undefined;
    const isOpen = rule['additional_properties'] ?? (isJsonObject(reference) && reference['allow_unplanned']);
    const own = this.#object({ ...rule, additional_properties: isOpen === true }, placed);
    const path =
      typeof section === 'string' && section !== ''
        ? section
        : type === 'identify' || type === 'group'
          ? 'traits'
          : 'properties';
    return { type, event: name, version: 1, schema: within(path.split('.'), own), file, pointer };
  }

  #item(reference: JsonValue | undefined, placed: PlacedValue): JsonObject {
    const item = typeof reference === 'string' ? this.#items.get(reference) : undefined;
    if (item !== undefined) return item;
    const { file, pointer } = placed;
    throw new InputError(
      `Expected a reference to an item of the project, got ${JSON.stringify(reference)} (${pointer})`,
      {
        file,
        hint: 'name the folder of the project, so that all its files are read',
      },
    );
  }

  /** The schema of an object with `properties`, and `variants` as conditions. */
  #object(
    { properties, variants, additional_properties: isOpen }: JsonObject,
    placed: PlacedValue,
  ): JsonObject {
    const conditions = isJsonArray(variants)
      ? variants.flatMap((variant) => this.#conditions(variant, placed))
      : [];
    return {
      type: 'object',
      ...this.#members(properties, placed),
      ...(isOpen === true && { additionalProperties: true }),
      ...(conditions.length > 0 && { allOf: conditions }),
    };
  }

  /** The keywords `properties` and `required` for a list of references to properties. */
  #members(list: JsonValue | undefined, placed: PlacedValue): JsonObject {
    const members = (isJsonArray(list) ? list : []).map((each) => {
      const given = isJsonObject(each) ? each : {};
      const item = this.#item(given['property'] ?? given['$ref'], placed);
      const schema =
        given['properties'] === undefined ? this.#schema(item, placed) : this.#nested(item, given, placed);
      return { name: textOf(item['name'] ?? item['id']), schema, isRequired: given['required'] === true };
    });
    const required = members.filter(({ isRequired }) => isRequired).map(({ name }) => name);
    return {
      properties: Object.fromEntries(members.map(({ name, schema }) => [name, schema])),
      ...(required.length > 0 && { required }),
    };
  }

  /** A property that the rule describes further: an object, or a list of objects. */
  #nested(item: JsonObject, given: JsonObject, placed: PlacedValue): JsonObject {
    const base = this.#schema(item, placed);
    const { type: _type, ...object } = this.#object(given, placed);
    return base['type'] === 'array'
      ? { ...base, items: { type: 'object', ...object } }
      : { ...base, ...object };
  }

  /** The schema of a property or a custom type. */
  #schema(item: JsonObject, placed: PlacedValue, depth = 0): JsonObject {
    const { description, type, types = type, config, propConfig = config } = item;
    if (depth > MOST_DEPTH) throw expected('types that do not contain themselves', item['id'], placed);
    const settings = isJsonObject(propConfig) ? propConfig : {};
    const items = settings['itemTypes'] ?? item['item_types'] ?? item['item_type'] ?? settings['item_types'];
    return {
      ...(typeof description === 'string' && { description }),
      ...this.#typed(types, placed, depth),
      ...keywordsOf(settings),
      ...(items !== undefined && { items: this.#typed(items, placed, depth) }),
      ...((item['properties'] ?? item['variants']) !== undefined && this.#object(item, placed)),
    };
  }

  /** The schema of a type, several types, or a reference to a custom type. */
  #typed(types: JsonValue | undefined, placed: PlacedValue, depth: number): JsonObject {
    const names = [types ?? []]
      .flat()
      .flatMap((name) => (typeof name === 'string' ? name.split(/\s*,\s*/) : []));
    const [first] = names;
    if (first?.startsWith('#')) return this.#schema(this.#item(first, placed), placed, depth + 1);
    if (first === undefined || first === '') return {};
    return { type: names.length === 1 ? first : names };
  }

  /** The conditions of a variant: what a value of the discriminator requires, and what any other value does. */
  #conditions(variant: JsonValue, placed: PlacedValue): readonly JsonObject[] {
    const { discriminator, cases, default: others } = isJsonObject(variant) ? variant : {};
    if (typeof discriminator !== 'string' || !isJsonArray(cases)) {
      throw expected('a variant with `discriminator` and `cases`', variant, placed);
    }
    const name = discriminator.startsWith('#')
      ? textOf(this.#item(discriminator, placed)['name'])
      : discriminator;
    const is = (values: JsonValue): JsonObject => ({
      properties: { [name]: { enum: values } },
      required: [name],
    });
    const all = cases.map((each) => (isJsonObject(each) ? each : {}));
    const matched = all.flatMap(({ match = [] }) => match);
    const other = { if: { not: is(matched) } };
    return [
      ...all.map(({ match = [], properties }) =>
        withThen({ if: is([match].flat()) }, this.#members(properties, placed)),
      ),
      ...(others === undefined ? [] : [withThen(other, this.#members(others, placed))]),
    ];
  }
}

/** Adds the schema for values that meet the condition. */
function withThen(condition: JsonObject, schema: JsonObject): JsonObject {
  return { ...condition, then: schema }; // oxlint-disable-line no-thenable -- a keyword of JSON Schema
}

function textOf(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : '';
}

/** Maximum number of custom types in one another. */
const MOST_DEPTH = 20;

function within([first = 'properties', ...rest]: readonly string[], schema: JsonObject): JsonObject {
  const inner = rest.length === 0 ? schema : within(rest, schema);
  return {
    type: 'object',
    properties: { [first]: inner },
    ...(schema['required'] !== undefined && { required: [first] }),
  };
}

/** The keywords of JSON Schema in a config, in camel case or (rudder/v1) with underscores. */
function keywordsOf(config: JsonObject): JsonObject {
  const entries = Object.entries(config).map(([key, value]): [string, JsonValue] => [
    key.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()),
    value,
  ]);
  return Object.fromEntries(entries.filter(([key]) => !key.startsWith('itemType')));
}
