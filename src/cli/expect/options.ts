import { ConfigError } from '../../errors.ts';
import { readConditions } from '../../message/filter.ts';
import type { ExpectedArrivals, ExpectedMessage } from '../../receiver/arrivals.ts';
import type { GlobalOptions } from '../command.ts';
import type { SecretFlags } from '../flags/signature/secret-flags.ts';

export interface ExpectOptions extends GlobalOptions, SecretFlags {
  readonly count?: number;
  readonly atLeast?: number;
  readonly atMost?: number;
  readonly match?: readonly string[];
  readonly each?: readonly string[];
  /** Ms. */
  readonly within: number;
  readonly respond?: string;
  /** A file. */
  readonly report?: string;
}

/** Reads the expectations of the flags. Throws ConfigError for none, or for a contradiction. */
export function expectedOf(options: ExpectOptions): Omit<ExpectedArrivals, 'signed'> {
  const { count, atLeast, atMost, match = [], each = [] } = options;
  if ((count ?? atLeast ?? atMost) === undefined && match.length + each.length === 0) {
    throw contradiction('Nothing is expected', '--count', 'give --count N, or --match type=track');
  }
  if (count !== undefined && (atLeast ?? atMost) !== undefined) {
    const other = atLeast === undefined ? '--at-most' : '--at-least';
    throw contradiction(`\`--count\` and \`${other}\` cannot be given together`, other, 'leave one out');
  }
  const least = count ?? atLeast ?? (each.length > 0 && atMost === undefined ? 1 : 0);
  const most = count ?? atMost ?? Infinity;
  if (least > most) {
    throw contradiction(
      '`--at-least` is more than `--at-most`',
      '--at-least',
      'lower it, or raise --at-most',
    );
  }
  if (match.length > most) {
    const hint = 'give fewer --match, of which each needs another request, or --each, which holds for all';
    throw contradiction(`${match.length} times \`--match\` cannot be met by ${most}`, '--match', hint);
  }
  return {
    atLeast: least,
    atMost: most,
    matches: match.map((text) => expectedMessage(text, '--match')),
    each: each.map((text) => expectedMessage(text, '--each')),
  };
}

function expectedMessage(text: string, flag: string): ExpectedMessage {
  return { text, conditions: readConditions(text, flag) };
}

function contradiction(sentence: string, flag: string, hint: string): ConfigError {
  return new ConfigError(sentence, { key: flag, origin: flag, hint });
}
