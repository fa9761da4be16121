import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { readTextNow } from '../../files.ts';
import { homeFolder } from './home.ts';

/** The names of a project's config, in the order of the search: the first that exists is the folder's config. */
const PROJECT_NAMES = (
  'package.json .hooksrc .hooksrc.json .hooksrc.yaml .hooksrc.yml ' +
  '.hooksrc.js .hooksrc.cjs .hooksrc.mjs .hooksrc.ts ' +
  'hooks.config.js hooks.config.cjs hooks.config.mjs hooks.config.ts'
).split(' ');

/** The names of a config in a format that is not read, or in one of other tools. */
const UNREAD_NAMES = (
  '.hooksrc.toml .hooksrc.ini .hooksrc.json5 .hooksrc.jsonc .hooksrc.mts .hooksrc.cts ' +
  'hooks.config.toml hooks.config.ini hooks.config.json5 hooks.config.jsonc hooks.config.mts hooks.config.cts ' +
  'hooks.config.json hooks.config.yaml hooks.config.yml'
).split(' ');

const USER_NAMES =
  'config config.json config.yaml config.yml .hooksrc .hooksrc.json .hooksrc.yaml .hooksrc.yml'.split(' ');

/**
 * The project's config: the first in the current folder, its parent …, up to the folder of the nearest package.json.
 * Without a package.json above only the current folder is searched, so that no code of a folder that is not the
 * project's (`/tmp/.hooksrc.js`) is run.
 */
export function findProjectFile(cwd: string): string | undefined {
  for (const folder of projectFolders(cwd)) {
    const found = PROJECT_NAMES.map((name) => join(folder, name)).find(isConfig);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The configs beside a project's, of which none is read: the first of the folder wins. */
export function configsBeside(path: string): string[] {
  const folder = dirname(path);
  return PROJECT_NAMES.map((name) => join(folder, name)).filter((each) => each !== path && isConfig(each));
}

/** The files of a project that look like its config, and are no config that can be read. */
export function unreadConfigs(cwd: string): string[] {
  return projectFolders(cwd).flatMap((folder) =>
    UNREAD_NAMES.map((name) => join(folder, name)).filter((path) => existsSync(path)),
  );
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

/** Whether a file is a config. A package.json needs a key `hooks`; its text is checked first, since this runs at every start. */
function isConfig(path: string): boolean {
  if (!existsSync(path)) return false;
  if (!path.endsWith('package.json')) return true;
  try {
    const text = readTextNow(path).replace(/^\uFEFF/, '');
    return text.includes('"hooks"') && Object.hasOwn(JSON.parse(text) as object, 'hooks'); // hasOwn throws for null, and the catch takes it
  } catch {
    // npm reports an unreadable or malformed package.json; it says nothing about hooks.
    return false;
  }
}

/** The user's config, of data formats only: a folder that many projects share runs no code. */
export function findUserFile(env: Readonly<NodeJS.ProcessEnv>): string | undefined {
  const home = homeFolder(env);
  const base = env['XDG_CONFIG_HOME'] || (home && join(home, '.config'));
  if (base === undefined) return undefined;
  return USER_NAMES.map((name) => join(base, 'hooks', name)).find((path) => existsSync(path));
}
