import * as nodeModule from 'node:module';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { LongestFirst } from './longest-first.ts';
import { IS_LONG } from './torture.ts';

/**
 * Names of test files: `x.test.ts` needs only Node, `x.built.test.ts` the built program, and `x.system.test.ts` another
 * program, or it takes minutes, kills processes or measures memory, as its first line says. `npm test` runs the first two
 * kinds, `npm run test:system` the third. The program is built only if a file that needs it runs. `x.alone.system.test.ts`
 * judges rates or latencies, so it runs after all others, one file at a time.
 */
const [BUILT, SYSTEM, ALONE] = [
  'test/**/*.built.test.ts',
  'test/**/*.system.test.ts',
  'test/**/*.alone.system.test.ts',
];
const BUILD_FIRST = { globalSetup: ['test/build/global-setup.ts'] };
/** Third-party clients and test runners have their own package.json. */
const SYSTEM_SETUP = [...BUILD_FIRST.globalSetup, 'test/system/install-clients.ts'];
/** Runs only in the long form of the tests. */
const LONG = IS_LONG ? [] : ['test/end-to-end/torture-failover.system.test.ts'];
/** Needs `module.enableCompileCache`; `npm run test:nodes` runs it too. */
const NEWER_NODE = 'enableCompileCache' in nodeModule ? [] : ['test/cli/compile-cache.built.test.ts'];

export default defineConfig({
  test: {
    root: fileURLToPath(new URL('..', import.meta.url)),
    // The embedded database aborts the process when a worker thread is terminated.
    pool: 'forks',
    // More than the cores of a small machine, because tests often wait for a timer, a socket or a process.
    maxWorkers: 3,
    // A process runs files one after the other without isolation: loading shared modules again took half of the time.
    isolate: false,
    setupFiles: ['test/clean-up.ts'],
    sequence: { sequencer: LongestFirst },
    // Long: a test may run a dozen commands, of which each takes a second on a busy machine.
    testTimeout: 60_000,
    // Hooks start servers and write certificates.
    hookTimeout: 60_000,
    expect: { poll: { timeout: 30_000 } },
    // Settings of the person who runs the tests must not affect them.
    env: { NO_COLOR: '1', FORCE_COLOR: '0', HOOKS_CONFIG: '', XDG_CONFIG_HOME: '/nonexistent' },
    projects: [
      { extends: true, test: { name: 'unit', include: ['test/**/*.test.ts'], exclude: [BUILT, SYSTEM] } },
      { extends: true, test: { name: 'built', include: [BUILT], exclude: NEWER_NODE, ...BUILD_FIRST } },
      {
        extends: true,
        test: { name: 'system', include: [SYSTEM], exclude: [...LONG, ALONE], globalSetup: SYSTEM_SETUP },
      },
      {
        extends: true,
        test: {
          name: 'alone',
          include: [ALONE],
          ...BUILD_FIRST,
          sequence: { groupOrder: 1 },
          maxWorkers: 1,
        },
      },
    ],
  },
});
