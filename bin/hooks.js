#!/usr/bin/env node
// CommonJS (see package.json beside it): Node starts it in half the time. Written so that old versions of Node can read it.
const [major, minor] = process.versions.node.split('.').map(Number);
if (major < 20 || (major === 20 && minor < 19)) {
  process.stderr.write(
    `error: hooks needs Node 20.19 or later, got ${process.versions.node}\n` +
      'hint:  install a newer Node (nodejs.org, nvm install 22), and look which one runs: node --version\n',
  );
  process.exitCode = 2;
} else {
  require('./compile-cache.js').useCompileCache();
  void require('../dist/cli/main.cjs').main(process);
}
