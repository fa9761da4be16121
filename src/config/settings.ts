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
import { checkDataFolder } from './data-folder.ts';
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
 * Every setting: flags, then environment, then the project's file, then the user's, then defaults. Reading `dataDir`, `sources`,
 * `client`, `endpoint`, `ownSchemes`, `store` or `retention` and calling `source`, `secrets`, `allSecrets`, `schemes`, `allSchemes`, `connection` or `writeKey` may throw ConfigError,
 * because only then a `${NAME}` is looked up and a variable's value checked. The rest never throws.
 */
export interface Settings {
  /** The config files in use, as a person would name them, the strongest first. */
  readonly files: readonly string[];
  /** Those of them that hold nothing. */
  readonly emptyFiles: readonly string[];
  /** The current folder of the command: paths in its flags start there. */
  readonly cwd: string;
  /** The folder for data between runs; it may not exist yet. Throws UnsafeFolderError when any user may write to it. */
  readonly dataDir: string;
  readonly sourceNames: readonly string[];
  /** The source of a command that names none: the only one, else `default` if there is one. */
  readonly defaultSource: string | undefined;
  /** All sources, as `serve` and `worker` need them. Frozen. */
  readonly sources: Sources;
  readonly client: ClientSettings;
  /** A tracking API's URL. */
  readonly endpoint: string | undefined;
  /** A URL; undefined means a file in `dataDir`. */
  readonly store: string | undefined;
  readonly retention: RetentionSettings;
  /**
   * One source, as a command at the prompt sees it: with the settings that its flags give (see `layerOf`), and with
   * one destination when `--url` or `HOOKS_URL` says where to. Frozen, and without the write key.
   */
  readonly source: (name: string, flags?: Layer) => SourceOptions;
  /** The secrets alone, of the destination that is meant when none is named. Empty: unsigned. */
  readonly secrets: (source: string, flags?: Layer) => readonly string[];
  /** How the same destination is reached, for a URL that takes its place: that of a tracking API or of a flag. */
  readonly connection: (source: string, flags?: Layer) => ConnectionOptions;
  /** The secrets of every destination that has any, a list for each: a receiver cannot know the destination of a request. */
  readonly allSecrets: () => readonly (readonly string[])[];
  /** The signature schemes of the same destination; undefined when it names none. */
  readonly schemes: (source: string) => readonly SignatureScheme[] | undefined;
  /** Those of every destination that is enabled. */
  readonly allSchemes: () => readonly (readonly SignatureScheme[] | undefined)[];
  readonly writeKey: (source: string) => string | undefined;
  /** The signature schemes of one's own. */
  readonly ownSchemes: readonly SignatureScheme[];
  /** The variable or the file that gives a setting (of the short form, or of no source); undefined for the default. */
  readonly originOf: (key: Key) => string | undefined;
  /** What `hooks config` shows: secrets masked, `${NAME}` as it is written. */
  readonly list: () => readonly ListedSetting[];
}

interface SettingsContext {
  readonly flags: ConfigFlags;
  readonly env: Readonly<NodeJS.ProcessEnv>;
  readonly cwd: string;
  readonly signal?: AbortSignal;
  /** Takes a warning that a person should read: a data folder of another user. */
  readonly note?: ((line: string) => void) | undefined;
  /** Takes a line about config code before it runs. */
  readonly onCode?: ((line: string) => void) | undefined;
}

/** Loads all settings: finds, reads and checks the config files. Throws ConfigError. */
export async function loadSettings({
  flags,
  env,
  cwd,
  note,
  onCode,
  signal,
}: SettingsContext): Promise<Settings> {
  const folder = await dataFolder(env, cwd);
  const dataDir = checkedFolder(folder, note);
  const files = await fileLayers({ flags, env, cwd, note, onCode, signal });
  const given = { files, environment: environmentLayer(env, cwd), env };
  return settingsOf(given, { cwd, dataDir, listed: folder });
}

/** Checks the folder on first use: most commands store nothing. */
function checkedFolder(folder: string | undefined, note: SettingsContext['note']): () => string | undefined {
  let isChecked = false;
  return () => {
    const warning = folder === undefined || isChecked ? undefined : checkDataFolder(folder);
    isChecked = true;
    if (warning !== undefined) note?.(`warning: ${warning}`);
    return folder;
  };
}

/** The data folder; undefined when none is named and the user has no home. */
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
  /** The folder as shown, without checking who may write to it. */
  readonly listed: string | undefined;
}

function settingsOf(given: SettingLayers, { cwd, dataDir, listed }: Folders): Settings {
  const { files, environment, env } = given;
  const scope: SettingScope = { layers: [environment, ...files], env };
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
  throw new ConfigError('There is no folder to keep anything in: this user has no home', {
    key: 'dataDir',
    hint: 'name a folder that may be written in HOOKS_DATA_DIR',
  });
}

const NO_FLAGS = layerOf({}, '');

/** The client's options but the write key, which belongs to a source. */
function clientFrom(scope: SettingScope): ClientSettings {
  return {
    flushAt: readWithDefault(scope, 'client.flushAt'),
    flushAfterMs: readWithDefault(scope, 'client.flushAfter'),
    maxQueued: readWithDefault(scope, 'client.maxQueued'),
    whenFull: readWithDefault(scope, 'client.whenFull'),
  };
}

/** Freezes a value deeply, so that no part of a program can change the settings of another. */
function frozen<T>(value: T): T {
  if (typeof value === 'object' && value !== null) Object.values(Object.freeze(value)).forEach(frozen);
  return value;
}
