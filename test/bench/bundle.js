import { existsSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/**
 * Bundles sources as a module for a child process, because Node 20 does not run TypeScript.
 *
 * @param {string} folder of the module
 * @param {readonly string[]} paths below `src`; the module has all their exports
 * @returns {Promise<string>} its path
 */
export async function bundle(folder, paths) {
  if (!existsSync(join(folder, 'node_modules'))) {
    symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  }
  const entry = join(folder, 'parts.ts');
  writeFileSync(entry, paths.map((path) => `export * from '${join(ROOT, 'src', path)}';`).join('\n'));
  const built = await rolldown({
    input: entry,
    platform: 'node',
    external: /^(?:node:|[a-z@])/,
    logLevel: 'silent',
  });
  await built.write({
    dir: join(folder, 'package', 'dist', 'chunks'),
    format: 'esm',
    entryFileNames: 'parts.mjs',
    chunkFileNames: '[name]-[hash].mjs',
  });
  writeFileSync(
    join(folder, 'package', 'package.json'),
    '{"name":"hooks-cli","version":"0.0.0","exports":{"./package.json":"./package.json"}}',
  );
  return join(folder, 'package', 'dist', 'chunks', 'parts.mjs');
}
