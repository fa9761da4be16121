import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { makeFolder } from '../make-folder.ts';
import { printable } from '../redact.ts';

/** In the data folder: the config files with code that were named to the user, a JSON string a line. */
const KNOWN_FILES = 'config-code.ndjson';

export interface ConfigCodeContext {
  readonly env: Readonly<NodeJS.ProcessEnv>;
  /** Takes a line for stderr. Undefined: nothing is said, and nothing counts as said. */
  readonly note: ((line: string) => void) | undefined;
  /** Undefined, or it throws: nothing can be remembered there, and each run names the file. */
  readonly dataDir: () => string | undefined;
}

/** Whether a config file is code, which runs when it is read. */
export function isConfigCode(path: string): boolean {
  return /^\.[cm]?[jt]s$/.test(extname(path));
}

/**
 * Names a config file with code before it runs, the first time that it does: a folder that came from somebody else may hold
 * one that its user never looked at. Continuous integration starts without a memory, and nobody reads it there.
 */
export async function announceConfigCode(
  path: string,
  { env, note, dataDir }: ConfigCodeContext,
): Promise<void> {
  if (note === undefined || isContinuousIntegration(env)) return;
  const known = knownFiles(dataDir);
  if (await isKnown(path, known)) return;
  note(`running the config ${printable(path, 400)}: it is code (said once; --no-config goes on without it)`);
  await remember(path, known);
}

function isContinuousIntegration({ CI = '' }: Readonly<NodeJS.ProcessEnv>): boolean {
  return !['', '0', 'false'].includes(CI.toLowerCase());
}

function knownFiles(dataDir: ConfigCodeContext['dataDir']): string | undefined {
  try {
    const folder = dataDir();
    if (folder === undefined) return undefined;
    makeFolder(folder, 0o700);
    return join(folder, KNOWN_FILES);
  } catch {
    // What is wrong with the folder is told when something has to be kept there.
    return undefined;
  }
}

async function isKnown(path: string, known: string | undefined): Promise<boolean> {
  const text = await withFile(known, constants.O_RDONLY, (file) => file.readFile('utf8'));
  return text?.split('\n').includes(JSON.stringify(path)) ?? false;
}

/** One write, so that the lines of commands that run at once stay apart. */
async function remember(path: string, known: string | undefined): Promise<void> {
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_APPEND;
  await withFile(known, flags, (file) => file.appendFile(`${JSON.stringify(path)}\n`));
}

/** Never through a symbolic link. Undefined: the file is not there, or cannot be used. */
async function withFile<T>(
  path: string | undefined,
  flags: number,
  use: (file: Awaited<ReturnType<typeof open>>) => Promise<T>,
): Promise<T | undefined> {
  if (path === undefined) return undefined;
  try {
    const file = await open(path, flags | constants.O_NOFOLLOW, 0o600);
    try {
      return await use(file);
    } finally {
      await file.close();
    }
  } catch {
    return undefined;
  }
}
