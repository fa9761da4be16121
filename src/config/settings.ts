import { accessSync, constants } from 'node:fs';
import { join, resolve } from 'node:path';
import { DEFAULT_SOURCE } from '../engine/options.ts';
import { ConfigError } from '../errors.ts';
import { unreadableReason } from '../file-problem.ts';
import { printable } from '../redact.ts';
import { isObject } from '../validate-options.ts';
import { dataFolderWarning } from './data-folder.ts';
import type { Key } from './table/fields.ts';
import { fileLayers, type ConfigFilesContext } from './files/file-layers.ts';
import { unreadConfig, type UnreadConfig } from './files/find-files.ts';
import { homeFolder } from './files/home.ts';
import { environmentLayer, findSetting, layerOf, unreadVariables, type Layer } from './layer.ts';
import { listSettings } from './list-settings.ts';
import { referencesIn } from './references.ts';
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

/** Loads all settings: finds, reads and validates the config files. Throws ConfigError if a file is invalid. */
export async function loadSettings(context: ConfigFilesContext): Promise<Settings> {
  const { env, cwd, note } = context;
  const dataFolder = await dataFolderOf(env, cwd);
  const files = await fileLayers(context);
  const referred = files.flatMap(({ values }) => referencesIn(values));
  const warnings = [...unreadVariables(env, referred), ...unreadableIssuers(env)];
  for (const line of warnings) note?.(`warning: ${line}`);
  return new Settings({ files, environment: environmentLayer(env, cwd), env }, { ...context, dataFolder });
}

/** A sentence if NODE_EXTRA_CA_CERTS names a file that cannot be read, which Node does not treat as an error. */
function unreadableIssuers({ NODE_EXTRA_CA_CERTS: file }: Readonly<NodeJS.ProcessEnv>): string[] {
  try {
    if (file) accessSync(file, constants.R_OK);
    return [];
  } catch (error) {
    const why = unreadableReason(error, file);
    return [`NODE_EXTRA_CA_CERTS names ${printable(`${file}`, 400)}, which cannot be read: ${why}`];
  }
}

/** Path of the data folder; undefined if no variable names it and the user has no home folder. */
async function dataFolderOf(env: Readonly<NodeJS.ProcessEnv>, cwd: string): Promise<string | undefined> {
  const named = env['HOOKS_DATA_DIR'];
  if (named) return resolve(cwd, named);
  if (env['XDG_DATA_HOME']) return join(env['XDG_DATA_HOME'], 'hooks');
  if (homeFolder(env) === undefined) return undefined;
  const { default: envPaths } = await import('env-paths');
  return envPaths('hooks', { suffix: '' }).data;
}

const NO_FLAGS = layerOf({}, '');

interface SettingsContext extends Pick<ConfigFilesContext, 'cwd' | 'flags' | 'note'> {
  readonly dataFolder: string | undefined;
}

/**
 * All settings: flags override the environment, which overrides the project's file, the user's file and defaults. Reading
 * `dataDir`, `sources`, `client`, `endpoint`, `ownSchemes`, `store` or `retention`, and calling `source`, `secrets`,
 * `allSecrets`, `schemes`, `allSchemes`, `connection` or `writeKey` can throw ConfigError, because `${NAME}` is looked up
 * and variables are validated only on use. Other members never throw.
 */
export class Settings {
  readonly #given: SettingLayers;
  readonly #scope: SettingScope;
  readonly #context: SettingsContext;
  #isFolderChecked = false;

  constructor(given: SettingLayers, context: SettingsContext) {
    this.#given = given;
    this.#scope = { layers: [given.environment, ...given.files], env: given.env, prefix: [] };
    this.#context = context;
    Object.freeze(this);
  }

  /** Config files in use, as displayed, the one with the highest priority first. */
  get files(): readonly string[] {
    return this.#given.files.flatMap(({ file }) => file ?? []);
  }

  /** Absolute path of the config file with the highest priority. Undefined without a config file. */
  get configPath(): string | undefined {
    const [file] = this.files;
    return file === undefined ? undefined : resolve(this.#context.cwd, file);
  }

  /** Config files in use that have no settings. */
  get emptyFiles(): readonly string[] {
    const empty = this.#given.files.filter(
      ({ values }) => isObject(values) && Object.keys(values).length === 0,
    );
    return empty.flatMap(({ file }) => file ?? []);
  }

  /** A config that was found but is not read. Undefined if there is none, or if a flag says which config to read. */
  get unreadConfig(): UnreadConfig | undefined {
    const { cwd, flags } = this.#context;
    const { env } = this.#given;
    return flags.config === undefined ? unreadConfig(cwd, env, env['HOOKS_CONFIG'] || undefined) : undefined;
  }

  /** How to use the config that is not read. Undefined if there is none. */
  get unreadHint(): string | undefined {
    const { path, why } = this.unreadConfig ?? {};
    return path && `${path} is not read, because ${why}: -c ${path}`;
  }

  /** Current folder of the command, from which paths in its flags are resolved. */
  get cwd(): string {
    return this.#context.cwd;
  }

  /**
   * Folder for data that outlives a run, which may not exist yet. Throws UnsafeFolderError if any user can write to it.
   * Warns about a folder of another user on first use, because most commands do not use the folder.
   */
  get dataDir(): string {
    const { dataFolder = rejectWithoutHome(), note } = this.#context;
    const warning = this.#isFolderChecked ? undefined : dataFolderWarning(dataFolder);
    this.#isFolderChecked = true;
    if (warning !== undefined) note?.(`warning: ${warning}`);
    return dataFolder;
  }

  get sourceNames(): readonly string[] {
    return sourceNames(this.#given);
  }

  /** Name of the source for a command without `--source`: the only source, else `default` if it exists. */
  get defaultSource(): string | undefined {
    const names = this.sourceNames;
    return names.length === 1 ? names[0] : names.find((name) => name === DEFAULT_SOURCE);
  }

  /** All sources, for `serve` and `worker`. Frozen. */
  get sources() {
    return frozen(allSources(this.#given));
  }

  /** The settings `client.…` as options of the library's client, without the write key, which belongs to a source. */
  get client() {
    return frozen({
      flushAt: readWithDefault(this.#scope, 'client.flushAt'),
      flushAfterMs: readWithDefault(this.#scope, 'client.flushAfter'),
      maxQueued: readWithDefault(this.#scope, 'client.maxQueued'),
      whenFull: readWithDefault(this.#scope, 'client.whenFull'),
    });
  }

  /** URL of the tracking API that gets the messages instead of webhooks. Undefined if none is configured. */
  get endpoint(): string | undefined {
    return readSetting(this.#scope, 'endpoint');
  }

  /** URL of the queue; undefined means a file in `dataDir`. */
  get store(): string | undefined {
    return readSetting(this.#scope, 'store');
  }

  get retention() {
    return {
      deliveredMs: readWithDefault(this.#scope, 'retention.delivered'),
      deadMs: readWithDefault(this.#scope, 'retention.dead'),
    };
  }

  /** Custom signature schemes from the config. */
  get ownSchemes() {
    return readSetting(this.#scope, 'schemes') ?? [];
  }

  /**
   * One source for a command at the prompt: with the settings of its flags (see `layerOf`), and with a single destination if
   * `--url` or `HOOKS_URL` is given. Frozen, and without the write key.
   */
  readonly source = (name: string, flags: Layer = NO_FLAGS) => frozen(promptSource(this.#given, name, flags));

  /** Secrets of the source's target destination (see `promptSecrets`). Empty means unsigned. */
  readonly secrets = (source: string, flags: Layer = NO_FLAGS) => promptSecrets(this.#given, source, flags);

  /**
   * Connection options of the source's target destination. They apply to a URL of a tracking API or a flag that replaces the
   * destination.
   */
  readonly connection = (source: string, flags: Layer = NO_FLAGS) =>
    promptConnection(this.#given, source, flags);

  /**
   * Returns a list of secrets per enabled destination that has any, because a receiver cannot know the destination of a
   * request.
   */
  readonly allSecrets = () => allSecrets(this.#given);

  /** Signature schemes of the source's target destination. Undefined if the destination does not name any. */
  readonly schemes = (source: string) => promptSchemes(this.#given, source);

  /** Signature schemes of each enabled destination. The entry of a destination that does not name any is undefined. */
  readonly allSchemes = () => allSchemes(this.#given);

  readonly writeKey = (source: string) => promptWriteKey(this.#given, source);

  /**
   * The variable or file that a setting's value is from. Covers the short form and settings outside all sources. Undefined
   * if the default is used.
   */
  readonly originOf = (key: Key): string | undefined => {
    const origin = findSetting(this.#scope.layers, key)?.origin;
    return origin?.file ?? origin?.name;
  };

  /** Rows of `hooks config`, one per setting. Secrets are masked, and `${NAME}` is not replaced. */
  readonly list = () => listSettings(this.#given, this.#context.dataFolder);
}

function rejectWithoutHome(): never {
  throw new ConfigError('There is no data folder: this user has no home folder', {
    key: 'dataDir',
    hint: 'set HOOKS_DATA_DIR to a writable folder',
  });
}

/** Freezes a value deeply, so that one part of a program cannot change the settings of another. */
function frozen<T>(value: T): T {
  if (typeof value === 'object' && value !== null) Object.values(Object.freeze(value)).forEach(frozen);
  return value;
}
