import { validateOptions, type OptionKind } from '../../validate-options.ts';
import { CLIENT_KINDS, type ClientOptions } from '../../client/options.ts';
import { SINK_KINDS, type TrackingApiSinkOptions } from '../../client/tracking-api-options.ts';
import type { Clock } from '../../clock.ts';
import type { EngineEvent } from '../../engine/engine-event.ts';
import { DELIVERY_KINDS } from '../../engine/options.ts';
import { ConfigError } from '../../errors.ts';
import type { Queue } from '../../queue/queue.ts';
import { CONNECTION_KINDS, type ConnectionOptions, type Transport } from '../../transport/transport.ts';
import type { PlanOption } from './plan-option.ts';
import { OTHER_NAMES, type ShortForm } from './short-form.ts';
import type { SourcesInput } from './sources-input.ts';

export interface SharedOptions {
  readonly client?: ClientOptions | undefined;
  /** A tracking plan that checks the messages of the client. @default none */
  readonly plan?: PlanOption | undefined;
  /** Environment variables that name proxies (`HTTPS_PROXY` …). @default no proxy */
  readonly proxyEnv?: Readonly<NodeJS.ProcessEnv> | undefined;
  /** Sends the HTTP requests. @default the transport over undici */
  readonly transport?: Transport | undefined;
  readonly clock?: Clock | undefined;
  /** Returns a number from 0 to 1. @default Math.random */
  readonly random?: (() => number) | undefined;
}

export type DeliveryPipelineOptions = SharedOptions & PipelineEngineParts & (ShortForm | LongForm);

interface LongForm {
  readonly sources: SourcesInput;
  /** The source of the client's messages. @default the only source, else 'default' */
  readonly source?: string | undefined;
}

export interface PipelineEngineParts {
  /**
   * A durable queue, whose messages do not count against the client's `maxQueued`. @default a queue in memory, whose
   * messages do
   */
  readonly queue?: Queue | undefined;
  readonly onEvent?: ((event: EngineEvent) => void) | undefined;
}

export interface TrackingApiPipelineOptions
  extends SharedOptions, ConnectionOptions, Pick<TrackingApiSinkOptions, keyof typeof SINK_KINDS> {}

const SHARED = {
  client: 'an object',
  plan: 'an object',
  proxyEnv: 'an object',
  transport: 'an object',
  clock: 'an object',
  random: 'a function',
} as const satisfies Record<keyof SharedOptions, string>;

const SHORT_FORM = {
  webhooks: 'given',
  sharedSecret: 'given',
  scheme: 'given',
  delivery: 'an object',
} as const satisfies Record<keyof ShortForm, string>;

const LONG_FORM = {
  sources: 'an object',
  source: 'a string',
} as const satisfies Record<keyof LongForm, string>;

const ENGINE_PARTS = {
  queue: 'an object',
  onEvent: 'a function',
} as const satisfies Record<keyof PipelineEngineParts, string>;

const TRACKING_API = { ...SINK_KINDS, ...CONNECTION_KINDS, ...SHARED } as const satisfies Record<
  keyof TrackingApiPipelineOptions,
  OptionKind
>;

/** Maps the name of each nested option to its path, for hints: people often write nested options at the top level. */
function namesWithin(holder: 'client' | 'delivery', kinds: object): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.keys(kinds).map((name) => [name, `${holder}.${name}`]));
}

/** Throws ConfigError for options that are unknown, of the wrong kind, or mixed from the short and the long form. */
export function validateDeliveryPipelineOptions(options: DeliveryPipelineOptions): void {
  validateOptions(options, {
    kinds: { ...SHORT_FORM, ...LONG_FORM, ...ENGINE_PARTS, ...SHARED },
    otherNames: {
      ...namesWithin('client', CLIENT_KINDS),
      ...namesWithin('delivery', DELIVERY_KINDS),
      ...OTHER_NAMES,
    },
  });
  const isLong = isLongForm(options);
  const stray = Object.entries(options).find(
    ([key, value]) => value !== undefined && (isLong ? key in SHORT_FORM : key === 'source'),
  )?.[0];
  if (stray === undefined) return;
  throw new ConfigError(
    `Expected \`${stray}\` ${isLong ? 'or `sources`, got both' : 'with `sources`, got it alone'}`,
    { key: stray, hint: isLong ? 'set it for each destination in `sources`' : `remove \`${stray}\`` },
  );
}

export function isLongForm(options: ShortForm | LongForm): options is LongForm {
  return 'sources' in options && options.sources !== undefined;
}

/** Throws ConfigError for options that are unknown or of the wrong kind. */
export function validateTrackingApiPipelineOptions(options: TrackingApiPipelineOptions): void {
  validateOptions(options, {
    kinds: TRACKING_API,
    required: ['endpoint', 'writeKey'],
    otherNames: { ...namesWithin('client', CLIENT_KINDS), url: 'endpoint', concurrency: 'maxInFlight' },
  });
}
