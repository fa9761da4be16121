import { MESSAGE_FIELDS, MESSAGE_VERSION, type MessageField, type FieldKind } from './fields.ts';
import { spellings } from './shape.ts';
import { RFC_3339 } from '../timestamp.ts';
import { MESSAGE_TYPES, type JsonObject, type MessageType } from '../types.ts';

/** Schema of each kind of field. Null counts as absent. Declared before `messageSchema`, which is made from it on import. */
const SCHEMAS = {
  type: { enum: MESSAGE_TYPES },
  version: { enum: [MESSAGE_VERSION, null] },
  name: { type: ['string', 'null'], minLength: 1 },
  id: { type: ['string', 'null'] },
  text: { type: ['string', 'null'] },
  object: { type: ['object', 'null'] },
  timestamp: { type: ['string', 'null'], pattern: RFC_3339.source },
  integrations: { type: ['object', 'null'], additionalProperties: { type: ['boolean', 'object'] } },
  any: {},
} as const satisfies Record<FieldKind, JsonObject>;

/**
 * JSON Schema of a message (draft-07), for editors and other languages, made from the table that `buildMessage` uses. It
 * cannot express two rules of `buildMessage`: that a date exists, and that the two spellings of an alias's id must be equal.
 */
export const messageSchema: JsonObject = {
  $schema: 'http://json-schema.org/draft-07/schema#',
  title: 'A message of hooks: page, screen, identify, track, alias, group or delete',
  type: 'object',
  required: ['type'],
  properties: { type: { enum: MESSAGE_TYPES } },
  allOf: MESSAGE_TYPES.map((type) => ({
    if: { required: ['type'], properties: { type: { const: type } } },
    // eslint-disable-next-line unicorn/no-thenable -- the schema's word, in an object that is never awaited
    then: { $ref: `#/definitions/${type}` },
  })),
  definitions: Object.fromEntries(MESSAGE_TYPES.map((type) => [type, definitionOf(type)])),
};

function definitionOf(type: MessageType): JsonObject {
  const fields: readonly MessageField[] = MESSAGE_FIELDS[type];
  const always = fields.filter(({ required }) => required === 'always').map(spellings);
  const either = fields.filter(({ required }) => required === 'either').flatMap(spellings);
  const needs = either.length === 0 ? always : [...always, either];
  return {
    type: 'object',
    properties: Object.fromEntries(
      fields.flatMap((field) => spellings(field).map((spelling) => [spelling, schemaOf(field)])),
    ),
    allOf: needs.map((names) => ({ anyOf: names.map(isGiven) })),
  };
}

/** A schema that requires a field. Null and an empty text count as absent. */
function isGiven(name: string): JsonObject {
  return { required: [name], properties: { [name]: { not: { enum: [null, ''] } } } };
}

function schemaOf({ kind, about }: MessageField): JsonObject {
  return { description: about, ...SCHEMAS[kind] };
}
