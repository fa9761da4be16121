// Each export is written into the built package as schemas/<name>.json (test/build/schemas.js).
import { jsonSchemaOfFile } from './config/table/json-schema-of-file.ts';

export { messageSchema } from './message/fields/json-schema.ts';

export const configSchema = jsonSchemaOfFile();
