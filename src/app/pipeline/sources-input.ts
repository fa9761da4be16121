import { checkOptions, definedOf, Faults, isObject } from '../../check-options.ts';
import { checkSecret } from '../../engine/destination.ts';
import {
  checkDelivery,
  DELIVERY_DEFAULTS,
  type DeliveryOptions,
  type DestinationOptions,
  type SourceOptions,
  type Sources,
  type WebhookOptions,
} from '../../engine/options.ts';
import { checkWebhookCount, prepareWebhook } from '../../engine/webhook.ts';
import { ConfigError } from '../../errors.ts';
import { secretsIn, webhookOf, type ShortForm } from './short-form.ts';

/** Sources as a program gives them, with what a config file may leave out left out. */
export type SourcesInput = Readonly<Record<string, SourceInput>>;

export interface SourceInput {
  readonly writeKey?: string | undefined;
  readonly destinations: Readonly<Record<string, DestinationInput>>;
}

export interface DestinationInput extends Partial<ShortForm> {
  /** @default true */
  readonly enabled?: boolean | undefined;
  /** The same as a list in `sharedSecret`; one of the two. Empty: unsigned. */
  readonly sharedSecrets?: readonly string[] | undefined;
}

const SOURCE_KINDS = { writeKey: 'a string', destinations: 'an object' } as const satisfies Record<
  keyof SourceInput,
  string
>;

const DESTINATION_KINDS = {
  enabled: 'a boolean',
  webhooks: 'a list',
  sharedSecret: 'given',
  sharedSecrets: 'a list',
  scheme: 'given',
  delivery: 'an object',
} as const satisfies Record<keyof DestinationInput, string>;

/** Fills in the defaults. Throws one ConfigError that names everything that is wrong. */
export function completeSources(sources: SourcesInput): Sources {
  const faults = new Faults();
  const entries = Object.entries<SourceInput>(isObject(sources) ? sources : {}).map(
    ([name, source]): [string, SourceOptions] => [
      name,
      completeSource(source, { setting: `sources.${name}`, faults }),
    ],
  );
  faults.throwIfAny('sources');
  return Object.fromEntries(entries);
}

interface InputContext {
  /** Names what is read, in errors. */
  readonly setting: string;
  readonly faults: Faults;
}

function completeSource(source: SourceInput, { setting, faults }: InputContext): SourceOptions {
  faults.collect(() => checkOptions(source, { setting, kinds: SOURCE_KINDS, required: ['destinations'] }));
  const { writeKey, destinations } = objectOf(source);
  const entries = Object.entries(objectOf<SourceInput['destinations']>(destinations)).map(
    ([name, input = {}]): [string, DestinationOptions] => {
      const context = { setting: `${setting}.destinations.${name}`, faults };
      faults.collect(() => checkName(name, context));
      return [name, completeDestination(input, context)];
    },
  );
  return { ...(writeKey !== undefined && { writeKey }), destinations: Object.fromEntries(entries) };
}

/** JavaScript may give anything; what is no object has been reported. */
function objectOf<T extends object>(value: T | undefined): Partial<T> {
  return isObject(value) ? value : {};
}

/** In `integrations` it stands for every destination. */
const ALL = 'All';

function checkName(name: string, { setting }: InputContext): void {
  if (name !== ALL) return;
  throw new ConfigError(`Expected another name for the destination \`${setting}\``, {
    key: setting,
    hint: `rename it: in \`integrations\` ${ALL} stands for every destination`,
  });
}

/** What options are called by mistake. */
const OTHER_NAMES = { url: 'webhooks', urls: 'webhooks', secret: 'sharedSecret', secrets: 'sharedSecret' };

const NOTHING: DestinationOptions = {
  enabled: false,
  sharedSecrets: [],
  webhooks: [],
  delivery: DELIVERY_DEFAULTS,
};

function completeDestination(input: DestinationInput, context: InputContext): DestinationOptions {
  const { setting, faults } = context;
  if (!isObject(input)) {
    faults.collect(() => checkOptions(input, { setting, kinds: DESTINATION_KINDS }));
    return NOTHING;
  }
  const { enabled = true, ...sound } = soundOptions(input, context);
  // A list that is of another kind has been reported, and its length is of no interest.
  const webhooks = input.webhooks === undefined ? [] : sound.webhooks;
  return {
    enabled,
    // Not used while it is disabled, so they may be left out.
    sharedSecrets: enabled ? completeSecrets(sound, context) : [],
    ...(sound.scheme !== undefined && { scheme: sound.scheme }),
    webhooks: enabled && webhooks !== undefined ? completeWebhooks(webhooks, context) : [],
    delivery: completeDelivery(sound, context),
  };
}

/** Checks each option by itself, so that every fault is found, and gives those that are right. */
function soundOptions(input: DestinationInput, { setting, faults }: InputContext): DestinationInput {
  const entries = Object.entries(input).filter(([key, value]) =>
    faults.collect(() => {
      checkOptions({ [key]: value }, { setting, kinds: DESTINATION_KINDS, otherNames: OTHER_NAMES });
      return value !== undefined;
    }),
  );
  return Object.fromEntries(entries);
}

function completeSecrets(input: DestinationInput, { setting, faults }: InputContext): readonly string[] {
  const { sharedSecret, sharedSecrets = [] } = input;
  const key = `${setting}.sharedSecret`;
  if (sharedSecret !== undefined && sharedSecrets.length > 0) {
    faults.collect(() => {
      throw new ConfigError(`Expected one of \`${key}\` and \`${key}s\`, got both`, {
        key,
        hint: 'put all of them into `sharedSecret`: the first signs',
      });
    });
  }
  const secrets = faults.collect(() => secretsIn(sharedSecret, key)) ?? [];
  const all = [...secrets, ...sharedSecrets];
  for (const secret of all) faults.collect(() => checkSecret(secret, key));
  return all;
}

function completeWebhooks(
  webhooks: ShortForm['webhooks'],
  { setting, faults }: InputContext,
): readonly WebhookOptions[] {
  faults.collect(() => checkWebhookCount(webhooks.length, `${setting}.webhooks`));
  return webhooks.flatMap((webhook, index) => {
    const at = `${setting}.webhooks[${index}]`;
    const complete = faults.collect(() => webhookOf(webhook, at));
    if (complete === undefined) return [];
    // Only its faults are of interest here; the engine prepares it again.
    faults.collect(() => prepareWebhook(complete, { userAgent: 'checked', setting: at }));
    return [complete];
  });
}

function completeDelivery(
  { delivery = {} }: DestinationInput,
  { setting, faults }: InputContext,
): DeliveryOptions {
  const complete = { ...DELIVERY_DEFAULTS, ...definedOf(delivery) };
  faults.collect(() => checkDelivery(complete, `${setting}.delivery`));
  return complete;
}
