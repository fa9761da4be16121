import { Problems, shownOption } from '../validate-options.ts';
import { ConfigError } from '../errors.ts';

export interface ClientOptions {
  /** Selects the source; for a tracking API also the Basic auth user. */
  readonly writeKey?: string | undefined;
  /**
   * Messages that make a batch for a tracking API or a durable queue; a queue in memory gets messages one by one. `size` is its
   * older name; both together are an error. 1 to 1,000. @default 20
   */
  readonly flushAt?: number | undefined;
  readonly size?: number | undefined;
  /** Since the last flush. Ms, 1 to 2^31-1. @default 5000 */
  readonly flushAfterMs?: number | undefined;
  /**
   * Messages held in memory: queued, on their way to the sink and, where the webhooks are asked by this process, not yet
   * settled. 1 to 1,000,000. @default 10_000
   */
  readonly maxQueued?: number | undefined;
  /** What a call does when `maxQueued` is reached. At most `maxQueued` calls wait; the next one throws. @default 'wait' */
  readonly whenFull?: 'wait' | 'throw' | undefined;
  /**
   * Whether a process that ends by `process.exit()`, or by an exception, says on stderr how many messages were lost with
   * it: those of a client that is not closed. @default true
   */
  readonly warnOnLoss?: boolean | undefined;
}

export const CLIENT_DEFAULTS = {
  flushAt: 20,
  flushAfterMs: 5_000,
  maxQueued: 10_000,
  whenFull: 'wait',
  warnOnLoss: true,
} as const satisfies Omit<Required<ClientOptions>, 'writeKey' | 'size'>;

/** Options after `resolveClientOptions`: checked, with their defaults, frozen, and `size` under its newer name. */
export interface ResolvedClientOptions {
  readonly writeKey: string | undefined;
  readonly flushAt: number;
  readonly flushAfterMs: number;
  readonly maxQueued: number;
  readonly whenFull: 'wait' | 'throw';
  readonly warnOnLoss: boolean;
}

/** The least and the most that an option may be. */
export type OptionRange = readonly [number, number];

export const CLIENT_RANGES = {
  flushAt: [1, 1_000],
  size: [1, 1_000],
  flushAfterMs: [1, 2 ** 31 - 1],
  maxQueued: [1, 1_000_000],
} as const;

export const CLIENT_OPTIONS: readonly string[] = [
  ...Object.keys(CLIENT_RANGES),
  'writeKey',
  'whenFull',
  'warnOnLoss',
];

/** Throws ConfigError for what is unknown, of another kind or out of range, all at once. An option that is undefined counts as absent. */
export function resolveClientOptions(options: ClientOptions = {}): ResolvedClientOptions {
  const problems = new Problems();
  for (const key of Object.keys(options)) problems.collect(() => validateKnown(key));
  for (const key of ['flushAt', 'size', 'flushAfterMs', 'maxQueued'] as const) {
    problems.collect(() => validateInteger(key, options[key], CLIENT_RANGES[key]));
  }
  problems.collect(() => validateWhenFull(options.whenFull));
  problems.collect(() => validateWarnOnLoss(options.warnOnLoss));
  problems.collect(() => validateWriteKey(options.writeKey));
  if (options.flushAt !== undefined && options.size !== undefined) problems.add(bothNames(options));
  problems.throwIfAny('client');
  return Object.freeze({
    writeKey: options.writeKey,
    flushAt: options.flushAt ?? options.size ?? CLIENT_DEFAULTS.flushAt,
    flushAfterMs: options.flushAfterMs ?? CLIENT_DEFAULTS.flushAfterMs,
    maxQueued: options.maxQueued ?? CLIENT_DEFAULTS.maxQueued,
    whenFull: options.whenFull ?? CLIENT_DEFAULTS.whenFull,
    warnOnLoss: options.warnOnLoss ?? CLIENT_DEFAULTS.warnOnLoss,
  });
}

function validateKnown(key: string): void {
  if (CLIENT_OPTIONS.includes(key)) return;
  // The names that these settings have in Segment's own clients.
  const known = { flushAfter: 'flushAfterMs', flushInterval: 'flushAfterMs', maxEventsInBatch: 'flushAt' }[
    key
  ];
  throw new ConfigError(`Expected an option of the client, got \`${key}\``, {
    key,
    hint: known === undefined ? `use one of ${CLIENT_OPTIONS.join(', ')}` : `use \`${known}\` instead`,
  });
}

/** Throws ConfigError unless the option is absent or a whole number in its range. */
export function validateInteger(key: string, value: unknown, [least, most]: OptionRange): void {
  if (value === undefined) return;
  if (Number.isInteger(value) && Number(value) >= least && Number(value) <= most) return;
  throw new ConfigError(
    `Expected \`${key}\` to be an integer from ${least} to ${most}, got ${shownOption(value)}`,
    { key, hint: 'leave it out to get its default' },
  );
}

function validateWhenFull(value: unknown): void {
  if (value === undefined || value === 'wait' || value === 'throw') return;
  throw new ConfigError(`Expected \`whenFull\` to be 'wait' or 'throw', got ${shownOption(value)}`, {
    key: 'whenFull',
    hint: 'leave it out to get its default',
  });
}

function validateWarnOnLoss(value: unknown): void {
  if (value === undefined || typeof value === 'boolean') return;
  throw new ConfigError(`Expected \`warnOnLoss\` to be true or false, got ${shownOption(value)}`, {
    key: 'warnOnLoss',
    hint: 'leave it out to get its default',
  });
}

/** What was given is a secret, so the sentence names its kind only. */
function validateWriteKey(value: unknown): void {
  if (value === undefined || (typeof value === 'string' && value !== '')) return;
  const got = value === '' ? 'an empty string' : typeof value;
  throw new ConfigError(`Expected \`writeKey\` to be a non-empty string, got ${got}`, {
    key: 'writeKey',
    hint: 'give the write key of the source, or leave it out',
  });
}

function bothNames({ flushAt, size }: ClientOptions): ConfigError {
  return new ConfigError(`Expected one of \`flushAt\` and \`size\`, got both (${flushAt} and ${size})`, {
    key: 'flushAt',
    hint: '`size` is the older name of `flushAt`: remove it',
  });
}
