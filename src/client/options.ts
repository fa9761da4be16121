import { validateOptions, definedOf, Problems, type OptionKind } from '../validate-options.ts';
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
export type ResolvedClientOptions = {
  readonly [Name in keyof typeof CLIENT_DEFAULTS]: NonNullable<ClientOptions[Name]>;
} & Pick<ClientOptions, 'writeKey'>;

const BATCH_SIZE = { least: 1, most: 1_000 } as const;

export const CLIENT_KINDS = {
  flushAt: BATCH_SIZE,
  size: BATCH_SIZE,
  flushAfterMs: { least: 1, most: 2 ** 31 - 1 },
  maxQueued: { least: 1, most: 1_000_000 },
  writeKey: 'a non-empty string',
  whenFull: { choices: ['wait', 'throw'] },
  warnOnLoss: 'a boolean',
} as const satisfies Record<keyof ClientOptions, OptionKind>;

/** The names that these options have in Segment's own clients. */
const OTHER_NAMES = { flushInterval: 'flushAfterMs', maxEventsInBatch: 'flushAt' };

/** Throws ConfigError for what is unknown, of another kind or out of range, all at once. An option that is undefined counts as absent. */
export function resolveClientOptions(options: ClientOptions = {}): ResolvedClientOptions {
  const problems = new Problems();
  const { size, ...given } = definedOf(options);
  problems.collect(() =>
    validateOptions(options, { setting: 'client', kinds: CLIENT_KINDS, otherNames: OTHER_NAMES }),
  );
  if (given.flushAt !== undefined && size !== undefined) problems.add(bothNames(options));
  problems.throwIfAny('client');
  const { flushAt = size ?? CLIENT_DEFAULTS.flushAt, writeKey } = given;
  return Object.freeze({ ...CLIENT_DEFAULTS, ...given, writeKey, flushAt });
}

function bothNames({ flushAt, size }: ClientOptions): ConfigError {
  return new ConfigError(`Expected one of \`flushAt\` and \`size\`, got both (${flushAt} and ${size})`, {
    key: 'client.flushAt',
    hint: '`size` is the older name of `flushAt`: remove it',
  });
}
