// Needs third-party test runners from the registry.
import { describe, expect, it } from 'vitest';
import { blocksIn } from '../documentation/blocks.ts';
import { compileMatchers, MODULES } from '../testing/compile-matchers.ts';
import { CLIENTS, HAS_CLIENTS } from './clients.ts';

const [DECLARATION = ''] = blocksIn('ts', 'docs/testing.md').map(({ text }) => text);

const SET_UPS: Readonly<Record<string, string>> = {
  'Vitest --types node': `import { expect } from 'vitest';\nexpect.extend(matchers);`,
  'Jest --types node,jest': 'expect.extend(matchers);',
  '@jest/globals --types node': `import { expect } from '@jest/globals';\n${DECLARATION}expect.extend(matchers);`,
  'Playwright --types node': `import { expect as plain } from '@playwright/test';\nconst expect = plain.extend(matchers);`,
};

// The timeout in ms is long, because the compiler reads every library.
describe.skipIf(!HAS_CLIENTS).each(MODULES)(
  'the types of the matchers with %s',
  { timeout: 120_000 },
  (module) => {
    it.each(Object.entries(SET_UPS))('fit %s', (runner, setUp) => {
      const types = runner.slice(runner.indexOf('--types'));
      expect(compileMatchers(CLIENTS, setUp, `${module} ${types}`)).toBe('');
    });
  },
);
