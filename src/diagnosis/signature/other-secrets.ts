import type { OtherSecret } from '../../signature/evidence.ts';
import { REASONS } from '../../signature/reasons.ts';
import { INVISIBLE, type SecretVariant } from './secret-variants.ts';

/** Texts that senders sign with if the setting of the secret is missing: the word for nothing in their language. */
const WORDS_FOR_NOTHING = ['undefined', 'null', 'None', 'nil', 'NULL', 'false', '[object Object]'];

/** Texts that senders sign with if a reference to the setting of the secret was not replaced by its value. */
const UNEXPANDED = [
  '$HOOKS_SECRET',
  '${HOOKS_SECRET}',
  '%HOOKS_SECRET%',
  '{{HOOKS_SECRET}}',
  '$env:HOOKS_SECRET',
  'process.env.HOOKS_SECRET',
  'HOOKS_SECRET',
  '$SECRET',
  '$WEBHOOK_SECRET',
];

/** The secret in the examples of the README and the help of hooks. */
const DOCS_EXAMPLE = 's3cret';
const EXAMPLES = ['secret', 'changeme', 'your-secret', 'your_secret', 'mysecret', 'test'];

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
  if (isReference(secret)) return 'which looks like a placeholder or a reference rather than a secret';
  return ODD_LOOKS.find(([pattern]) => pattern.test(secret.trim()))?.[1];
}

const ODD_LOOKS: readonly (readonly [RegExp, string])[] = [
  [/[*\u2022]{4}/, 'some of them masked: it is not the secret, but how a page shows it'],
  [/^\{[\s\S]*\}$/, 'which look like JSON: give the value in it alone'],
  [/\n/, 'in several lines: give one line alone'],
  [/\\n$/, 'with \\n at its end, which is two characters, not a newline'],
  [new RegExp(INVISIBLE, 'u'), 'some of them invisible (such as U+200B)'],
  [/[\u2010-\u201f\u2212]/, 'with a typographic dash or quote in place of the ASCII character'],
  [/.,./, 'with a comma: two secrets are given as --secret ONE --secret OTHER'],
];

/** Whether a secret is a placeholder or a reference: `<your-secret>`, `***`, `op://vault/item`, `@file`. */
function isReference(secret: string): boolean {
  return /^(?:<[^<>]+>|\*{3,}|(?:op|vault|secretref):\/\/.*|arn:aws[\w-]*:.*|Bearer\s.*|@[\w./~-]+)$/i.test(
    secret.trim(),
  );
}

/** Yields secrets that the other side may use: known secrets, the empty secret, placeholders. */
export function* otherSecrets(known: readonly OtherSecret[]): Generator<SecretVariant> {
  const code = 'other-secret';
  for (const { secret, origin } of known) {
    yield { code, would: `with the secret from ${origin}`, key: secret };
  }
  yield { code, would: "with an empty secret: the other side's is not set", key: '' };
  for (const key of WORDS_FOR_NOTHING) {
    yield { code, would: `with the word "${key}" as the secret: the other side's own is not set`, key };
  }
  for (const key of UNEXPANDED) {
    yield {
      code,
      fix: REASONS['unexpanded-secret'].fix,
      would: `with the text "${key}": the other side did not expand it`,
      key,
    };
  }
  yield {
    code,
    would: `with another secret: the other side uses "${DOCS_EXAMPLE}", the example of the docs`,
    key: DOCS_EXAMPLE,
  };
  for (const key of EXAMPLES) {
    yield { code, would: `with another secret: the other side uses "${key}", as examples do`, key };
  }
}
