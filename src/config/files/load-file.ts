import { basename, extname } from 'node:path';
import { isObject } from '../../validate-options.ts';
import { ConfigError } from '../../errors.ts';
import { fileProblem, unreadableReason } from '../../file-problem.ts';
import { MOST_FILE_BYTES, openToRead, readAtMost } from '../../files.ts';
import { printable } from '../../redact.ts';
import { parseYaml } from './parse-yaml.ts';
import { fileProblemOf, isDuplicateKey } from './syntax-error.ts';

interface Format {
  readonly load: (path: string, text: string) => unknown;
  /** The hint for a malformed file of this format. Names the most frequent mistakes. */
  readonly hint: string;
}

const YAML: Format = {
  load: parseYaml,
  hint: 'check the indentation, and quote values that have a colon and a space, or begin with @, *, &, { or [',
};
const JSON_FORMAT: Format = {
  load: parseJson,
  hint: 'keys take double quotes; JSON has no comments, and no comma before } or ]',
};
const CODE_HINT = 'fix it there, or pass --no-config to run without it';
const JAVASCRIPT: Format = { load: runJavaScript, hint: CODE_HINT };

/**
 * Formats by file extension. The names, the formats and the YAML loader are cosmiconfig's, but not its explorer, which skips
 * unreadable configs, fails on any malformed package.json in the current folder, runs code that throws twice, needs a
 * TypeScript with a JavaScript API (7 has none), and lets data files `$import` code.
 */
const FORMATS: Readonly<Record<string, Format>> = {
  '': YAML,
  '.yaml': YAML,
  '.yml': YAML,
  '.json': JSON_FORMAT,
  '.js': JAVASCRIPT,
  '.cjs': JAVASCRIPT,
  '.mjs': JAVASCRIPT,
  '.ts': { load: runTypeScript, hint: CODE_HINT },
};

/** Maximum values in a file, far more than any config has. Aliases of aliases make billions of values from a few bytes. */
const MAX_VALUES = 100_000;

interface NamedFile {
  /** Flag or variable that names the file; undefined for a file that was found by search. */
  readonly by?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Loads a config file without validating its values. An empty file is an object without settings. `shown` is the file's name
 * in errors. Throws ConfigError with file and line if the file cannot be read, parsed or run. The error has no text of the
 * file, which can be secret.
 */
export async function loadFile(path: string, shown: string, named: NamedFile = {}): Promise<unknown> {
  const ending = extname(path);
  const format = FORMATS[ending];
  if (format === undefined) {
    const known = Object.keys(FORMATS).filter((each) => each !== '');
    throw unusableFile(shown, `has the unknown ending ${printable(ending)}`, `use one of ${known.join(' ')}`);
  }
  const text = await readText(path, shown, named);
  if (/^(?:\ufffd\ufffd)?(?:[^\0]\0|\0[^\0])/.test(text)) {
    throw unusableFile(shown, 'is UTF-16, not UTF-8', 'write it as UTF-8: iconv -f UTF-16 -t UTF-8 FILE');
  }
  const content = text.trim() === '' ? null : await runFormat(format, { path, text, shown });
  if (basename(path) !== 'package.json') return bounded(content ?? {}, shown);
  if (isObject(content) && Object.hasOwn(content, 'hooks')) return bounded(content['hooks'], shown);
  throw unusableFile(shown, 'has no key `hooks`', 'add the key, or name another file');
}

/**
 * Throws ConfigError if content has too many values. Counts a repeated value each time, and stops at one that contains
 * itself.
 */
function bounded(content: unknown, shown: string): unknown {
  const waiting = [content];
  let count = 0;
  while (waiting.length > 0) {
    const value = waiting.pop();
    if (typeof value !== 'object' || value === null) continue;
    const parts: unknown[] = Object.values(value);
    count += parts.length;
    if (count > MAX_VALUES) {
      const hint = 'an alias (*name) repeats everything under its anchor: write out only the values you need';
      throw unusableFile(shown, 'has more than 100,000 values, or a value that contains itself', hint);
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
    const { code } = error as NodeJS.ErrnoException; // node:fs rejects with this
    const why = unreadableReason(error, path);
    const hint = `${fileProblem(error, path, 'read').fix}; hooks init FILE writes one, --no-config runs without one`;
    const limit = code === 'EFBIG' && by !== undefined ? `${why} (${by})` : why;
    if (code === 'ENOENT') throw unusableFile(shown, 'does not exist', hint, error);
    if (code === 'EISDIR') throw unusableFile(shown, 'is a folder', hint, error);
    throw unusableFile(shown, code === 'EFBIG' ? `is ${limit}` : `cannot be read: ${why}`, hint, error);
  }
}

async function runFormat(
  format: Format,
  file: { path: string; text: string; shown: string },
): Promise<unknown> {
  try {
    return await format.load(file.path, file.text);
  } catch (cause) {
    const { line, reason, hint = format.hint } = await fileProblemOf(cause, { ...file, findSyntaxError });
    const position = line === undefined ? file.shown : `${file.shown}:${line}`;
    throw new ConfigError(`${position}: ${reason}`, { origin: file.shown, hint, cause });
  }
}

async function parseJson(path: string, text: string): Promise<unknown> {
  const json = text.replace(/^\uFEFF/, '');
  const content: unknown = JSON.parse(json);
  // A package.json may have duplicate keys, because npm allows them.
  if (basename(path) !== 'package.json') await rejectDuplicateKey(path, json);
  return content;
}

/**
 * Rejects duplicate keys, which JSON.parse accepts. Uses the YAML parser, and ignores its other errors, because some JSON is
 * not YAML.
 */
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
 * Hides Node's warnings about modules whose package.json has no `type`, and about required modules: the config works anyway,
 * and we should not give advice on the project's package.json. Other warnings are shown.
 */
async function withoutModuleWarnings<T>(load: () => Promise<T>): Promise<T> {
  // eslint-disable-next-line typescript/unbound-method -- called on its process, and restored unchanged
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

/** Recognizes Node's warnings about modules: one by its code, the other by its words, because it has no code. */
function isModuleWarning([warning, details]: readonly unknown[]): boolean {
  if (isObject(details) && details['code'] === 'MODULE_TYPELESS_PACKAGE_JSON') return true;
  return details === 'ExperimentalWarning' && /\bES Module\b.*\brequire\(\)/s.test(String(warning));
}

async function runTypeScript(path: string): Promise<unknown> {
  return defaultExport(await (await jiti()).import(path));
}

/**
 * Returns the default export of a config file that is code, which can be a promise. Throws if there is none: a forgotten
 * `export default` would be a config without settings.
 */
function defaultExport(module: unknown): unknown {
  if (isObject(module) && 'default' in module) return module['default'];
  throw new Error('it has no default export: write export default { … }');
}

/** The line of a syntax error in a module. Node does not tell the line, but the parser of jiti writes it to its output. */
async function findSyntaxError(source: string, filename: string): Promise<number | undefined> {
  const output = (await jiti()).transform({ source, filename, ts: false });
  const line = /^exports\.__JITI_ERROR__ = \{.*?"line":(\d+)/.exec(output)?.[1];
  return line === undefined ? undefined : Number(line);
}

/** Loads jiti without its disk cache, because a config can have secrets. */
async function jiti() {
  const { createJiti } = await import('jiti');
  return createJiti(import.meta.url, { fsCache: false, moduleCache: false, interopDefault: false });
}

function unusableFile(shown: string, why: string, hint: string, cause?: unknown): ConfigError {
  return new ConfigError(`The config file ${shown} ${why}`, { origin: shown, hint, cause });
}
