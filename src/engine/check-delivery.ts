import { ConfigError } from '../errors.ts';
import { closest } from '../suggest.ts';
import type { DeliveryOptions } from './options.ts';

/** The least and the most. */
const RANGES = {
  timeoutMs: [1, 30_000],
  retryForMs: [0, Number.MAX_SAFE_INTEGER],
  concurrency: [1, 1_024],
} as const;

const KEYS: readonly string[] = [...Object.keys(RANGES), 'strategy', 'caFile', 'health'];

/**
 * Throws ConfigError for what is unknown or out of range: an attempt without a deadline would be given up before it is made. A config
 * file is checked when it is read; this is for programs. `setting` names the options in errors.
 */
export function checkDelivery(delivery: DeliveryOptions, setting: string): void {
  for (const key of Object.keys(delivery)) if (!KEYS.includes(key)) throw unknownOption(key, setting);
  for (const key of ['timeoutMs', 'retryForMs', 'concurrency'] as const) {
    checkInteger(`${setting}.${key}`, delivery[key], RANGES[key]);
  }
  checkInteger(`${setting}.health.failures`, delivery.health.failures, [1, Number.MAX_SAFE_INTEGER]);
  const { strategy } = delivery;
  if (['fallback', 'broadcast'].includes(strategy)) return;
  throw badOption(`${setting}.strategy`, "'fallback' or 'broadcast'", strategy);
}

function checkInteger(key: string, value: number, [least, most]: readonly [number, number]): void {
  if (Number.isInteger(value) && value >= least && value <= most) return;
  throw badOption(key, `an integer from ${least} to ${most}`, value);
}

/** JavaScript may give anything. */
function badOption(key: string, expected: string, got: unknown): ConfigError {
  const shown = typeof got === 'string' ? JSON.stringify(got.slice(0, 50)) : String(got);
  return new ConfigError(`Expected \`${key}\` to be ${expected}, got ${shown}`, {
    key,
    hint: 'leave it out for its default',
  });
}

function unknownOption(key: string, setting: string): ConfigError {
  const meant = KEYS.find((known) => known === `${key}Ms`) ?? closest(key, KEYS);
  return new ConfigError(`Expected an option of \`${setting}\`, got \`${key}\``, {
    key: `${setting}.${key}`,
    hint: meant === undefined ? `the options are ${KEYS.join(', ')}` : `did you mean \`${meant}\`?`,
  });
}
