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
import { suggestion } from './other-names.ts';

/** The layers that settings are read from. */
export interface SettingLayers {
  /** The config files, the strongest first. */
  readonly files: readonly Layer[];
  readonly environment: Layer;
  readonly env: Readonly<NodeJS.ProcessEnv>;
}

/** The names of the configured sources. The short form has one, and so has an empty config. */
export function sourceNames({ files }: SettingLayers): readonly string[] {
  return hasSourcesForm(files) ? keysAt(files, ['sources']) : [DEFAULT_SOURCE];
}

/** The strongest file that has either form decides; what a weaker one says in the other form is not looked at. */
export function hasSourcesForm(files: readonly Layer[]): boolean {
  for (const { values } of files) {
    if (valueAt(values, ['sources']) !== undefined) return true;
    if (SHORT_FORM_KEYS.some((key) => valueAt(values, [key]) !== undefined)) return false;
  }
  return false;
}

/**
 * All sources with all their destinations. Variables (`HOOKS_URL` …) give settings of the short form: they cannot
 * say which of several sources they mean.
 */
export function allSources(given: SettingLayers): Sources {
  const layers = hasSourcesForm(given.files) ? given.files : [given.environment, ...given.files];
  const entries = sourceNames(given).map((name): [string, SourceOptions] => {
    const scope = { layers, env: given.env, prefix: prefixOf(given, name) };
    const writeKey = readSetting(scope, 'writeKey');
    const destinations = destinationsOf(scope, destinationNames(given, name, layers));
    return [name, writeKey === undefined ? { destinations } : { writeKey, destinations }];
  });
  return Object.fromEntries(entries);
}

/**
 * One source as a command at the prompt sees it: flags, then variables, then the config. URLs of a flag or a variable
 * take the place of all its destinations. A variable's secret signs when there is one destination that it can mean.
 * Without the write key, which delivering to webhooks does not need: its variable may be unset.
 */
export function promptSource(given: SettingLayers, name: string, flags: Layer): SourceOptions {
  requireSource(given, name);
  const outside = [flags, given.environment];
  const configured = destinationNames(given, name, given.files);
  const areNamed = findSetting(outside, 'webhooks') !== undefined;
  const names = areNamed ? [targetOf(configured)] : configured;
  const layers = [...(names.length === 1 ? outside : [flags]), ...given.files];
  const scope = { layers, env: given.env, prefix: prefixOf(given, name) };
  return { destinations: destinationsOf(scope, names, areNamed ? true : undefined) };
}

/** The secrets of the destination `Webhooks`, else of the only one; of several others none, for none is meant. */
export function promptSecrets(given: SettingLayers, name: string, flags: Layer): readonly string[] {
  return (
    readSetting(targetScope(given, name, [flags, given.environment, ...given.files]), 'sharedSecret') ?? []
  );
}

/** The signature schemes of the same destination; undefined when it names none. */
export function promptSchemes(given: SettingLayers, name: string): readonly SignatureScheme[] | undefined {
  return schemeOf(targetScope(given, name, [given.environment, ...given.files])).scheme;
}

/** How the same destination is reached, for a URL that replaces it. */
export function promptConnection(given: SettingLayers, name: string, flags: Layer): ConnectionOptions {
  const keys = KEYS.filter((key) => fieldOf(key).isConnection);
  return optionsFrom(targetScope(given, name, [flags, ...given.files]), keys);
}

function targetScope(given: SettingLayers, name: string, layers: readonly Layer[]): SettingScope {
  requireSource(given, name);
  const target = targetOf(destinationNames(given, name, layers));
  return destinationScope({ layers, env: given.env, prefix: prefixOf(given, name) }, target);
}

/**
 * What each destination of each source has for secrets, without those that have none. One that is disabled is left out, and
 * one whose variable is unset, unless no other has any: a receiver of one destination's requests needs no secret of the others.
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

/** The signature schemes of each destination that is enabled; undefined for one that names none. */
export function allSchemes(given: SettingLayers): readonly (readonly SignatureScheme[] | undefined)[] {
  return enabledScopes(given).map((scope) => schemeOf(scope).scheme);
}

/** Of each destination of each source that is enabled. */
function enabledScopes(given: SettingLayers): readonly SettingScope[] {
  const layers = hasSourcesForm(given.files) ? given.files : [given.environment, ...given.files];
  const scopes = sourceNames(given).flatMap((name): SettingScope[] => {
    const scope = { layers, env: given.env, prefix: prefixOf(given, name) };
    if (scope.prefix.length === 0) return [scope];
    return destinationNames(given, name, layers).map((each) => destinationScope(scope, each));
  });
  return scopes.filter((scope) => readWithDefault(scope, 'enabled'));
}

/** A variable's, else the source's own. */
export function promptWriteKey(given: SettingLayers, name: string): string | undefined {
  requireSource(given, name);
  const layers = [given.environment, ...given.files];
  return readSetting({ layers, env: given.env, prefix: prefixOf(given, name) }, 'writeKey');
}

function requireSource(given: SettingLayers, name: string): void {
  const names = sourceNames(given);
  if (names.includes(name)) return;
  const near = suggestion(name, names);
  const known = `there ${names.length === 1 ? 'is' : 'are'}: ${names.map((each) => printable(each, 80)).join(', ')}`;
  throw new ConfigError(`Unknown source \`${printable(name, 80)}\``, {
    key: 'sources',
    origin: '--source',
    hint: near === undefined ? known : `did you mean \`${near}\`?`,
  });
}

function prefixOf({ files }: SettingLayers, source: string): readonly string[] {
  return hasSourcesForm(files) ? ['sources', source] : [];
}

function destinationNames(given: SettingLayers, source: string, layers: readonly Layer[]): readonly string[] {
  const prefix = prefixOf(given, source);
  if (prefix.length > 0) return keysAt(layers, [...prefix, 'destinations']);
  return findSetting(layers, 'webhooks') === undefined ? [] : [DEFAULT_DESTINATION];
}

/** Which destination a URL or a secret from outside the config is about. */
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

/** In `integrations` it stands for every destination. */
const ALL = 'All';

function namedAll({ prefix = [] }: SettingScope): ConfigError {
  return new ConfigError('A destination cannot be named `All`', {
    key: [...prefix, 'destinations', ALL].join('.'),
    hint: 'give it another name: in `integrations` All stands for every destination',
  });
}

/** In the long form a destination's settings are below its name, in the short form at the top. */
function destinationScope(scope: SettingScope, name: string): SettingScope {
  const { prefix = [] } = scope;
  return prefix.length === 0 ? scope : { ...scope, prefix: [...prefix, 'destinations', name] };
}

function destinationFrom(
  scope: SettingScope,
  enabled: boolean = readWithDefault(scope, 'enabled'),
): DestinationOptions {
  return {
    enabled,
    // Not used while it is disabled, so that their variables may be unset.
    sharedSecrets: (enabled ? readSetting(scope, 'sharedSecret') : undefined) ?? [],
    ...(enabled ? schemeOf(scope) : {}),
    webhooks: (enabled ? readSetting(scope, 'webhooks') : undefined) ?? [],
    delivery: deliveryFrom(scope),
  };
}

/** The schemes of a destination, with those of one's own among them. */
function schemeOf(scope: SettingScope): { readonly scheme?: readonly SignatureScheme[] } {
  const names = readSetting(scope, 'scheme');
  return names === undefined ? {} : { scheme: knownSchemes(names, scope) };
}

/** The schemes of these names. Throws ConfigError that says where the names were given. */
function knownSchemes(names: readonly string[], scope: SettingScope): readonly SignatureScheme[] {
  const { layers, env, prefix } = scope;
  const { name: key = 'scheme', file } = findSetting(layers, 'scheme', prefix)?.origin ?? {};
  const custom = readSetting({ layers, env }, 'schemes');
  return findSchemes(names, { key, file, custom });
}

function deliveryFrom(scope: SettingScope): DeliveryOptions {
  const failures = readWithDefault(scope, 'delivery.health.failures');
  return { ...DELIVERY_DEFAULTS, ...optionsFrom(scope, KEYS), health: { failures } };
}

/** The options that these settings give a destination. */
function optionsFrom(scope: SettingScope, keys: readonly Key[]): Partial<DeliveryOptions> {
  let options: Partial<DeliveryOptions> = {};
  for (const key of keys) {
    const { option } = fieldOf(key);
    const value = option === undefined ? undefined : readSetting(scope, key);
    if (option !== undefined && value !== undefined) options = { ...options, [option]: value };
  }
  return options;
}
