import type { OtherSecret } from '../../signature/evidence.ts';
import { FIXES } from '../../signature/reasons.ts';
import { applyRows, type Changed, type ChangeRow, type Cost } from './change.ts';
import { INVISIBLE, type Secret } from './secret-changes.ts';

const WORDS_FOR_NOTHING = ['undefined', 'null', 'None', 'nil', 'NULL', 'false', '[object Object]'];
const UNEXPANDED = [
  ...['HOOKS_SECRET', 'SECRET', 'WEBHOOK_SECRET'].flatMap((name) => [
    `$${name}`,
    `\${${name}}`,
    `%${name}%`,
    `{{${name}}}`,
    `process.env.${name}`,
    name,
  ]),
  '$env:HOOKS_SECRET',
];
/** The secret in the examples of the README and the help of hooks. */
const DOCS_EXAMPLE = 's3cret';
const EXAMPLES = [
  'secret',
  'changeme',
  'your-secret',
  'your_secret',
  'mysecret',
  'test',
  'your-webhook-secret',
];

/** Secrets that replace the right one: they are the same for everyone. */
const REPLACEMENTS: readonly ChangeRow<undefined, string>[] = [
  [2, "with an empty secret: the other side's is not set", () => ''],
  ...WORDS_FOR_NOTHING.map((word): ChangeRow<undefined, string> => {
    return [2, `with the word "${word}" as the secret: the other side's own is not set`, () => word];
  }),
  ...UNEXPANDED.map((text): ChangeRow<undefined, string> => {
    const would = `with the text "${text}": the other side did not expand it`;
    return [2, would, () => text, FIXES['unexpanded-secret']];
  }),
  [
    2,
    `with another secret: the other side uses "${DOCS_EXAMPLE}", the example of the docs`,
    () => DOCS_EXAMPLE,
  ],
  ...EXAMPLES.map((text): ChangeRow<undefined, string> => {
    return [3, `with another secret: the other side uses "${text}", as examples do`, () => text];
  }),
];

/** Yields the secrets of one cost that the other side may use in place of ours: known secrets, the empty one, placeholders. */
export function* otherSecrets(known: readonly OtherSecret[], cost: Cost): Generator<Changed<Secret>> {
  const code = 'other-secret';
  if (cost === 1) {
    for (const { secret, origin } of known) {
      yield { code, would: `with the secret from ${origin}`, cost, value: secret };
    }
  }
  yield* applyRows(code, REPLACEMENTS, undefined, cost);
}

/** Whether a secret is a well-known example from documentation. */
export function isExampleSecret(secret: string): boolean {
  return secret === DOCS_EXAMPLE || EXAMPLES.includes(secret);
}

/**
 * Describes what is odd about a secret, to follow its length (`some of them invisible`). Undefined for an ordinary
 * secret.
 */
export function oddLooksOf(secret: string): string | undefined {
  if (isExampleSecret(secret)) return 'an example of the docs';
  return ODD_LOOKS.find(([pattern]) => pattern.test(secret.trim()))?.[1];
}

const ODD_LOOKS: readonly (readonly [RegExp, string])[] = [
  [
    /^(?:<[^<>]+>|\*{3,}|(?:op|vault|secretref):\/\/.*|arn:aws[\w-]*:.*|Bearer\s.*|@[\w./~-]+)$/i,
    'which looks like a placeholder or a reference rather than a secret',
  ],
  [/[*\u2022]{4}/, 'some of them masked: it is not the secret, but how a page shows it'],
  [/^\{[\s\S]*\}$/, 'which look like JSON: give the value in it alone'],
  [/\n/, 'in several lines: give one line alone'],
  [/\\n$/, 'with \\n at its end, which is two characters, not a newline'],
  [new RegExp(INVISIBLE, 'u'), 'some of them invisible (such as U+200B)'],
  [/[\u2010-\u201f\u2212]/, 'with a typographic dash or quote in place of the ASCII character'],
  [/.,./, 'with a comma: two secrets are given as --secret ONE --secret OTHER'],
];
