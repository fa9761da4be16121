import type { MaxChange } from '../../../audience/sync.ts';
import { flagError } from '../../flags/flag-values.ts';

/** Parses a percentage such as `50%`, or a number of users. Throws ConfigError. */
export function readMaxChange(text: string): MaxChange {
  const [, digits = '', percent] = /^(\d{1,15}(?:\.\d+)?)\s*(%?)$/.exec(text.trim()) ?? [];
  const number = Number(digits);
  if (digits !== '' && percent === '%') return { kind: 'share', share: number / 100 };
  if (digits !== '' && Number.isInteger(number)) return { kind: 'count', count: number };
  const sentence = `Expected \`--max-change\` to be a percentage or a number of users, got ${text}`;
  throw flagError('--max-change', sentence, 'for example --max-change 20%, or --max-change 500');
}
