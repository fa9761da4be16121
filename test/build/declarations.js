// Deletes the declarations in dist/types that no export of the package reaches, which are most of them.
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const FOLDER = join(ROOT, 'dist/types');
/** `from './x.ts'` and `import('./x.ts')`. */
const IMPORT = /\b(?:from|import)\b\s*\(?\s*['"](\.[^'"]+)\.ts['"]/g;

const { exports } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
const reached = new Set();
for (const { types } of Object.values(exports)) if (types !== undefined) reach(join(ROOT, types));

for (const name of readdirSync(FOLDER, { recursive: true })) {
  const file = join(FOLDER, name);
  if (name.endsWith('.d.ts') && !reached.has(file)) rmSync(file);
}

function reach(file) {
  if (reached.has(file)) return;
  reached.add(file);
  for (const [, path] of readFileSync(file, 'utf8').matchAll(IMPORT)) {
    reach(join(dirname(file), `${path}.d.ts`));
  }
}
