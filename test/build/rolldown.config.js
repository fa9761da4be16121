import { builtinModules } from 'node:module';

// Entries share their chunks; each command is its own chunk, loaded when it runs, which keeps `hooks --help` light.
export default {
  input: { index: 'src/index.ts', 'cli/main': 'src/cli/main.ts', schemas: 'src/schemas.ts' },
  platform: 'node',
  external: [/^node:/, ...builtinModules, /^[a-z@][^:]*$/],
  output: {
    dir: 'dist',
    format: 'esm',
    entryFileNames: '[name].js',
    chunkFileNames: 'chunks/[name]-[hash].js',
    sourcemap: true,
  },
};
