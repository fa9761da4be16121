import { validateOptions, definedOf, Problems, isObject } from '../../validate-options.ts';
import { validateSecret } from '../../engine/destination.ts';
import {
  validateDelivery,
  DELIVERY_DEFAULTS,
  type DeliveryOptions,
  type DestinationOptions,
  type SourceOptions,
  type Sources,
  type WebhookOptions,
} from '../../engine/options.ts';
import { validateWebhookCount, prepareWebhook } from '../../engine/webhook.ts';
import { ConfigError } from '../../errors.ts';
import { OTHER_NAMES, secretsIn, webhookOf, type ShortForm } from './short-form.ts';

/** Sources in the options of a program, where everything that is optional in a config file is optional. */
export type SourcesInput = Readonly<Record<string, SourceInput>>;

export interface SourceInput {
  readonly writeKey?: string | undefined;
  readonly destinations: Readonly<Record<string, DestinationInput>>;
}

export interface DestinationInput extends Partial<ShortForm> {
  /** Whether to deliver to this destination. @default true */
  readonly enabled?: boolean | undefined;
  /** The secrets as a list, instead of `sharedSecret`; giving both is an error. An empty list means unsigned. */
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

/** Fills in the defaults. Throws one ConfigError that names all problems. */
export function completeSources(sources: SourcesInput): Sources {
  const problems = new Problems();
  const entries = Object.entries<SourceInput>(isObject(sources) ? sources : {}).map(
    ([name, source]): [string, SourceOptions] => [
      name,
      completeSource(source, { setting: `sources.${name}`, problems }),
    ],
  );
  problems.throwIfAny('sources');
  return Object.fromEntries(entries);
}

interface SourceInputContext {
  /** Path of the source or destination in the options, named in error messages. */
  readonly setting: string;
  readonly problems: Problems;
}

function completeSource(source: SourceInput, { setting, problems }: SourceInputContext): SourceOptions {
  problems.collect(() =>
    validateOptions(source, { setting, kinds: SOURCE_KINDS, required: ['destinations'] }),
  );
  const { writeKey, destinations } = objectOf(source);
  const entries = Object.entries(objectOf<SourceInput['destinations']>(destinations)).map(
    ([name, input = {}]): [string, DestinationOptions] => {
      const context = { setting: `${setting}.destinations.${name}`, problems };
      problems.collect(() => validateName(name, context));
      return [name, completeDestination(input, context)];
    },
  );
  return { ...(writeKey !== undefined && { writeKey }), destinations: Object.fromEntries(entries) };
}

/** Replaces a value that is not an object, which `validateOptions` has reported, by an empty object. */
function objectOf<T extends object>(value: T | undefined): Partial<T> {
  return isObject(value) ? value : {};
}

/** The key that stands for every destination in `integrations`. */
const ALL = 'All';

function validateName(name: string, { setting }: SourceInputContext): void {
  if (name !== ALL) return;
  throw new ConfigError(`Expected another name for the destination \`${setting}\``, {
    key: setting,
    hint: `rename it: in \`integrations\` ${ALL} stands for every destination`,
  });
}

const NOTHING: DestinationOptions = {
  enabled: false,
  sharedSecrets: [],
  webhooks: [],
  delivery: DELIVERY_DEFAULTS,
};

function completeDestination(input: DestinationInput, context: SourceInputContext): DestinationOptions {
  const { setting, problems } = context;
  if (!isObject(input)) {
    problems.collect(() => validateOptions(input, { setting, kinds: DESTINATION_KINDS }));
    return NOTHING;
  }
  const { enabled = true, ...sound } = soundOptions(input, context);
  // A missing list is reported as a list of 0 webhooks. An invalid list is not reported here, because `soundOptions` did so.
  const webhooks = input.webhooks === undefined ? [] : sound.webhooks;
  return {
    enabled,
    // A disabled destination does not need secrets and webhooks.
    sharedSecrets: enabled ? completeSecrets(sound, context) : [],
    ...(sound.scheme !== undefined && { scheme: sound.scheme }),
    webhooks: enabled && webhooks !== undefined ? completeWebhooks(webhooks, context) : [],
    delivery: completeDelivery(sound, context),
  };
}

/** Validates each option separately, so that every problem is reported. Returns the valid options. */
function soundOptions(input: DestinationInput, { setting, problems }: SourceInputContext): DestinationInput {
  const entries = Object.entries(input).filter(([key, value]) =>
    problems.collect(() => {
      validateOptions({ [key]: value }, { setting, kinds: DESTINATION_KINDS, otherNames: OTHER_NAMES });
      return value !== undefined;
    }),
  );
  return Object.fromEntries(entries);
}

function completeSecrets(
  input: DestinationInput,
  { setting, problems }: SourceInputContext,
): readonly string[] {
  const { sharedSecret, sharedSecrets = [] } = input;
  const key = `${setting}.sharedSecret`;
  if (sharedSecret !== undefined && sharedSecrets.length > 0) {
    problems.collect(() => {
      throw new ConfigError(`Expected one of \`${key}\` and \`${key}s\`, got both`, {
        key,
        hint: 'put all of them into `sharedSecret`: the first signs',
      });
    });
  }
  const secrets = problems.collect(() => secretsIn(sharedSecret, key)) ?? [];
  const all = [...secrets, ...sharedSecrets];
  for (const secret of all) problems.collect(() => validateSecret(secret, key));
  return all;
}

function completeWebhooks(
  webhooks: ShortForm['webhooks'],
  { setting, problems }: SourceInputContext,
): readonly WebhookOptions[] {
  problems.collect(() => validateWebhookCount(webhooks.length, `${setting}.webhooks`));
  return webhooks.flatMap((webhook, index) => {
    const at = `${setting}.webhooks[${index}]`;
    const complete = problems.collect(() => webhookOf(webhook, at));
    if (complete === undefined) return [];
    // The result is dropped, because the engine prepares the webhook again. The call only collects problems.
    problems.collect(() => prepareWebhook(complete, { userAgent: 'checked', setting: at }));
    return [complete];
  });
}

function completeDelivery(
  { delivery = {} }: DestinationInput,
  { setting, problems }: SourceInputContext,
): DeliveryOptions {
  const complete = { ...DELIVERY_DEFAULTS, ...definedOf(delivery) };
  problems.collect(() => validateDelivery(complete, `${setting}.delivery`));
  return complete;
}
