import type { JsonObject, JsonValue } from '../../message/types.ts';
import { isSchema } from '../reading/schema-files.ts';
import type { PlanDocument, PlanRule } from '../rule.ts';

/** Maximum number of rules that Segment's Public API takes in one request. */
export const MOST_RULES = 200;

/** A rule in the form of Segment's Public API. */
export interface SegmentRule {
  readonly key: string | null;
  readonly type: string;
  readonly version: number;
  readonly jsonSchema: JsonValue;
}

/** Returns a plan in the form of Segment's Public API, in parts of at most `most` rules. */
export function segmentParts(
  { rules }: PlanDocument,
  most: number,
): readonly { readonly rules: readonly SegmentRule[] }[] {
  const all = rules.map(segmentRule);
  if (all.length <= most) return [{ rules: all }];
  const starts = Array.from({ length: Math.ceil(all.length / most) }, (_, part) => part * most);
  return starts.map((start) => ({ rules: all.slice(start, start + most) }));
}

function segmentRule({ type, event, version, schema }: PlanRule): SegmentRule {
  return { key: event ?? null, type: type.toUpperCase(), version, jsonSchema: schemaObject(schema) };
}

/** The API takes objects only: `false`, which accepts nothing, becomes `{"not": {}}`. */
function schemaObject(schema: JsonObject | boolean): JsonObject {
  if (typeof schema !== 'boolean') return schema;
  return schema ? {} : { not: {} };
}

/** A file of a plan that is a folder. */
export interface SchemaFile {
  readonly name: string;
  readonly schema: JsonObject;
}

/**
 * Returns a plan as files with one JSON Schema each: `order_completed.v2.json`. The event is the title of its schema. Two
 * events with the same words get different names, the same in each run.
 */
export function schemaFiles({ rules }: PlanDocument): readonly SchemaFile[] {
  const taken = new Set<string>();
  return rules.map(({ type, event, version, schema }) => {
    const name = freeName(event === undefined ? type : eventWords(event), version, taken);
    const { title: _title, ...others } = schemaObject(schema);
    // A reader recognizes a schema by a keyword. Empty `properties` demand nothing.
    const whole = isSchema(others) ? others : { properties: {}, ...others };
    return { name, schema: event === undefined ? whole : { title: event, ...whole } };
  });
}

/** The letters and digits of an event, in lower case and joined by `_`. A name of a type gets the suffix `_event`. */
function eventWords(event: string): string {
  const words =
    event
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu)
      ?.join('_') ?? 'event';
  const short = words.slice(0, 80);
  return /^(?:track|identify|group|page|screen|alias|delete|common)$/.test(short) ? `${short}_event` : short;
}

function freeName(words: string, version: number, taken: Set<string>): string {
  for (let count = 1; ; count++) {
    const name = `${words}${count === 1 ? '' : `_${count}`}.v${version}.json`;
    if (taken.has(name)) continue;
    taken.add(name);
    return name;
  }
}
