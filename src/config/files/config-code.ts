import { constants } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { makeFolder } from '../../files.ts';
import { printable } from '../../redact.ts';
import { isContinuousIntegration } from './continuous-integration.ts';

/** The file in the data folder that lists the config files with code named to the user, a JSON string per line. */
const KNOWN_FILES = 'config-code.ndjson';

export interface ConfigCodeContext {
  readonly env: Readonly<NodeJS.ProcessEnv>;
  /** Writes a line to stderr. Undefined: nothing is announced or remembered. */
  readonly note: ((line: string) => void) | undefined;
  /** The data folder. If undefined, or if it throws, nothing can be remembered, and each run names the file. */
  readonly dataDir: () => string | undefined;
}

/** Whether a config file is code, which runs when it is read. */
export function isConfigCode(path: string): boolean {
  return /^\.[cm]?[jt]s$/.test(extname(path));
}

/**
 * Names a config file with code before it runs for the first time: a folder from another person may hold one that its user
 * never looked at. Not in continuous integration, which remembers nothing and has no reader.
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

function knownFiles(dataDir: ConfigCodeContext['dataDir']): string | undefined {
  try {
    const folder = dataDir();
    if (folder === undefined) return undefined;
    makeFolder(folder, 0o700);
    return join(folder, KNOWN_FILES);
  } catch {
    // A fault of the folder is reported when something must be stored there.
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

/** Uses a file, never through a symbolic link. Undefined when the file does not exist or cannot be used. */
async function withFile<T>(
  path: string | undefined,
  flags: number,
  use: (file: FileHandle) => Promise<T>,
): Promise<T | undefined> {
  if (path === undefined) return undefined;
  try {
    const { open } = process.getBuiltinModule('node:fs/promises');
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
