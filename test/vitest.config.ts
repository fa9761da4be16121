import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { LongestFirst } from './longest-first.ts';

/**
 * What the name of a test file says: `x.test.ts` needs nothing but Node, `x.built.test.ts` the built program, and
 * `x.system.test.ts` a program of others or minutes, which its first line names. `npm test` runs the first two,
 * `npm run test:system` the third; the program is built only when a file that needs it runs.
 */
const [BUILT, SYSTEM] = ['test/**/*.built.test.ts', 'test/**/*.system.test.ts'];
const BUILD_FIRST = { globalSetup: ['test/build/global-setup.ts'] };
/** The clients and test runners of others have a package.json of their own. */
const SYSTEM_SETUP = [...BUILD_FIRST.globalSetup, 'test/system/install-clients.ts'];

export default defineConfig({
  test: {
    root: fileURLToPath(new URL('..', import.meta.url)),
    // The embedded database aborts the process when a worker thread is terminated.
    pool: 'forks',
    // More than the cores of a small machine: many wait for a timer, a socket or a child most of the time.
    maxWorkers: 3,
    // A process runs one file after the other: loading what they share again for each took half of the time of all.
    isolate: false,
    setupFiles: ['test/clean-up.ts'],
    sequence: { sequencer: LongestFirst },
    // Long: a test may run a dozen commands, of which each takes a second on a busy machine.
    testTimeout: 60_000,
    // They start servers and make certificates.
    hookTimeout: 60_000,
    // Tests must not be steered by the settings of whoever runs them.
    env: { NO_COLOR: '1', FORCE_COLOR: '0', HOOKS_CONFIG: '', XDG_CONFIG_HOME: '/nonexistent' },
    projects: [
      { extends: true, test: { name: 'unit', include: ['test/**/*.test.ts'], exclude: [BUILT, SYSTEM] } },
      { extends: true, test: { name: 'built', include: [BUILT], ...BUILD_FIRST } },
      { extends: true, test: { name: 'system', include: [SYSTEM], globalSetup: SYSTEM_SETUP } },
    ],
  },
});
