import {
  DEFAULT_DESTINATION,
  DEFAULT_SOURCE,
  DELIVERY_DEFAULTS,
  type ConnectionOptions,
  type DeliveryOptions,
  type DestinationOptions,
  type SourceOptions,
  type Sources,
} from '../engine/options.ts';
import { ConfigError } from '../errors.ts';
import { printable } from '../redact.ts';
import { findSchemes } from '../signature/schemes/find-schemes.ts';
import type { SignatureScheme } from '../signature/schemes/scheme.ts';
import { fieldOf, KEYS, SHORT_FORM_KEYS, type Key } from './table/fields.ts';
import { findSetting, keysAt, valueAt, type Layer } from './layer.ts';
import { readSetting, readWithDefault, type SettingScope } from './read-setting.ts';
import { UnsetVariableError } from './references.ts';
import { nearHint } from '../suggest.ts';

/** Layers from which settings are read. */
export interface SettingLayers {
  /** Config files, the one with the highest priority first. */
  readonly files: readonly Layer[];
  readonly environment: Layer;
  readonly env: Readonly<NodeJS.ProcessEnv>;
}

/** Names of the configured sources. The short form and an empty config have only the default source. */
export function sourceNames({ files }: SettingLayers): readonly string[] {
  return hasSourcesForm(files) ? keysAt(files, ['sources']) : [DEFAULT_SOURCE];
}

/** Whether the config is in the long form. The first file with settings of the short or the long form decides. */
export function hasSourcesForm(files: readonly Layer[]): boolean {
  for (const { values } of files) {
    if (valueAt(values, ['sources']) !== undefined) return true;
    if (SHORT_FORM_KEYS.some((key) => valueAt(values, [key]) !== undefined)) return false;
  }
  return false;
}

/** All sources with all their destinations. */
export function allSources(given: SettingLayers): Sources {
  const entries = sourceScopes(given).map(([name, scope]): [string, SourceOptions] => {
    const writeKey = readSetting(scope, 'writeKey');
    const destinations = destinationsOf(scope, destinationNames(scope));
    const plan = planOf(scope);
    return [name, { ...(writeKey !== undefined && { writeKey }), ...(plan && { plan }), destinations }];
  });
  return Object.fromEntries(entries);
}

function planOf(scope: SettingScope): SourceOptions['plan'] {
  const file = readSetting(scope, 'plan.file');
  return file === undefined ? undefined : { file, onViolation: readWithDefault(scope, 'plan.onViolation') };
}

/**
 * One source for a command at the prompt: flags override variables, which override the config. URLs of a flag or a variable
 * replace all its destinations. Other variables apply if the source has only one destination. Does not read the write key,
 * which webhooks do not need and whose variable can be unset.
 */
export function promptSource(given: SettingLayers, name: string, flags: Layer): SourceOptions {
  const scope = namedScope(given, name, given.files);
  const outside = [flags, given.environment];
  const configured = destinationNames(scope);
  const areNamed = findSetting(outside, 'webhooks') !== undefined;
  const names = areNamed ? [targetOf(configured)] : configured;
  const layers = [...(names.length === 1 ? outside : [flags]), ...given.files];
  return { destinations: destinationsOf({ ...scope, layers }, names, areNamed ? true : undefined) };
}

/**
 * Secrets of the target destination of a source: of the only destination, or of `Webhooks` if there are several. Empty if
 * the destination has none.
 */
export function promptSecrets(given: SettingLayers, name: string, flags: Layer): readonly string[] {
  const scope = targetScope(given, name, [flags, given.environment, ...given.files]);
  return readSetting(scope, 'sharedSecret') ?? [];
}

/** Signature schemes of the source's target destination. Undefined if the destination does not name any. */
export function promptSchemes(given: SettingLayers, name: string): readonly SignatureScheme[] | undefined {
  return schemeOf(targetScope(given, name, [given.environment, ...given.files])).scheme;
}

/**
 * Connection options of the source's target destination, such as the CA file. Requests to a tracking API or to a URL of a
 * flag, which replace the destination, use the same options.
 */
export function promptConnection(given: SettingLayers, name: string, flags: Layer): ConnectionOptions {
  const keys = KEYS.filter((key) => fieldOf(key).isConnection);
  return optionsFrom(targetScope(given, name, [flags, ...given.files]), keys);
}

function targetScope(given: SettingLayers, name: string, layers: readonly Layer[]): SettingScope {
  const scope = namedScope(given, name, layers);
  return destinationScope(scope, targetOf(destinationNames(scope)));
}

/**
 * The list of secrets of each enabled destination that has any. Skips destinations whose variable is unset, because a
 * receiver of one destination's requests does not need the secrets of the others. Throws ConfigError if only those have
 * secrets.
 */
export function allSecrets(given: SettingLayers): readonly (readonly string[])[] {
  const problems: unknown[] = [];
  const lists = enabledScopes(given).map((scope) => {
    try {
      return readSetting(scope, 'sharedSecret') ?? [];
    } catch (error) {
      if (!(error instanceof UnsetVariableError)) throw error;
      problems.push(error);
      return [];
    }
  });
  const known = lists.filter(({ length }) => length > 0);
  if (known.length === 0 && problems.length > 0) throw problems[0];
  return known;
}

/** Signature schemes of each enabled destination. The entry of a destination that does not name any is undefined. */
export function allSchemes(given: SettingLayers): readonly (readonly SignatureScheme[] | undefined)[] {
  return enabledScopes(given).map((scope) => schemeOf(scope).scheme);
}

/** Returns the scope of settings for each enabled destination of each source. */
function enabledScopes(given: SettingLayers): readonly SettingScope[] {
  const scopes = sourceScopes(given).flatMap(([, scope]) =>
    scope.prefix.length === 0
      ? [scope]
      : destinationNames(scope).map((each) => destinationScope(scope, each)),
  );
  return scopes.filter((scope) => readWithDefault(scope, 'enabled'));
}

/** The write key of a source. A variable overrides the config. */
export function promptWriteKey(given: SettingLayers, name: string): string | undefined {
  return readSetting(namedScope(given, name, [given.environment, ...given.files]), 'writeKey');
}

/**
 * The name and scope of each source. Variables (`HOOKS_URL` …) apply only to the short form, because a variable cannot say
 * which of several sources it means.
 */
function sourceScopes(given: SettingLayers): readonly (readonly [name: string, scope: SettingScope])[] {
  const layers = hasSourcesForm(given.files) ? given.files : [given.environment, ...given.files];
  return sourceNames(given).map((name) => [name, sourceScope(given, name, layers)]);
}

/** The scope of a source that a command names. Throws ConfigError if the config has no source of that name. */
function namedScope(given: SettingLayers, name: string, layers: readonly Layer[]): SettingScope {
  const names = sourceNames(given);
  if (names.includes(name)) return sourceScope(given, name, layers);
  const known = `there ${names.length === 1 ? 'is' : 'are'}: ${names.map((each) => printable(each, 80)).join(', ')}`;
  throw new ConfigError(`Unknown source \`${printable(name, 80)}\``, {
    key: 'sources',
    origin: '--source',
    hint: nearHint(name, names, known),
  });
}

function sourceScope({ files, env }: SettingLayers, name: string, layers: readonly Layer[]): SettingScope {
  return { layers, env, prefix: hasSourcesForm(files) ? ['sources', name] : [] };
}

function destinationNames({ layers, prefix }: SettingScope): readonly string[] {
  if (prefix.length > 0) return keysAt(layers, [...prefix, 'destinations']);
  return findSetting(layers, 'webhooks') === undefined ? [] : [DEFAULT_DESTINATION];
}

/** The target destination of a source: the only one, or `Webhooks`. URLs and secrets of flags and variables apply to it. */
function targetOf(names: readonly string[]): string {
  const [only = DEFAULT_DESTINATION, ...others] = names;
  return others.length === 0 ? only : DEFAULT_DESTINATION;
}

function destinationsOf(
  scope: SettingScope,
  names: readonly string[],
  enabled?: true,
): Readonly<Record<string, DestinationOptions>> {
  if (names.includes(ALL)) throw namedAll(scope);
  return Object.fromEntries(
    names.map((name) => [name, destinationFrom(destinationScope(scope, name), enabled)]),
  );
}

/** Reserved name: in `integrations`, `All` means every destination. */
const ALL = 'All';

function namedAll({ prefix }: SettingScope): ConfigError {
  return new ConfigError('A destination cannot be named `All`', {
    key: [...prefix, 'destinations', ALL].join('.'),
    hint: 'rename it: in `integrations`, All means every destination',
  });
}

/** The scope of a destination. Its settings are under its name in the long form, and at the top in the short form. */
function destinationScope(scope: SettingScope, name: string): SettingScope {
  const { prefix } = scope;
  return prefix.length === 0 ? scope : { ...scope, prefix: [...prefix, 'destinations', name] };
}

function destinationFrom(
  scope: SettingScope,
  enabled: boolean = readWithDefault(scope, 'enabled'),
): DestinationOptions {
  return {
    enabled,
    // The settings of a disabled destination are not read, because their variables can be unset.
    sharedSecrets: (enabled ? readSetting(scope, 'sharedSecret') : undefined) ?? [],
    ...(enabled ? schemeOf(scope) : {}),
    webhooks: (enabled ? readSetting(scope, 'webhooks') : undefined) ?? [],
    delivery: deliveryFrom(scope),
  };
}

/**
 * The schemes of a destination, built-in or custom. Throws ConfigError with the origin of the names if a name is unknown.
 */
function schemeOf(scope: SettingScope): { readonly scheme?: readonly SignatureScheme[] } {
  const names = readSetting(scope, 'scheme');
  if (names === undefined) return {};
  const { name: key = 'scheme', file } = findSetting(scope.layers, 'scheme', scope.prefix)?.origin ?? {};
  const custom = readSetting({ ...scope, prefix: [] }, 'schemes');
  return { scheme: findSchemes(names, { key, file, custom }) };
}

function deliveryFrom(scope: SettingScope): DeliveryOptions {
  const failures = readWithDefault(scope, 'delivery.health.failures');
  return { ...DELIVERY_DEFAULTS, ...optionsFrom(scope, KEYS), health: { failures } };
}

/** Reads the settings in `keys` that configure a delivery option, and returns them as options. */
function optionsFrom(scope: SettingScope, keys: readonly Key[]): Partial<DeliveryOptions> {
  let options: Partial<DeliveryOptions> = {};
  for (const key of keys) {
    const { option } = fieldOf(key);
    const value = option === undefined ? undefined : readSetting(scope, key);
    if (option !== undefined && value !== undefined) options = { ...options, [option]: value };
  }
  return options;
}
