// Node 22.8 and later keep what they have compiled in a folder: the second start takes a third less. What lies there is run as it is,
// so the folder must be one that no other user can write to or put in place of ours.
const { lstatSync, mkdirSync } = require('node:fs');
const nodeModule = require('node:module');
const { homedir } = require('node:os');
const path = require('node:path');

const OTHERS_MAY_READ_OR_WRITE = 0o077;
const OTHERS_MAY_WRITE = 0o022;
/** In a folder with this bit only the owner of an entry renames or removes it. */
const STICKY = 0o1000;

/** Uses the folder of this user, and nothing at all where there is none that is safe. NODE_DISABLE_COMPILE_CACHE turns it off. */
exports.useCompileCache = function useCompileCache() {
  if (typeof nodeModule.enableCompileCache !== 'function' || process.env.NODE_DISABLE_COMPILE_CACHE) return;
  try {
    const folder = privateFolder();
    if (folder !== undefined) nodeModule.enableCompileCache(folder);
  } catch {
    // A cache is no reason to fail, nor to print a line.
  }
};

/** Undefined where another user may write; on Windows too, where a mode does not tell. Throws when it cannot be made. */
function privateFolder() {
  if (process.geteuid === undefined) return undefined;
  const caches = cachesFolder();
  const folder = path.join(caches, 'hooks');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const user = process.geteuid();
  const [own, parent] = [lstatSync(folder), lstatSync(caches)];
  const isPrivate = own.isDirectory() && own.uid === user && (own.mode & OTHERS_MAY_READ_OR_WRITE) === 0;
  const isOurs = parent.uid === user || parent.uid === 0;
  const isKept = (parent.mode & OTHERS_MAY_WRITE) === 0 || (parent.mode & STICKY) !== 0;
  return isPrivate && isOurs && isKept ? folder : undefined;
}

/** As the XDG specification names it, which ignores what is not absolute. */
function cachesFolder() {
  const { XDG_CACHE_HOME = '' } = process.env;
  if (path.isAbsolute(XDG_CACHE_HOME)) return XDG_CACHE_HOME;
  return process.platform === 'darwin'
    ? path.join(homedir(), 'Library', 'Caches')
    : path.join(homedir(), '.cache');
}
