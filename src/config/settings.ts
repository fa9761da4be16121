import { join, resolve } from 'node:path';
import type { ResolvedClientOptions } from '../client/options.ts';
import {
  DEFAULT_SOURCE,
  type ConnectionOptions,
  type SourceOptions,
  type Sources,
} from '../engine/options.ts';
import { ConfigError } from '../errors.ts';
import type { SignatureScheme } from '../signature/schemes/scheme.ts';
import { dataFolderWarning } from './data-folder.ts';
import type { Key } from './table/fields.ts';
import { fileLayers, type ConfigFlags } from './files/file-layers.ts';
import { homeFolder } from './files/home.ts';
import { environmentLayer, findSetting, layerOf, type Layer } from './layer.ts';
import { listSettings, type ListedSetting } from './list-settings.ts';
import { readSetting, readWithDefault, type SettingScope } from './read-setting.ts';
import {
  allSchemes,
  allSecrets,
  allSources,
  promptConnection,
  promptSchemes,
  promptSecrets,
  promptSource,
  promptWriteKey,
  sourceNames,
  type SettingLayers,
} from './sources.ts';

type ClientSettings = Omit<ResolvedClientOptions, 'writeKey' | 'warnOnLoss'>;

export interface RetentionSettings {
  readonly deliveredMs: number;
  readonly deadMs: number;
}

/**
 * All settings: flags override the environment, which overrides the project's file, the user's file and defaults. Reading `dataDir`,
 * `sources`, `client`, `endpoint`, `ownSchemes`, `store` or `retention`, and calling `source`, `secrets`, `allSecrets`, `schemes`, `allSchemes`, `connection` or
 * `writeKey` can throw ConfigError, because `${NAME}` is looked up and variables are validated only on use. Other members never throw.
 */
export interface Settings {
  /** Config files in use, as displayed, the one with the highest priority first. */
  readonly files: readonly string[];
  /** Config files in use that have no settings. */
  readonly emptyFiles: readonly string[];
  /** Current folder of the command, from which paths in its flags are resolved. */
  readonly cwd: string;
  /** Folder for data that outlives a run, which may not exist yet. Throws UnsafeFolderError if any user can write to it. */
  readonly dataDir: string;
  readonly sourceNames: readonly string[];
  /** Source of a command without `--source`: the only one, else `default` if it exists. */
  readonly defaultSource: string | undefined;
  /** All sources, for `serve` and `worker`. Frozen. */
  readonly sources: Sources;
  readonly client: ClientSettings;
  /** URL of a tracking API. */
  readonly endpoint: string | undefined;
  /** URL of the queue; undefined means a file in `dataDir`. */
  readonly store: string | undefined;
  readonly retention: RetentionSettings;
  /**
   * One source for a command at the prompt: with the settings of its flags (see `layerOf`), and with a single destination if
   * `--url` or `HOOKS_URL` is given. Frozen, and without the write key.
   */
  readonly source: (name: string, flags?: Layer) => SourceOptions;
  /** Secrets of the target destination (see `promptSecrets`); empty means unsigned. */
  readonly secrets: (source: string, flags?: Layer) => readonly string[];
  /** Connection options of the target destination, for a URL that replaces it: of a tracking API or a flag. */
  readonly connection: (source: string, flags?: Layer) => ConnectionOptions;
  /** The list of secrets of each destination that has any, because a receiver cannot know the destination of a request. */
  readonly allSecrets: () => readonly (readonly string[])[];
  /** Signature schemes of the target destination; undefined if it does not name any. */
  readonly schemes: (source: string) => readonly SignatureScheme[] | undefined;
  /** Signature schemes of every enabled destination; undefined for one that does not name any. */
  readonly allSchemes: () => readonly (readonly SignatureScheme[] | undefined)[];
  readonly writeKey: (source: string) => string | undefined;
  /** Custom signature schemes. */
  readonly ownSchemes: readonly SignatureScheme[];
  /** Variable or file of a setting of the short form or outside all sources; undefined if the default is used. */
  readonly originOf: (key: Key) => string | undefined;
  /** The rows of `hooks config`: secrets are masked, `${NAME}` is not replaced. */
  readonly list: () => readonly ListedSetting[];
}

interface SettingsContext {
  readonly flags: ConfigFlags;
  readonly env: Readonly<NodeJS.ProcessEnv>;
  readonly cwd: string;
  readonly signal?: AbortSignal;
  /** Receives warnings for the user, such as one about a data folder of another user. */
  readonly note?: ((line: string) => void) | undefined;
  /** Receives a line about config code before the code runs. */
  readonly onCode?: ((line: string) => void) | undefined;
}

/** Loads all settings: finds, reads and validates the config files. Throws ConfigError if a file is invalid. */
export async function loadSettings({
  flags,
  env,
  cwd,
  note,
  onCode,
  signal,
}: SettingsContext): Promise<Settings> {
  const folder = await dataFolder(env, cwd);
  const dataDir = warnOnFirstUse(folder, note);
  const files = await fileLayers({ flags, env, cwd, note, onCode, signal });
  const given = { files, environment: environmentLayer(env, cwd), env };
  return settingsOf(given, { cwd, dataDir, listed: folder });
}

/** Returns a function that returns the data folder, and warns about an unsafe one on first use, because most commands do not use it. */
function warnOnFirstUse(folder: string | undefined, note: SettingsContext['note']): () => string | undefined {
  let isUsed = false;
  return () => {
    const warning = folder === undefined || isUsed ? undefined : dataFolderWarning(folder);
    isUsed = true;
    if (warning !== undefined) note?.(`warning: ${warning}`);
    return folder;
  };
}

/** Path of the data folder; undefined if no variable names it and the user has no home folder. */
async function dataFolder(env: Readonly<NodeJS.ProcessEnv>, cwd: string): Promise<string | undefined> {
  const named = env['HOOKS_DATA_DIR'];
  if (named) return resolve(cwd, named);
  if (env['XDG_DATA_HOME']) return join(env['XDG_DATA_HOME'], 'hooks');
  if (homeFolder(env) === undefined) return undefined;
  const { default: envPaths } = await import('env-paths');
  return envPaths('hooks', { suffix: '' }).data;
}

interface Folders {
  readonly cwd: string;
  readonly dataDir: () => string | undefined;
  /** Data folder for listings, which do not warn about it. */
  readonly listed: string | undefined;
}

function settingsOf(given: SettingLayers, { cwd, dataDir, listed }: Folders): Settings {
  const { files, environment, env } = given;
  const scope: SettingScope = { layers: [environment, ...files], env, prefix: [] };
  const names = sourceNames(given);
  return Object.freeze({
    files: files.flatMap(({ file }) => file ?? []),
    emptyFiles: files.flatMap(({ file, values }) => (isEmptyObject(values) ? (file ?? []) : [])),
    cwd,
    get dataDir() {
      return dataDir() ?? rejectWithoutHome();
    },
    sourceNames: names,
    defaultSource: names.length === 1 ? names[0] : names.find((name) => name === DEFAULT_SOURCE),
    get sources() {
      return frozen(allSources(given));
    },
    get client() {
      return frozen(clientFrom(scope));
    },
    get endpoint() {
      return readSetting(scope, 'endpoint');
    },
    get ownSchemes() {
      return readSetting(scope, 'schemes') ?? [];
    },
    get store() {
      return readSetting(scope, 'store');
    },
    get retention() {
      return {
        deliveredMs: readWithDefault(scope, 'retention.delivered'),
        deadMs: readWithDefault(scope, 'retention.dead'),
      };
    },
    source: (name: string, flags = NO_FLAGS) => frozen(promptSource(given, name, flags)),
    secrets: (source: string, flags = NO_FLAGS) => promptSecrets(given, source, flags),
    connection: (source: string, flags = NO_FLAGS) => promptConnection(given, source, flags),
    allSecrets: () => allSecrets(given),
    schemes: (source: string) => promptSchemes(given, source),
    allSchemes: () => allSchemes(given),
    writeKey: (source: string) => promptWriteKey(given, source),
    originOf: (key: Key) => {
      const origin = findSetting(scope.layers, key)?.origin;
      return origin?.file ?? origin?.name;
    },
    list: () => listSettings(given, listed),
  });
}

function isEmptyObject(values: unknown): boolean {
  return typeof values === 'object' && values !== null && Object.keys(values).length === 0;
}

function rejectWithoutHome(): never {
  throw new ConfigError('There is no data folder: this user has no home folder', {
    key: 'dataDir',
    hint: 'set HOOKS_DATA_DIR to a writable folder',
  });
}

const NO_FLAGS = layerOf({}, '');

/** Options of the client, without the write key, which belongs to a source. */
function clientFrom(scope: SettingScope): ClientSettings {
  return {
    flushAt: readWithDefault(scope, 'client.flushAt'),
    flushAfterMs: readWithDefault(scope, 'client.flushAfter'),
    maxQueued: readWithDefault(scope, 'client.maxQueued'),
    whenFull: readWithDefault(scope, 'client.whenFull'),
  };
}

/** Freezes a value deeply, so that one part of a program cannot change the settings of another. */
function frozen<T>(value: T): T {
  if (typeof value === 'object' && value !== null) Object.values(Object.freeze(value)).forEach(frozen);
  return value;
}
