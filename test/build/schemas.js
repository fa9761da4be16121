// Writes the JSON Schemas into the built package, from the same tables that validate at run time.
import { mkdirSync, writeFileSync } from 'node:fs';
import * as schemas from '../../dist/schemas.js';

const folder = new URL('../../dist/schemas/', import.meta.url);
mkdirSync(folder, { recursive: true });
for (const [name, schema] of Object.entries(schemas)) {
  writeFileSync(
    new URL(`${name.replace('Schema', '')}.json`, folder),
    `${JSON.stringify(schema, null, 2)}\n`,
  );
}
