// Each export is written into the built package as schemas/<name>.json (test/build/schemas.js).
import { jsonSchemaOfFile } from './config/schema.ts';

export { messageSchema } from './message/json-schema.ts';

export const configSchema = jsonSchemaOfFile();
