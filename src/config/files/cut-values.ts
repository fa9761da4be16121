import { extname } from 'node:path';
import { readTextNow } from '../../files.ts';

/** A value in YAML that has a ` #` in it, so that YAML takes the rest of the line for a comment. */
interface CutValue {
  /** Number of the line in the config file, from 1. */
  readonly line: number;
  readonly key: string;
  /** The text of the key's value, including what YAML takes for a comment. */
  readonly whole: string;
}

/** Finds unquoted secrets and write keys with a ` #` that is not followed by a space: YAML drops the rest as a comment. */
export function cutValues(path: string): readonly CutValue[] {
  if (!['', '.yaml', '.yml'].includes(extname(path))) return [];
  return textOf(path)
    .split('\n')
    .flatMap((text, index) => {
      const [, key = '', whole] = CUT.exec(text) ?? [];
      return whole === undefined ? [] : [{ line: index + 1, key, whole: whole.trimEnd() }];
    });
}

const CUT = /^\s*(?:- )?(sharedSecret|writeKey)\s*:\s*([^\s"'#[{&*!|>$][^#]*\s#[^\s#].*)$/;

function textOf(path: string): string {
  try {
    return readTextNow(path);
  } catch {
    return '';
  }
}
