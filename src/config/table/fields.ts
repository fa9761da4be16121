import { CLIENT_DEFAULTS, CLIENT_KINDS } from '../../client/options.ts';
import { DELIVERY_DEFAULTS, DELIVERY_KINDS, PLAN_KINDS, type DeliveryOptions } from '../../engine/options.ts';
import { choice, duration, httpUrl, integer, onOrOff, secrets, text, writeKey } from './kinds.ts';
import { ownSchemes, schemeNames } from './schemes-kind.ts';
import type { SettingField } from './setting-field.ts';
import { webhooks } from './webhooks-kind.ts';

const DAY_MS = 86_400_000;

export const SETTING_FIELDS = {
  webhooks: field({
    kind: webhooks,
    describe:
      'where to post messages: at most 5, each a URL or `{ url, headers }`; in `HOOKS_URL` separated by commas or spaces',
    belongsTo: 'destination',
    flag: {
      name: '--url',
      value: '<url>',
      text: 'post to this URL, or 3000 for localhost (repeat: up to 5)',
    },
    env: ['HOOKS_URL'],
    otherwise: 'none',
  }),
  sharedSecret: field({
    kind: secrets,
    describe: 'signs every request; the first of a list signs, all of them verify',
    belongsTo: 'destination',
    flag: {
      name: '--secret',
      value: '<secret>',
      text: 'sign with this secret (repeat to rotate)',
    },
    env: ['HOOKS_SECRET'],
    otherwise: 'unsigned',
    isSecret: true,
  }),
  scheme: field({
    kind: schemeNames,
    describe:
      'signature schemes that sign, each with the first secret that is meant for it: `segment,standard-webhooks`',
    belongsTo: 'destination',
    flag: { name: '--scheme', value: '<names>', text: 'sign by these schemes: segment,standard-webhooks' },
    otherwise: '`segment`, with the first secret',
  }),
  schemes: field({
    kind: ownSchemes,
    describe: 'signature schemes of your own, by name: `{ headers, signs, hash, encoding }`',
    belongsTo: 'everything',
    otherwise: 'those built in',
  }),
  writeKey: field({
    kind: writeKey,
    describe: 'the write key of the source: selects it, and authenticates the client',
    belongsTo: 'source',
    flag: { name: '--write-key', value: '<key>', text: 'set the write key for --endpoint' },
    env: ['HOOKS_WRITE_KEY', 'SEGMENT_WRITE_KEY'],
    otherwise: 'none',
    isSecret: true,
  }),
  'plan.file': field({
    kind: text,
    describe: 'a tracking plan, a file or a folder, with which serve checks each message of the source',
    belongsTo: 'source',
    otherwise: 'none',
    isPath: true,
  }),
  'plan.onViolation': field({
    kind: choice(PLAN_KINDS.onViolation),
    describe: 'whether serve only reports a message that violates the plan, or rejects it',
    belongsTo: 'source',
    default: 'report',
  }),
  endpoint: field({
    kind: httpUrl,
    describe: 'the tracking API that batches go to',
    belongsTo: 'everything',
    flag: { name: '--endpoint', value: '<url>', text: 'send to a tracking API instead (with --write-key)' },
    env: ['HOOKS_ENDPOINT'],
    otherwise: 'none',
  }),
  enabled: field({
    kind: onOrOff,
    describe: 'whether the destination gets messages',
    belongsTo: 'destination',
    default: true,
    longFormOnly: true,
  }),
  'delivery.strategy': deliveryField('strategy', {
    kind: choice(DELIVERY_KINDS.strategy),
    describe: 'webhooks in order until one succeeds, or all at once',
    flag: { name: '--strategy', value: '<strategy>', text: 'try webhooks in order, or send to all at once' },
  }),
  'delivery.timeout': deliveryField('timeoutMs', {
    kind: duration(DELIVERY_KINDS.timeoutMs),
    describe: 'for one attempt, from the name lookup to the status line',
    flag: { name: '--timeout', value: '<duration>', text: 'limit one attempt, 1ms to 30s' },
  }),
  'delivery.retryFor': deliveryField('retryForMs', {
    kind: duration({ least: 0, most: 30 * DAY_MS }),
    describe:
      'the retry window, from the first attempt; 0 is one round (at the prompt: 30s, by --retry-for only)',
    flag: {
      name: '--retry-for',
      value: '<duration>',
      text: 'keep trying this long; 0 is one round',
      atPrompt: '30s',
    },
  }),
  'delivery.concurrency': deliveryField('concurrency', {
    kind: integer(DELIVERY_KINDS.concurrency),
    describe: 'the most deliveries in flight at once',
    flag: { name: '--concurrency', value: '<n>', text: 'limit deliveries in flight' },
  }),
  'delivery.ca': deliveryField('caFile', {
    kind: text,
    describe: "a PEM file with issuers that are trusted besides Node's",
    flag: {
      name: '--ca',
      value: '<file>',
      text: 'trust the issuers of this PEM file (default: delivery.ca)',
    },
    otherwise: "Node's roots and `NODE_EXTRA_CA_CERTS`",
    isPath: true,
    isConnection: true,
  }),
  'delivery.allowPrivate': deliveryField('allowPrivate', {
    kind: onOrOff,
    describe: 'whether serve and worker connect to webhooks at loopback, private and link-local addresses',
    flag: {
      name: '--allow-private',
      text: 'allow webhooks on loopback, private and link-local addresses',
    },
    env: ['HOOKS_ALLOW_PRIVATE'],
    default: false,
  }),
  'delivery.idempotencyKey': deliveryField('idempotencyKey', {
    kind: onOrOff,
    describe: 'whether every attempt carries the message id as `Idempotency-Key`',
    default: true,
  }),
  'delivery.traceparent': deliveryField('traceparent', {
    kind: onOrOff,
    describe: 'whether every attempt carries a W3C `traceparent`',
    default: false,
  }),
  'delivery.health.failures': field({
    kind: integer({ least: 1, most: 1_000_000 }),
    describe: 'failures in a row after which a webhook is skipped for a while',
    belongsTo: 'destination',
    default: DELIVERY_DEFAULTS.health.failures,
  }),
  'client.flushAt': field({
    kind: integer(CLIENT_KINDS.flushAt),
    describe: 'messages that make a batch',
    belongsTo: 'everything',
    default: CLIENT_DEFAULTS.flushAt,
  }),
  'client.flushAfter': field({
    kind: duration(CLIENT_KINDS.flushAfterMs),
    describe: 'the longest wait for a batch to fill',
    belongsTo: 'everything',
    default: CLIENT_DEFAULTS.flushAfterMs,
  }),
  'client.maxQueued': field({
    kind: integer(CLIENT_KINDS.maxQueued),
    describe: 'messages held in memory',
    belongsTo: 'everything',
    default: CLIENT_DEFAULTS.maxQueued,
  }),
  'client.whenFull': field({
    kind: choice(CLIENT_KINDS.whenFull),
    describe: 'what a call does when that many are held',
    belongsTo: 'everything',
    default: CLIENT_DEFAULTS.whenFull,
  }),
  store: field({
    kind: text,
    describe: 'where the queue is: `sqlite:./hooks.db`, `redis://host:6379/0`, `postgres://host/database`',
    belongsTo: 'everything',
    flag: { name: '--store', value: '<url>', text: 'use this queue: sqlite:FILE, redis://… or postgres://…' },
    otherwise: 'a file in the data folder',
    isPath: true,
  }),
  'retention.delivered': field({
    kind: duration({ least: 0, most: 3_650 * DAY_MS }),
    describe: 'how long delivered messages stay in the queue',
    belongsTo: 'everything',
    default: DAY_MS,
  }),
  'retention.dead': field({
    kind: duration({ least: 0, most: 3_650 * DAY_MS }),
    describe: 'how long dead letters are kept',
    belongsTo: 'everything',
    default: 30 * DAY_MS,
  }),
} as const;

export type Key = keyof typeof SETTING_FIELDS;

/** The type of a setting's parsed value. */
export type ValueOf<K extends Key> = (typeof SETTING_FIELDS)[K] extends SettingField<infer T> ? T : never;

export const KEYS = Object.keys(SETTING_FIELDS) as readonly Key[]; // Object.keys returns strings

/** Returns the field of a setting, for code that does not depend on the type of the setting's value. */
export function fieldOf(key: Key): SettingField<unknown> {
  return SETTING_FIELDS[key];
}

/** Keys that are allowed only in a file without `sources`. */
export const SHORT_FORM_KEYS = ['writeKey', 'sharedSecret', 'scheme', 'webhooks', 'delivery'] as const;

/** Describes a setting and its default. */
export function describedSetting(key: Key): string {
  const { describe, otherwise } = fieldOf(key);
  const standard = defaultText(key) ?? otherwise;
  return standard === undefined ? describe : `${describe} (default: ${standard})`;
}

/** The default of a setting, as it is written in a config file. */
export function defaultText(key: Key): string | undefined {
  const { default: value, kind } = fieldOf(key);
  return value === undefined ? undefined : (kind.show?.(value) ?? JSON.stringify(value).replaceAll('"', ''));
}

/** Returns the setting `entry`. Makes TypeScript check that its default fits its kind, and keeps the type of its value. */
function field<const T>(entry: SettingField<T>): SettingField<T> {
  return entry;
}

type OptionValue<Option extends keyof DeliveryOptions> = NonNullable<DeliveryOptions[Option]>;

type OptionDefaults = { readonly [Option in keyof DeliveryOptions]?: OptionValue<Option> | undefined };

/** Makes a setting of a destination from an option of DeliveryOptions, with the default of the option. */
function deliveryField<const Option extends keyof DeliveryOptions>(
  option: Option,
  entry: Omit<SettingField<OptionValue<Option>>, 'belongsTo' | 'option'>,
): SettingField<OptionValue<Option>> {
  const defaults: OptionDefaults = DELIVERY_DEFAULTS;
  const standard = defaults[option];
  const withDefault = standard === undefined ? {} : { default: standard };
  return { ...withDefault, ...entry, option, belongsTo: 'destination' };
}
