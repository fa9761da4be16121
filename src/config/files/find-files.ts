import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { readTextNow } from '../../files.ts';
import { homeFolder } from './home.ts';

/** File names of a project's config in search order. The first that exists is the config of the folder. */
const PROJECT_NAMES = (
  'package.json .hooksrc .hooksrc.json .hooksrc.yaml .hooksrc.yml ' +
  '.hooksrc.js .hooksrc.cjs .hooksrc.mjs .hooksrc.ts ' +
  'hooks.config.js hooks.config.cjs hooks.config.mjs hooks.config.ts'
).split(' ');

/** File names of configs in formats that are not supported, or that only other tools use. */
const UNREAD_NAMES = (
  '.hooksrc.toml .hooksrc.ini .hooksrc.json5 .hooksrc.jsonc .hooksrc.mts .hooksrc.cts ' +
  'hooks.config.toml hooks.config.ini hooks.config.json5 hooks.config.jsonc hooks.config.mts hooks.config.cts ' +
  'hooks.config.json hooks.config.yaml hooks.config.yml'
).split(' ');

const USER_NAMES =
  'config config.json config.yaml config.yml .hooksrc .hooksrc.json .hooksrc.yaml .hooksrc.yml'.split(' ');

const UNREAD_USER_NAMES = (
  'config.toml config.ini config.json5 config.jsonc config.js config.cjs config.mjs config.ts ' +
  '.hooksrc.toml .hooksrc.ini .hooksrc.json5 .hooksrc.jsonc .hooksrc.js .hooksrc.cjs .hooksrc.mjs .hooksrc.ts'
).split(' ');

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

/** Other configs in the folder of a project's config. They are not read, because the first one wins. */
export function configsBeside(path: string): string[] {
  const folder = dirname(path);
  return PROJECT_NAMES.map((name) => join(folder, name)).filter((each) => each !== path && isConfig(each));
}

/** Files of a project or the user that look like a config, but have a name or format that is not supported. */
export function unreadConfigs(cwd: string, env: Readonly<NodeJS.ProcessEnv>): string[] {
  const ofProject = projectFolders(cwd).flatMap((folder) => UNREAD_NAMES.map((name) => join(folder, name)));
  return [...ofProject, ...userPaths(env, UNREAD_USER_NAMES)].filter((path) => existsSync(path));
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
