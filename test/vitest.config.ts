import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    root: new URL('..', import.meta.url).pathname,
    include: ['test/**/*.test.ts'],
    // The embedded database aborts the process when a worker thread is terminated.
    pool: 'forks',
    globalSetup: ['test/build/global-setup.ts'],
    // Long: a test may run a dozen commands, of which each takes a second on a busy machine.
    testTimeout: 60_000,
    // They start servers and make certificates.
    hookTimeout: 60_000,
    // Tests must not be steered by the settings of whoever runs them.
    env: { NO_COLOR: '1', FORCE_COLOR: '0', HOOKS_CONFIG: '', XDG_CONFIG_HOME: '/nonexistent' },
  },
});
