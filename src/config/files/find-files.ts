import { existsSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { readTextNow } from '../../files.ts';
import { closest, namesIn } from '../../suggest.ts';
import { homeFolder } from './home.ts';

/** File names of a project's config in search order. The first that exists is the config of the folder. */
const PROJECT_NAMES = (
  'package.json .hooksrc .hooksrc.json .hooksrc.yaml .hooksrc.yml ' +
  '.hooksrc.js .hooksrc.cjs .hooksrc.mjs .hooksrc.ts ' +
  'hooks.config.js hooks.config.cjs hooks.config.mjs hooks.config.ts'
).split(' ');

const USER_NAMES =
  'config config.json config.yaml config.yml .hooksrc .hooksrc.json .hooksrc.yaml .hooksrc.yml'.split(' ');

const UNREAD_USER_NAMES = ['config', '.hooksrc'].flatMap((stem) =>
  'toml ini json5 jsonc js cjs mjs ts'.split(' ').map((ending) => `${stem}.${ending}`),
);

/**
 * Finds the project's config: the first in the current folder, its parent …, up to the folder of the nearest package.json.
 * Without a package.json, searches only the current folder, so that code outside the project (`/tmp/.hooksrc.js`) does not
 * run.
 */
export function findProjectFile(cwd: string): string | undefined {
  for (const folder of projectFolders(cwd)) {
    const found = PROJECT_NAMES.map((name) => join(folder, name)).find(isConfig);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** A config that is not read, and why not. */
export interface UnreadConfig {
  readonly path: string;
  readonly why: string;
}

/**
 * Finds a config that is not read: beside or above the one that is, up to the user's home folder. Only looks for its name,
 * because files above the project are not read. `named` is the config that HOOKS_CONFIG names.
 */
export function unreadConfig(
  cwd: string,
  env: Readonly<NodeJS.ProcessEnv>,
  named?: string,
): UnreadConfig | undefined {
  const read = named === undefined ? findProjectFile(cwd) : resolve(cwd, named);
  const folders = projectFolders(cwd);
  const isProject = existsSync(join(folders.at(-1) ?? cwd, 'package.json'));
  const ended = isProject ? 'the search ends at the nearest package.json' : 'no package.json is found';
  for (let folder = folders.at(-1) ?? cwd; folder !== homeFolder(env) && folder !== dirname(folder);) {
    folder = dirname(folder);
    folders.push(folder);
  }
  const paths = folders.flatMap((folder) => PROJECT_NAMES.slice(1).map((name) => join(folder, name)));
  const path = paths.find((each) => each !== read && existsSync(each));
  const by = named === undefined ? '' : ' (HOOKS_CONFIG names it)';
  const why = read === undefined ? ended : `${relative(cwd, read)} is read instead${by}`;
  return path === undefined ? undefined : { path: relative(cwd, path), why };
}

/**
 * Files of a project or the user that look like a config, but have a name or format that is not supported. If no config is
 * found, a similar name is enough for a file with one of our settings: other tools have files such as `hooks.json`.
 */
export function unreadConfigs(cwd: string, env: Readonly<NodeJS.ProcessEnv>): string[] {
  const isFound = findProjectFile(cwd) !== undefined;
  const ofProject = projectFolders(cwd).flatMap((folder) => {
    const paths = namesIn(folder).map((name) => join(folder, name));
    return paths.filter((path) => UNREAD_NAME.test(basename(path)) || (!isFound && isSimilarConfig(path)));
  });
  return [...ofProject, ...userPaths(env, UNREAD_USER_NAMES).filter((path) => existsSync(path))];
}

/** A name that only a config of hooks has, in a format that is not read under this name. */
const UNREAD_NAME =
  /^(?:(?:\.hooksrc|hooks\.config)\.(?:toml|ini|json[5c]|[mc]ts)|hooks\.config\.(?:json|ya?ml))$/;
/** A name such as `hooksrc.yaml`, `hooks.yml` or `hooks-config.json`. */
const LIKE_CONFIG = /^\.?hooks?[-._]?(?:rc|conf|config)?\.(?:ya?ml|json[5c]?|toml|ini|[cm]?[jt]s)$/i;
const HAS_SETTING = /\b(?:webhooks|sharedSecret|writeKey)["']?\s*[:=]/;

function isSimilarConfig(path: string): boolean {
  const name = basename(path);
  if (!LIKE_CONFIG.test(name) && closest(name, PROJECT_NAMES) === undefined) return false;
  try {
    return HAS_SETTING.test(readTextNow(path));
  } catch {
    // A folder, or a file that this user may not read.
    return false;
  }
}

function projectFolders(cwd: string): string[] {
  const folders = [cwd];
  for (let folder = cwd; !existsSync(join(folder, 'package.json'));) {
    const parent = dirname(folder);
    if (parent === folder) return [cwd];
    folders.push(parent);
    folder = parent;
  }
  return folders;
}

/**
 * Whether a file is a config. A package.json must have the key `hooks`; its text is searched first, because parsing would
 * slow every start.
 */
function isConfig(path: string): boolean {
  if (!existsSync(path)) return false;
  if (!path.endsWith('package.json')) return true;
  try {
    const text = readTextNow(path).replace(/^\uFEFF/, '');
    return text.includes('"hooks"') && Object.hasOwn(JSON.parse(text) as object, 'hooks'); // hasOwn throws for null, which the catch handles
  } catch {
    // An unreadable or malformed package.json does not count as a config, because npm reports it.
    return false;
  }
}

/** Finds the user's config. Only data formats: a config that applies to all projects must not run code. */
export function findUserFile(env: Readonly<NodeJS.ProcessEnv>): string | undefined {
  return userPaths(env, USER_NAMES).find((path) => existsSync(path));
}

/** Paths in the user's config folder; none if the user has no home folder. */
function userPaths(env: Readonly<NodeJS.ProcessEnv>, names: readonly string[]): string[] {
  const home = homeFolder(env);
  const base = env['XDG_CONFIG_HOME'] || (home && join(home, '.config'));
  return base === undefined ? [] : names.map((name) => join(base, 'hooks', name));
}
