import { extname, isAbsolute, join, relative, resolve } from 'node:path';
import { ConfigError } from '../../errors.ts';
import { printable } from '../../redact.ts';
import { shapeProblems } from '../table/shape-problems.ts';
import { fieldOf, KEYS, type Key } from '../table/fields.ts';
import { findProjectFile, findUserFile, unreadConfigs } from './find-files.ts';
import { findSetting, longFormPaths, type GivenSetting, type Layer } from '../layer.ts';
import { loadFile } from './load-file.ts';
import { fillIn, referencesIn, UnsetVariableError, validateReferences } from '../references.ts';

export interface ConfigFilesContext {
  /** The flags that select the config file. `config` is the file of `--config`, or false for `--no-config`. */
  readonly flags: { readonly config?: string | false };
  readonly cwd: string;
  readonly env: Readonly<NodeJS.ProcessEnv>;
  /** Receives warnings for the user, such as one about a data folder of another user. */
  readonly note?: ((line: string) => void) | undefined;
  /** Receives a line about each config file that is code and was found by search, before the code runs. */
  readonly onCode?: ((line: string) => void) | undefined;
  /** Stops waiting for the writer if a config file is a named pipe. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Finds, reads and validates the config files, the one with the highest priority first. A file that `--config` or
 * HOOKS_CONFIG names is the only one.
 */
export async function fileLayers(context: ConfigFilesContext): Promise<readonly Layer[]> {
  const { flags, env, cwd } = context;
  if (flags.config === false) return [];
  const named = flags.config ?? (env['HOOKS_CONFIG'] || undefined);
  const by = flags.config === undefined ? 'HOOKS_CONFIG' : '--config';
  if (named === '') {
    throw new ConfigError('Expected `--config` to be a file, got an empty string', {
      origin: '--config',
      hint: 'check that its variable is set, or pass --no-config to run without a file',
    });
  }
  if (named !== undefined) return [await fileLayer(resolve(cwd, named), context, by)];
  for (const path of unreadConfigs(cwd, env)) {
    context.note?.(
      `warning: ${printable(shownPath(path, cwd), 400)} is not read: write it as .hooksrc.yaml or .hooksrc.json`,
    );
  }
  const layers: Layer[] = [];
  for (const path of [findProjectFile(cwd), findUserFile(env)]) {
    if (path === undefined) continue;
    if (isConfigCode(path)) context.onCode?.(`running the config ${printable(path, 400)}: it is code`);
    layers.push(await fileLayer(path, context));
  }
  return layers;
}

/** Whether a config file is code, which runs when the file is read. */
function isConfigCode(path: string): boolean {
  return /^\.[cm]?[jt]s$/.test(extname(path));
}

async function fileLayer(path: string, context: ConfigFilesContext, by?: string): Promise<Layer> {
  const file = shownPath(path, context.cwd);
  const values = await loadFile(path, file, { by, signal: context.signal });
  const layer = { values, file, folder: join(path, '..'), names: {} };
  const shape = shapeProblems(values, file);
  // Unknown settings do not prevent the validation of values. Other problems of the structure do, because values cannot be
  // found in a wrong structure.
  const isReadable = shape.every(({ message }) => message.startsWith('Unknown setting'));
  const problems = [...shape, ...(isReadable ? valueProblems(layer, context.env) : [])];
  const [first, ...others] = new Map(problems.map((problem) => [problem.message, problem])).values();
  // A variable may be unset as long as its setting is not used.
  if (first === undefined || problems.every((each) => each instanceof UnsetVariableError)) return layer;
  const { message, key = '', origin = '', hint } = first;
  throw others.length === 0 ? first : new ConfigError(message, { key, origin, hint, others, cause: first });
}

/** Path to display: relative for a file near the current folder, else absolute. */
function shownPath(path: string, cwd: string): string {
  const near = relative(cwd, path);
  return isAbsolute(near) || near.length >= path.length ? path : near;
}

/** Validates every value, so that problems show even in settings that the command does not use. */
function valueProblems(layer: Layer, env: ConfigFilesContext['env']): ConfigError[] {
  // Problems of a source come before those of its destinations, because the paths of destinations are longer.
  const paths = [[], ...longFormPaths([layer])].toSorted((one, other) => one.length - other.length);
  return paths.flatMap((path) =>
    KEYS.flatMap((key) => problemsOf(key, findSetting([layer], key, path), env)),
  );
}

/** A valid element of every list but that of schemes. */
const STAND_IN = 'https://receiver.example/';

/** Validates a value, of a list each element alone, and its references. Does not parse what has references. */
function problemsOf(
  key: Key,
  given: GivenSetting | undefined,
  env: ConfigFilesContext['env'],
): ConfigError[] {
  const { value, origin = { name: key } } = given ?? {};
  const list: readonly unknown[] =
    Array.isArray(value) && value.length > 0 && key !== 'scheme' ? value : [value];
  const parse = (part: unknown, at: number): unknown => {
    const whole = list === value ? list.map((_, i) => (i === at ? part : STAND_IN)) : part;
    return part === undefined || referencesIn(part).length > 0 || fieldOf(key).kind.parse(whole, origin);
  };
  return [
    () => validateReferences(value, origin),
    () => fillIn(value, (name) => env[name], origin),
    ...list.map((part, at) => () => parse(part, at)),
  ].flatMap((validate) => problemOf(validate) ?? []);
}

function problemOf(validate: () => unknown): ConfigError | undefined {
  try {
    validate();
    return undefined;
  } catch (error) {
    if (error instanceof ConfigError) return error;
    throw error;
  }
}
