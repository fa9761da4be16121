import { isJsonObject, type JsonObject, type JsonValue } from '../message/types.ts';
import { mapSchemas } from './schema-parts.ts';

/**
 * Returns a schema without the parts that a validator rejects: `$schema`, whose draft is already known and of which the
 * validator knows only one spelling; the notes of tracking plans (`labels`, `eventMetadata`, and `id` of draft 04); and the
 * type `any` of draft 03, which plans still have. Replaces a property named `__proto__`, which the validator skips, by a
 * pattern that matches only this name.
 */
export function plainSchema({ $schema: _draft, ...schema }: JsonObject): JsonObject {
  return mapSchemas(schema, ({ labels: _labels, eventMetadata: _metadata, id: _id, ...noted }) => {
    const each = withoutAny(noted);
    const { properties, patternProperties } = each;
    if (!isJsonObject(properties) || !Object.hasOwn(properties, '__proto__')) return each;
    const pattern = { '^__proto__$': properties['__proto__'] ?? true };
    const patterns = { ...(isJsonObject(patternProperties) && patternProperties), ...pattern };
    return { ...each, patternProperties: patterns };
  });
}

function withoutAny({ type, ...others }: JsonObject): JsonObject {
  const types: readonly (JsonValue | undefined)[] = [type].flat();
  return type === undefined || types.includes('any') ? others : { type, ...others };
}
