import { basename, extname } from 'node:path';
import { isObject } from '../../validate-options.ts';
import { ConfigError } from '../../errors.ts';
import { MOST_FILE_BYTES, openToRead, readAtMost } from '../../files.ts';
import { printable } from '../../redact.ts';
import { complaintOf, isDuplicateKey, type Complaint } from './syntax-error.ts';

type Loader = (path: string, text: string) => unknown;

/**
 * The loaders by a file's ending. The names and formats are cosmiconfig's, and so is the YAML loader. Its explorer is not used:
 * it skips a config that may not be read, fails at any malformed package.json of the current folder, runs code
 * that throws twice, needs a TypeScript with a JavaScript API (7 has none), and lets a data file `$import` code.
 */
const LOADERS: Readonly<Record<string, Loader>> = {
  '': parseYaml,
  '.yaml': parseYaml,
  '.yml': parseYaml,
  '.json': parseJson,
  '.js': runJavaScript,
  '.cjs': runJavaScript,
  '.mjs': runJavaScript,
  '.ts': runTypeScript,
};

/** The most values in a file, far more than any config has. Aliases of aliases make billions out of a few bytes. */
const MAX_VALUES = 100_000;

interface NamedFile {
  /** The flag or variable that names the file, of one that was not found by search. */
  readonly by?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Loads a config file without checking its values; an empty file is an object without settings. `shown` is the file's name
 * in errors. Throws ConfigError with file and line for what cannot be read, parsed or run, without any text of the
 * file, which may be a secret.
 */
export async function loadFile(path: string, shown: string, named: NamedFile = {}): Promise<unknown> {
  const ending = extname(path);
  const load = LOADERS[ending];
  if (load === undefined) {
    const endings = Object.keys(LOADERS).filter((known) => known !== '');
    throw unusableFile(
      shown,
      `has the unknown ending ${printable(ending)}`,
      `known are ${endings.join(' ')}`,
    );
  }
  const text = await readText(path, shown, named);
  if (/^(?:\ufffd\ufffd)?(?:[^\0]\0|\0[^\0])/.test(text)) {
    throw unusableFile(shown, 'is UTF-16, not UTF-8', 'write it as UTF-8: iconv -f UTF-16 -t UTF-8 FILE');
  }
  const content = text.trim() === '' ? null : await runLoader(load, { path, text, shown });
  if (basename(path) !== 'package.json') return bounded(content ?? {}, shown);
  if (isObject(content) && Object.hasOwn(content, 'hooks')) return bounded(content['hooks'], shown);
  throw unusableFile(shown, 'has no key `hooks`', 'add the key, or name another file');
}

/** Throws ConfigError for too many values: a walk meets a repeated value each time, and one that holds itself forever. */
function bounded(content: unknown, shown: string): unknown {
  const waiting = [content];
  let count = 0;
  while (waiting.length > 0) {
    const value = waiting.pop();
    if (typeof value !== 'object' || value === null) continue;
    const parts: unknown[] = Object.values(value);
    count += parts.length;
    if (count > MAX_VALUES) {
      const hint =
        'an alias (*name) repeats all that it names: write out what is meant, and leave out the rest';
      throw unusableFile(shown, 'holds more than 100,000 values, or one that holds itself', hint);
    }
    for (const part of parts) waiting.push(part);
  }
  return content;
}

async function readText(path: string, shown: string, { by, signal }: NamedFile): Promise<string> {
  try {
    return (await readAtMost(MOST_FILE_BYTES, () => openToRead(path, signal))).toString();
  } catch (error) {
    if (signal?.aborted) throw error;
    const { code, message } = error as NodeJS.ErrnoException; // what node:fs rejects with
    const why: Record<string, string> = {
      ENOENT: 'does not exist',
      EACCES: 'may not be read by this user',
      EISDIR: 'is a folder',
      EFBIG: `is ${message}${by === undefined ? '' : ` (${by})`}`,
    };
    const hint = 'check its path; hooks init FILE writes one, --no-config goes on without';
    throw unusableFile(shown, (code !== undefined && why[code]) || `cannot be read (${code})`, hint);
  }
}

async function runLoader(
  load: Loader,
  file: { path: string; text: string; shown: string },
): Promise<unknown> {
  try {
    return await load(file.path, file.text);
  } catch (error) {
    throw brokenFile(file.shown, await complaintOf(error, { ...file, findSyntaxError }), error);
  }
}

/** Imports its parser on use, as `jiti` does, because most commands of most users have no config file. */
async function parseYaml(path: string, text: string): Promise<unknown> {
  const { defaultLoaders } = await import('./yaml.ts');
  return defaultLoaders['.yaml'](path, text) as unknown; // typed as any
}

async function parseJson(path: string, text: string): Promise<unknown> {
  const json = text.replace(/^\uFEFF/, '');
  const content: unknown = JSON.parse(json);
  // A package.json belongs to npm, which allows duplicates.
  if (basename(path) !== 'package.json') await rejectDuplicateKey(path, json);
  return content;
}

/** JSON.parse silently takes the last of two values. JSON is YAML, but for oddities whose complaints do not count here. */
async function rejectDuplicateKey(path: string, json: string): Promise<void> {
  try {
    await parseYaml(path, json);
  } catch (error) {
    if (isDuplicateKey(error)) throw error;
  }
}

async function runJavaScript(path: string): Promise<unknown> {
  const { href } = process.getBuiltinModule('node:url').pathToFileURL(path);
  return defaultExport(await withoutModuleWarnings(() => import(href)));
}

/**
 * Node warns of a module whose package.json has no `type`, and of one that is required: a config works either way, and the
 * project's package.json is not ours to advise on. Other warnings are shown.
 */
async function withoutModuleWarnings<T>(load: () => Promise<T>): Promise<T> {
  // eslint-disable-next-line typescript/unbound-method -- it is called on its process, and put back as it was
  const { emitWarning } = process;
  process.emitWarning = (...given: unknown[]): void => {
    if (!isModuleWarning(given)) Reflect.apply(emitWarning, process, given);
  };
  try {
    return await load();
  } finally {
    process.emitWarning = emitWarning;
  }
}

/** Recognizes a warning by its code or, if Node gives none, by its words. */
function isModuleWarning([warning, details]: readonly unknown[]): boolean {
  if (isObject(details) && details['code'] === 'MODULE_TYPELESS_PACKAGE_JSON') return true;
  return details === 'ExperimentalWarning' && /\bES Module\b.*\brequire\(\)/s.test(String(warning));
}

async function runTypeScript(path: string): Promise<unknown> {
  return defaultExport(await (await jiti()).import(path));
}

/** A forgotten `export default` would be a config without settings. A promise is one of a config. */
function defaultExport(module: unknown): unknown {
  if (isObject(module) && 'default' in module) return module['default'];
  throw new Error('it has no default export: write export default { … }');
}

/** Node does not say in which line of a module it found a syntax error; jiti's parser leaves it in its output. */
async function findSyntaxError(source: string, filename: string): Promise<number | undefined> {
  const output = (await jiti()).transform({ source, filename, ts: false });
  const line = /^exports\.__JITI_ERROR__ = \{.*?"line":(\d+)/.exec(output)?.[1];
  return line === undefined ? undefined : Number(line);
}

/** Loads jiti without its cache on disk: a config may hold secrets. */
async function jiti() {
  const { createJiti } = await import('jiti');
  return createJiti(import.meta.url, { fsCache: false, moduleCache: false, interopDefault: false });
}

/** The hints for the most frequent mistakes of each format. */
const YAML_HINT =
  'check the indentation, and quote what holds a colon and a space, or begins with @, *, &, { or [';
const HINTS: Readonly<Record<string, string>> = {
  '.json': 'keys take double quotes; JSON has no comments, and no comma before } or ]',
  '': YAML_HINT,
  '.yaml': YAML_HINT,
  '.yml': YAML_HINT,
};

function unusableFile(shown: string, why: string, hint: string): ConfigError {
  return new ConfigError(`The config file ${shown} ${why}`, { origin: shown, hint });
}

function brokenFile(shown: string, { line, reason, hint: own }: Complaint, cause: unknown): ConfigError {
  const hint = own ?? HINTS[extname(shown)] ?? 'correct it there, or go on without it: --no-config';
  const position = line === undefined ? shown : `${shown}:${line}`;
  return new ConfigError(`${position}: ${reason}`, { origin: shown, hint, cause });
}
