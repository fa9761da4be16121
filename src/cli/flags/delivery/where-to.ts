import type { Layer } from '../../../config/layer.ts';
import type { Settings } from '../../../config/settings.ts';
import type {
  ConnectionOptions,
  DestinationOptions,
  SourceOptions,
  Sources,
} from '../../../engine/options.ts';
import { ConfigError } from '../../../errors.ts';
import { printable } from '../../../redact.ts';
import type { SchemeChoice } from '../../../signature/schemes/find-schemes.ts';
import { chosenSchemeNames } from '../../../signature/schemes/scheme.ts';
import type { Io } from '../../io.ts';
import type { StdinIo } from '../../stdin.ts';
import { readFlag, readFlagOrDefault } from '../setting-flags.ts';
import { hasTls } from './ca-file.ts';
import { flagError } from '../flag-values.ts';
import {
  flagLayer,
  rejectUnusedFlags,
  selectedWay,
  type FlagOfWay,
  type Way,
  type WhereToFlags,
} from './where-to-flags.ts';

export { addWhereToFlags, type WhereToFlags } from './where-to-flags.ts';

export type WhereTo = ToWebhooks | ToTrackingApi | ToLoopback | ToQueue;

export interface ToWebhooks {
  readonly kind: 'webhooks';
  readonly source: string;
  /** The source with the destinations to deliver to. */
  readonly sources: Sources;
}

export interface ToTrackingApi {
  readonly kind: 'tracking-api';
  readonly endpoint: string;
  readonly writeKey: string;
  /** Time limit for the attempts of a batch to the tracking API. */
  readonly retryForMs: number;
  /** The value of --timeout; undefined for the client's default. */
  readonly timeoutMs: number | undefined;
  readonly concurrency: number | undefined;
  /** Connection options for the tracking API: those of the source's webhooks. */
  readonly connection: ConnectionOptions;
}

/** The target of --loopback: a receiver that the command itself starts. */
export interface ToLoopback {
  readonly kind: 'loopback';
  /** The secrets that the --loopback receiver verifies with. Empty if none is configured. */
  readonly secrets: readonly string[];
  /** The signature schemes that flags or config name; undefined for the default. */
  readonly scheme: SchemeChoice | undefined;
  /** Returns the target for the URL of the started --loopback receiver. */
  readonly deliverTo: (url: string) => ToWebhooks;
}

/** The target of --queue: the durable queue, from which messages go to the configured destinations. */
export interface ToQueue {
  readonly kind: 'queue';
  readonly source: string;
  /** The source of --queue as configured, without settings of flags: the worker that delivers reads only the config. */
  readonly sources: Sources;
  /** The value of --store: the file or server of the queue. */
  readonly store: string | undefined;
}

/**
 * Decides where messages go. The most explicit setting wins: flags, then `HOOKS_URL` or `HOOKS_ENDPOINT`, then the config.
 * Webhooks win over an endpoint of equal rank, because a config's `endpoint` is meant for the client of a program. Throws
 * ConfigError, also if nothing is set.
 */
export async function resolveWhereTo(
  flags: WhereToFlags,
  settings: Settings,
  io: StdinIo & Pick<Io, 'cwd'>,
): Promise<WhereTo> {
  const way = selectedWay(flags) ?? configuredWay(settings);
  rejectUnusedFlags(flags, way);
  const source = flags.source ?? settings.defaultSource ?? rejectSeveralSources(settings);
  if (way === 'queue') return queue(source, flags, settings);
  const layer = await flagLayer(flags, io);
  if (way === 'loopback') return loopback(source, settings, layer);
  if (way === 'tracking-api') return trackingApi(source, flags, { settings, layer });
  return configured(source, flags, { settings, layer });
}

export function signingSecrets(to: WhereTo): readonly string[] {
  if (!('sources' in to)) return to.kind === 'loopback' ? to.secrets : [];
  return destinationsOf(to.sources).flatMap(({ sharedSecrets }) => sharedSecrets);
}

/** The schemes that sign the messages, undefined for a destination without a choice. */
export function signingSchemes(to: WhereTo): readonly (SchemeChoice | undefined)[] {
  if (!('sources' in to)) return to.kind === 'loopback' ? [to.scheme] : [];
  return destinationsOf(to.sources).map(({ scheme }) => scheme);
}

/** Whether messages go to webhooks, none of which is signed with Segment's scheme. */
export function hasForeignScheme(to: WhereTo): boolean {
  return to.kind !== 'tracking-api' && !chosenSchemeNames(signingSchemes(to)).includes('segment');
}

function rejectSeveralSources({ sourceNames }: Settings): never {
  if (sourceNames.length === 0) throw noDestination('The config has no source');
  const names = sourceNames.map((name) => printable(name, 80)).join(', ');
  const sentence = `Expected \`--source\` to name one of the sources: ${names}`;
  throw flagError('--source', sentence, 'add --source NAME');
}

function queue(source: string, { store }: WhereToFlags, settings: Settings): ToQueue {
  settings.source(source); // throws for an unknown name
  const options = settings.sources[source];
  const destinations = Object.values(options?.destinations ?? {});
  if (options === undefined || !destinations.some(({ enabled }) => enabled)) {
    throw new ConfigError('There is no configured destination to queue for', {
      key: 'webhooks',
      hint: 'put `webhooks` in the config (.hooksrc.yaml; hooks init writes one): the worker reads them there',
    });
  }
  return { kind: 'queue', source, sources: { [source]: options }, store };
}

function loopback(source: string, settings: Settings, layer: Layer): ToLoopback {
  const optionsFor = (url: string, added: object = {}): SourceOptions => {
    const values = { ...(layer.values as object), webhooks: [url], ...added }; // layerOf makes objects only
    const names = { ...layer.names, webhooks: '--loopback' };
    return settings.source(source, { ...layer, values, names });
  };
  // Reads the options once before the receiver starts, so that a wrong flag is reported first.
  const [destination] = Object.values(optionsFor('http://127.0.0.1/').destinations);
  const own = destination?.sharedSecrets ?? [];
  const secrets = own.length > 0 ? own : sharedByAll(settings);
  const added = own.length > 0 || secrets.length === 0 ? {} : { sharedSecret: secrets };
  return {
    kind: 'loopback',
    secrets,
    scheme: destination?.scheme,
    deliverTo: (url) => ({ kind: 'webhooks', source, sources: { [source]: optionsFor(url, added) } }),
  };
}

/** Returns the secrets of the first destination if all destinations sign with the same secret, else an empty list. */
function sharedByAll(settings: Settings): readonly string[] {
  const [first = [], ...others] = settings.allSecrets();
  return others.every(([secret]) => secret === first[0]) ? first : [];
}

function configuredWay({ originOf }: Settings): Way {
  const isTrackingApi = originOf('webhooks') !== 'HOOKS_URL' && originOf('endpoint') === 'HOOKS_ENDPOINT';
  return isTrackingApi ? 'tracking-api' : 'webhooks';
}

function trackingApi(source: string, flags: WhereToFlags, { settings, layer }: GivenSettings): ToTrackingApi {
  const endpoint = readFlag('endpoint', flags.endpoint) ?? settings.endpoint;
  if (endpoint === undefined) {
    const sentence = '`--write-key` is for a tracking API, but no endpoint is given';
    throw flagError('--write-key', sentence, 'add --endpoint URL');
  }
  const writeKey = readFlag('writeKey', flags.writeKey) ?? settings.writeKey(source);
  if (writeKey === undefined) {
    const hint = 'add --write-key KEY, or set HOOKS_WRITE_KEY or `writeKey` in the config';
    throw flagError('--endpoint', 'A tracking API needs a write key, but none is given', hint);
  }
  const connection = hasTls(endpoint) ? settings.connection(source, layer) : {};
  const values = {
    source,
    endpoint,
    writeKey,
    retryFor: readFlagOrDefault('delivery.retryFor', flags.retryFor),
    timeout: readFlag('delivery.timeout', flags.timeout),
    concurrency: readFlag('delivery.concurrency', flags.concurrency),
    ca: connection.caFile,
  } satisfies Record<FlagOfWay<'tracking-api'>, unknown>; // a new flag of this way must be read here
  const { retryFor: retryForMs, timeout: timeoutMs, concurrency } = values;
  return { kind: 'tracking-api', endpoint, writeKey, retryForMs, timeoutMs, concurrency, connection };
}

interface GivenSettings {
  readonly settings: Settings;
  /** The settings that the flags give. */
  readonly layer: Layer;
}

/** Returns the webhooks of the source or, if it has none, the configured tracking API. */
function configured(source: string, flags: WhereToFlags, { settings, layer }: GivenSettings): WhereTo {
  const options = settings.source(source, layer);
  const destinations = Object.values(options.destinations);
  if (destinations.some(({ enabled, webhooks }) => enabled && webhooks.length > 0)) {
    return { kind: 'webhooks', source, sources: { [source]: options } };
  }
  // The webhooks of a disabled destination are not read. Its source must not use the tracking API because of that.
  if (destinations.some(({ enabled }) => !enabled)) {
    throw noDestination(`Every destination of the source \`${printable(source, 80)}\` is disabled`);
  }
  if (settings.endpoint !== undefined) {
    rejectUnusedFlags(flags, 'tracking-api');
    return trackingApi(source, flags, { settings, layer });
  }
  const [empty] = settings.emptyFiles;
  throw noDestination(
    `There is no destination to send to${empty === undefined ? '' : `: ${printable(empty)} is empty`}`,
    settings.unreadHint,
  );
}

function noDestination(sentence: string, hint?: string): ConfigError {
  return new ConfigError(sentence, {
    key: 'webhooks',
    hint:
      hint ??
      'give --url URL, set HOOKS_URL, put `webhooks` in the config (.hooksrc.yaml; hooks init writes one), or try --loopback',
  });
}

export function destinationsOf(sources: Sources): readonly DestinationOptions[] {
  return Object.values(sources).flatMap(({ destinations }) => Object.values(destinations));
}

/** Returns the sources with every destination replaced by the result of `change`. */
export function mapDestinations(
  sources: Sources,
  change: (destination: DestinationOptions) => DestinationOptions,
): Sources {
  const entries = Object.entries(sources).map(([name, source]) => {
    const destinations = Object.entries(source.destinations).map(
      ([key, each]) => [key, change(each)] as const,
    );
    return [name, { ...source, destinations: Object.fromEntries(destinations) }] as const;
  });
  return Object.fromEntries(entries);
}
