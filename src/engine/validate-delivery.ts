import { Problems, shownOption, validateOptions } from '../validate-options.ts';
import { ConfigError } from '../errors.ts';
import { DELIVERY_RANGES, DELIVERY_STRATEGIES, type DeliveryOptions } from './options.ts';

const KINDS = {
  strategy: 'given',
  timeoutMs: 'given',
  retryForMs: 'given',
  concurrency: 'given',
  caFile: 'a string',
  allowPrivate: 'a boolean',
  idempotencyKey: 'a boolean',
  traceparent: 'a boolean',
  health: 'an object',
} as const satisfies Record<keyof DeliveryOptions, string>;

export const DELIVERY_OPTIONS: readonly string[] = Object.keys(KINDS);

/**
 * Throws ConfigError for what is unknown or out of range: an attempt without a deadline would be given up before it is made. A config
 * file is checked when it is read; this is for programs. `setting` names the options in errors.
 */
export function validateDelivery(delivery: DeliveryOptions, setting: string): void {
  const problems = new Problems();
  problems.collect(() => validateOptions(delivery, { setting, kinds: KINDS, required: ['health'] }));
  problems.throwIfAny(setting);
  for (const key of ['timeoutMs', 'retryForMs', 'concurrency'] as const) {
    problems.collect(() => validateInteger(`${setting}.${key}`, delivery[key], DELIVERY_RANGES[key]));
  }
  const { health, strategy } = delivery;
  problems.collect(() =>
    validateInteger(`${setting}.health.failures`, health.failures, [1, Number.MAX_SAFE_INTEGER]),
  );
  if (!DELIVERY_STRATEGIES.includes(strategy)) {
    const expected = DELIVERY_STRATEGIES.map((each) => `'${each}'`).join(' or ');
    problems.add(badOption(`${setting}.strategy`, expected, strategy));
  }
  problems.throwIfAny(setting);
}

function validateInteger(key: string, value: number, [least, most]: readonly [number, number]): void {
  if (Number.isInteger(value) && value >= least && value <= most) return;
  throw badOption(key, `an integer from ${least} to ${most}`, value);
}

/** JavaScript may give anything. */
function badOption(key: string, expected: string, got: unknown): ConfigError {
  return new ConfigError(`Expected \`${key}\` to be ${expected}, got ${shownOption(got)}`, {
    key,
    hint: 'leave it out to get its default',
  });
}
