import { validateOptions, definedOf, Problems, type OptionKind } from '../validate-options.ts';
import { ConfigError } from '../errors.ts';

export interface ClientOptions {
  /** The write key of the source. For a tracking API, also the user name of Basic authentication. */
  readonly writeKey?: string | undefined;
  /**
   * Number of messages per batch for a tracking API or a durable queue; a queue in memory gets messages one by one. `size`
   * is the older name of this option; giving both is an error. 1 to 1,000. @default 20
   */
  readonly flushAt?: number | undefined;
  readonly size?: number | undefined;
  /** Time from one flush to the next, which sends even a partial batch. Ms, 1 to 2^31-1. @default 5000 */
  readonly flushAfterMs?: number | undefined;
  /**
   * Maximum number of messages held in memory: queued, in flight to the sink and, if this process delivers from a queue in
   * memory, not yet settled. 1 to 10,000,000. @default 10_000
   */
  readonly maxQueued?: number | undefined;
  /**
   * The behavior of a call when `maxQueued` is reached. At most `maxQueued` calls wait; the next one throws. @default 'wait'
   */
  readonly whenFull?: 'wait' | 'throw' | undefined;
  /**
   * Whether to report on stderr how many messages of an unclosed client are lost when the process ends by
   * `process.exit()` or an exception. @default true
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

/** Options as `resolveClientOptions` returns them: validated, complete and frozen. `size` has become `flushAt`. */
export type ResolvedClientOptions = {
  readonly [Name in keyof typeof CLIENT_DEFAULTS]: NonNullable<ClientOptions[Name]>;
} & Pick<ClientOptions, 'writeKey'>;

const BATCH_SIZE = { least: 1, most: 1_000 } as const;

export const CLIENT_KINDS = {
  flushAt: BATCH_SIZE,
  size: BATCH_SIZE,
  flushAfterMs: { least: 1, most: 2 ** 31 - 1 },
  maxQueued: { least: 1, most: 10_000_000 },
  writeKey: 'a non-empty string',
  whenFull: { choices: ['wait', 'throw'] },
  warnOnLoss: 'a boolean',
} as const satisfies Record<keyof ClientOptions, OptionKind>;

/** Option names of Segment's own clients, with the names here. For the hint about an unknown option. */
const OTHER_NAMES = { flushInterval: 'flushAfterMs', maxEventsInBatch: 'flushAt' };

/**
 * Validates options and fills in the defaults; `undefined` counts as absent. Throws one ConfigError for all options that are
 * unknown, of the wrong kind or out of range.
 */
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
