#!/usr/bin/env node
// CommonJS (see package.json beside it): Node starts it in half the time. One file, written so that old versions of Node can read it.
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
 * Node 22.8 and later keep what they have compiled in a folder: the second start takes a fifth less. What lies there is run as it is,
 * so the folder must be one that no other user can write to or put in place of ours; where there is none, nothing is kept.
 * NODE_DISABLE_COMPILE_CACHE turns it off.
 */
function useCompileCache() {
  const { enableCompileCache } = require('node:module');
  if (typeof enableCompileCache !== 'function' || process.env.NODE_DISABLE_COMPILE_CACHE) return;
  try {
    const folder = privateFolder();
    if (folder !== undefined) enableCompileCache(folder);
  } catch {
    // A cache is no reason to fail, nor to print a line.
  }
}

/** Undefined where another user may write; on Windows too, where a mode does not tell. Throws when it cannot be made. */
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
  // In a folder with this bit only the owner of an entry renames or removes it.
  const sticky = 0o1000;
  const isKept = (parent.mode & othersMayWrite) === 0 || (parent.mode & sticky) !== 0;
  return isPrivate && isOurs && isKept ? folder : undefined;
}

/** As the XDG specification names it, which ignores what is not absolute. */
function cachesFolder() {
  const path = require('node:path');
  const { XDG_CACHE_HOME = '' } = process.env;
  if (path.isAbsolute(XDG_CACHE_HOME)) return XDG_CACHE_HOME;
  const home = require('node:os').homedir();
  return process.platform === 'darwin' ? path.join(home, 'Library', 'Caches') : path.join(home, '.cache');
}
