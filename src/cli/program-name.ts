import { existsSync, realpathSync } from 'node:fs';
import { basename, delimiter, dirname, isAbsolute, join, relative, sep } from 'node:path';

/** The names of the commands that users run. */
const VERB_NAMES = [
  'send',
  'replay',
  'audience',
  'trait',
  'delete',
  'listen',
  'verify',
  'sign',
  'import',
  'redact',
  'test',
  'expect',
  'plan',
  'serve',
  'worker',
  'queue',
  'doctor',
  'init',
  'config',
  'completion',
] as const;

export type VerbName = (typeof VERB_NAMES)[number];

/** The facts from which the program finds out how it was started. */
interface Start {
  /** Path of the script that Node runs. A link, such as the one in `node_modules/.bin`, is not resolved. */
  readonly script: string;
  readonly env: Readonly<NodeJS.ProcessEnv>;
  readonly cwd: () => string;
}

/**
 * Returns the words that start this program in the user's shell. `hooks`, unless the program runs from a `node_modules` folder
 * and the shell would not find it: `npx hooks` inside the project that has it installed, else `npx hooks-cli`, because `npx`
 * would load another package for `hooks`.
 */
export function programName({ script, env, cwd }: Start): string {
  const modules = script.lastIndexOf(`${sep}node_modules${sep}`);
  if (modules === -1 || isOnPath(env)) return 'hooks';
  const isInProject = isWithin(cwd, () => script.slice(0, modules));
  // In a clone of this repository, npm runs the clone through a link in its cache.
  return isInProject || isWithin(cwd, () => dirname(dirname(realpathSync(script))))
    ? 'npx hooks'
    : 'npx hooks-cli';
}

/** Whether the user's shell finds a program `hooks`. npm and the like add folders to PATH that the shell does not have. */
function isOnPath({ PATH = '', npm_execpath: manager }: Start['env']): boolean {
  const folders = PATH.split(delimiter).filter((folder) => folder !== '');
  const own = manager === undefined ? folders : folders.filter((folder) => basename(folder) !== '.bin');
  return own.some((folder) => ['hooks', 'hooks.cmd'].some((file) => existsSync(join(folder, file))));
}

function isWithin(cwd: () => string, folder: () => string): boolean {
  try {
    const path = relative(realpathSync(folder()), cwd());
    return path.split(sep)[0] !== '..' && !isAbsolute(path);
  } catch {
    return false; // one of the folders was removed
  }
}

const COMMAND = new RegExp(
  String.raw`(?<![\w/.@-]|npx )hooks (?=(?:${VERB_NAMES.join('|')}|help|COMMAND|<|\[|--help)(?![\w-]))`,
  'g',
);

/** Replaces `hooks` in the commands of a text, such as `hooks send`, by the words that start the program. */
export function withProgramName(text: string, name: () => string): string {
  return text.replace(COMMAND, () => `${name()} `);
}
