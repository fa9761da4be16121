import { shortened } from '../problem.ts';

/** What is wrong with a JSON text: it is none, or JavaScript would lose something of it. */
export type JsonProblem =
  | {
      readonly kind: 'syntax';
      /** In UTF-16 units. */
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

/** A key that its object has had already. */
export function duplicate(path: string): JsonProblem {
  return {
    kind: 'loss',
    path,
    sentence: `Expected each key once, got \`${path}\` twice`,
    got: 'a duplicate key',
    hint: 'readers of JSON do not agree on which one counts: keep one of them',
  };
}

/** A number whose value would not survive. */
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

/** What of the JSON is missing at its end. */
export function cutOffHint(closers: string): string {
  return closers === '' ? 'is it cut off?' : `is it cut off? \`${shortened(closers)}\` is missing`;
}

const MISTAKEN_WORDS: Readonly<Record<string, string>> = {
  "'": 'strings take double quotes',
  '/': 'JSON has no comments',
  '#': 'JSON has no comments',
  ']': 'is there a comma too many before it?',
  '}': 'is there a comma too many before it?',
  NaN: 'JSON has no such number: send null or a string',
  Infinity: 'JSON has no such number: send null or a string',
  undefined: 'leave the key out, or send null',
  None: 'write null',
  True: 'write true',
  False: 'write false',
};

/** Why there may be something that is no value. */
export function valueHint(word: string): string | undefined {
  return Object.hasOwn(MISTAKEN_WORDS, word) ? MISTAKEN_WORDS[word] : undefined;
}

/** Why there may be something that is no key. */
export function keyHint(character: string): string | undefined {
  return /[\w$]/.test(character) ? 'keys take double quotes' : valueHint(character);
}
