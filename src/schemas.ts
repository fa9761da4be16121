// The build writes each export to schemas/<name>.json of the package (test/build/schemas.js).
import { jsonSchemaOfFile } from './config/table/json-schema-of-file.ts';

export { messageSchema } from './message/fields/json-schema.ts';

export const configSchema = jsonSchemaOfFile();
