#!/usr/bin/env node
// CommonJS (see the package.json beside it), because Node starts that in half the time. Uses only syntax that old versions of Node can
// parse, so that they print the error below.
const [major, minor] = process.versions.node.split('.').map(Number);
if (major < 20 || (major === 20 && minor < 19)) {
  process.stderr.write(
    `error: hooks needs Node 20.19 or later, got ${process.versions.node}\n` +
      'hint:  install a newer Node (nodejs.org, nvm install 22), and look which one runs: node --version\n',
  );
  process.exitCode = 2;
} else {
  useCompileCache();
  void require('../dist/cli/main.cjs').main(process);
}

/**
 * Makes Node 22.8 and later cache compiled code in a folder, which makes a second start a fifth faster. Node runs cached code unchecked,
 * so the cache is used only in a folder that no other user can write to or replace. NODE_DISABLE_COMPILE_CACHE turns the cache off.
 */
function useCompileCache() {
  const { enableCompileCache } = require('node:module');
  if (typeof enableCompileCache !== 'function' || process.env.NODE_DISABLE_COMPILE_CACHE) return;
  try {
    const folder = privateFolder();
    if (folder !== undefined) enableCompileCache(folder);
  } catch {
    // Errors are ignored, because hooks also works without a cache.
  }
}

/**
 * Returns the folder of the cache. Undefined if another user can write to it, and on Windows, where the mode does not tell. Throws if the
 * folder cannot be made.
 */
function privateFolder() {
  if (process.geteuid === undefined) return undefined;
  const { lstatSync, mkdirSync } = require('node:fs');
  const caches = cachesFolder();
  const folder = require('node:path').join(caches, 'hooks');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const user = process.geteuid();
  const [own, parent] = [lstatSync(folder), lstatSync(caches)];
  const [othersMayReadOrWrite, othersMayWrite] = [0o077, 0o022];
  const isPrivate = own.isDirectory() && own.uid === user && (own.mode & othersMayReadOrWrite) === 0;
  const isOurs = parent.uid === user || parent.uid === 0;
  // In a folder with this bit, only the owner of an entry can rename or remove the entry.
  const sticky = 0o1000;
  const isKept = (parent.mode & othersMayWrite) === 0 || (parent.mode & sticky) !== 0;
  return isPrivate && isOurs && isKept ? folder : undefined;
}

/** Returns the folder for caches. The XDG specification says to ignore a relative XDG_CACHE_HOME. */
function cachesFolder() {
  const path = require('node:path');
  const { XDG_CACHE_HOME = '' } = process.env;
  if (path.isAbsolute(XDG_CACHE_HOME)) return XDG_CACHE_HOME;
  const home = require('node:os').homedir();
  return process.platform === 'darwin' ? path.join(home, 'Library', 'Caches') : path.join(home, '.cache');
}
