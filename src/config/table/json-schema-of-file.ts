import { describedSetting, fieldOf, SHORT_FORM_KEYS } from './fields.ts';
import { fileShape, type FileShape } from './file-shape.ts';

/** Makes the JSON Schema (draft-07) of a config file, for editors. */
export function jsonSchemaOfFile(): object {
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    ...schemaOfShape(fileShape()),
    title: 'Configuration of hooks',
    not: { required: ['sources'], anyOf: SHORT_FORM_KEYS.map((key) => ({ required: [key] })) },
  };
}

function schemaOfShape(shape: FileShape): object {
  switch (shape.kind) {
    case 'setting':
      return { ...fieldOf(shape.key).kind.schema, description: describedSetting(shape.key) };
    case 'keys': {
      const properties = Object.entries(shape.keys).map(([key, each]) => [key, schemaOfShape(each)]);
      return { type: 'object', properties: Object.fromEntries(properties), additionalProperties: false };
    }
    case 'names':
      return {
        type: 'object',
        propertyNames: { type: 'string' },
        additionalProperties: schemaOfShape(shape.each),
      };
    case 'text':
      return { type: 'string' };
    default:
      return shape satisfies never;
  }
}
