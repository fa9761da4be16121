import { extname } from 'node:path';
import { readTextNow } from '../../files.ts';

/** A value in a line of YAML that ends at a space and #, where a comment begins. */
interface CutValue {
  /** Counted from 1. */
  readonly line: number;
  readonly key: string;
  /** The text with what looks like a comment. */
  readonly whole: string;
}

/** Finds secrets and write keys without quotes that have ` #` in them, and no space behind it as comments do: YAML drops the rest. */
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
