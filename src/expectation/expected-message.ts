import { ConfigError } from '../errors.ts';
import { readConditions, type Condition } from '../message/filter.ts';
import { printable, withoutWriteKeys } from '../redact.ts';

export interface ExpectedMessage {
  /** The filter as given: `type=track,event=Signup`. */
  readonly text: string;
  readonly conditions: readonly Condition[];
  /** Exactly this many messages match; undefined: one, and others may match too. */
  readonly exactly?: number;
}

/** Reads a filter, with `3x ` before it for exactly three messages. Throws ConfigError, which calls it `flag`. */
export function readExpectedMessage(given: string, flag: string): ExpectedMessage {
  const text = withoutWriteKeys(given);
  const [, times, space, filter = ''] = /^\s*(\d{1,9})x(\s*)([^\s=!<>~?.].*)$/s.exec(given) ?? [];
  if (times === undefined) return { text, conditions: readConditions(given, flag) };
  if (space === '') {
    throw new ConfigError(`Expected a space after \`${times}x\` in \`${flag}\`, got ${printable(text, 60)}`, {
      key: flag.replace(/^--/, ''),
      origin: flag,
      hint: `write ${flag} '${times}x ${printable(withoutWriteKeys(filter), 60)}'`,
    });
  }
  return { text, conditions: readConditions(filter, flag), exactly: Number(times) };
}
