import { shortened } from '../problem.ts';

/** A problem in a JSON text: a syntax error, or a value that JavaScript would lose. */
export type JsonProblem =
  | {
      readonly kind: 'syntax';
      /** Position of the error in the text. UTF-16 units. */
      readonly offset: number;
      readonly sentence: string;
      readonly hint?: string;
    }
  | {
      readonly kind: 'loss';
      readonly path: string;
      readonly sentence: string;
      readonly got: string;
      readonly hint: string;
    };

/** The problem of a key that occurs twice in its object. */
export function duplicate(path: string): JsonProblem {
  return {
    kind: 'loss',
    path,
    sentence: `Expected each key once, got \`${path}\` twice`,
    got: 'a duplicate key',
    hint: 'JSON parsers do not agree on which one counts: keep one of them',
  };
}

/** The problem of a number whose value JavaScript would change. */
export function changed(path: string, token: string): JsonProblem {
  const got = shortened(token);
  const where = path === '' ? '' : ` at \`${path}\``;
  return {
    kind: 'loss',
    path,
    sentence: `Expected a number that JavaScript can hold${where}, got ${got}, which would become ${Number(token)}`,
    got,
    hint: `send it as a string: "${got}"`,
  };
}

/** A hint that says which closing brackets are missing at the end of the JSON. */
export function cutOffHint(closers: string): string {
  return closers === '' ? 'is it cut off?' : `is it cut off? \`${shortened(closers)}\` is missing`;
}

const MISTAKEN_WORDS: Readonly<Record<string, string>> = {
  "'": 'strings take double quotes',
  '/': 'JSON has no comments',
  '#': 'JSON has no comments',
  ']': 'is there an extra comma before it?',
  '}': 'is there an extra comma before it?',
  NaN: 'JSON has no such number: send null or a string',
  Infinity: 'JSON has no such number: send null or a string',
  undefined: 'leave the key out, or send null',
  None: 'write null',
  True: 'write true',
  False: 'write false',
};

/** A hint about a word where a value was expected. */
export function valueHint(word: string): string | undefined {
  return Object.hasOwn(MISTAKEN_WORDS, word) ? MISTAKEN_WORDS[word] : undefined;
}

/** Returns a hint about a character that stands where JSON expects a key of an object. */
export function keyHint(character: string, text: string): string | undefined {
  if (!/[\w$]/.test(character)) return valueHint(character);
  const keys = 'keys take double quotes';
  return text.includes('"')
    ? keys
    : `${keys}; if they were there, the shell took them: put single quotes around the JSON`;
}
