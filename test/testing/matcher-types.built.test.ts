import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { ROOT } from '../end-to-end/receiving.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { compileMatchers, MODULES } from './compile-matchers.ts';

// The timeout in ms is long, because the compiler reads every library.
it.each(MODULES)('has types for the matchers in Vitest with %s', { timeout: 120_000 }, (module) => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, 'node_modules'));
  symlinkSync(ROOT, join(folder, 'node_modules/hooks-cli'));
  symlinkSync(join(ROOT, 'node_modules/vitest'), join(folder, 'node_modules/vitest'));
  const setUp = `import { expect } from 'vitest';\nexpect.extend(matchers);`;
  expect(compileMatchers(folder, setUp, module)).toBe('');
});
