import type { SignatureEvidence } from '../../signature/evidence.ts';
import { FIXES } from '../../signature/reasons.ts';
import type { SignatureScheme } from '../../signature/schemes/scheme.ts';
import type { Changed, Cost } from './change.ts';
import type { Secret } from './secret-changes.ts';

/** Texts that programs write in place of a value that is missing, is not text, or is masked. */
const WORDS_FOR_NOTHING =
  'undefined,null,None,nil,NULL,false,[object Object],[object Promise],[object Undefined],********,**********'.split(
    ',',
  );

/**
 * Returns the names of environment variables that may hold the secret, and references to them, such as `$SECRET`. A
 * program that does not expand a reference uses its text as the secret.
 */
function references(schemeName: string): readonly string[] {
  const service = schemeName.replaceAll('-', '_').toUpperCase();
  const general = ['WEBHOOK_SECRET', 'SIGNING_SECRET', 'SECRET'];
  const names = ['HOOKS_SECRET', ...general.flatMap((name) => [`${service}_${name}`, name]), 'SHARED_SECRET'];
  return names.flatMap((name) => [`$${name}`, `\${${name}}`, `%${name}%`, `process.env.${name}`, name]);
}

/** The secret in the README of hooks, and the most common placeholders. */
const USUAL_EXAMPLES = ['s3cret', 'secret', 'changeme', 'test'];

/** Rarer placeholders: words joined with `_`, with `-` or without a separator, and in upper case with `_`. */
const PLACEHOLDERS =
  'your secret,your webhook secret,your signing secret,your secret key,your secret here,my secret,my webhook secret,my signing key,test secret,test secret 123,super secret,super secret key,webhook secret,signing secret,secret key,change me,replace me'
    .split(',')
    .flatMap((words) => [
      words.toUpperCase().replaceAll(' ', '_'),
      ...['_', '-', ''].map((by) => words.replaceAll(' ', by)),
    ]);

const NOT_SET =
  'Set the variable of the secret on the other side, where it is not set, and let the program fail to start without it';

const NO_HEX =
  'if it decodes the secret from hex, key the HMAC with its text instead: of a text that is not hex, Buffer.from(secret, "hex") gives an empty key';

/**
 * Returns the secrets of this cost that the other side may use instead of `secrets`: other known secrets, all secrets
 * joined into one text, an empty secret, words for a missing value, unexpanded variables, and placeholders.
 */
export function otherSecrets(
  { secrets, otherSecrets: known, scheme }: Pick<SignatureEvidence, 'secrets' | 'otherSecrets' | 'scheme'>,
  cost: Cost,
): readonly Changed<Secret>[] {
  const change = (value: string, would: string, fix?: string): Changed<Secret> => {
    return { code: 'other-secret', would, cost, fix, value };
  };
  const asExample = (text: string): Changed<Secret> =>
    change(text, `with "${text}" as the secret, as examples have it`);
  switch (cost) {
    case 1: {
      const joined = secrets.length > 1 ? [',', '\n'].map((each) => secrets.join(each)) : [];
      return [
        ...known.map(({ secret, origin }) => change(secret, `with the secret from ${origin}`)),
        ...joined.map((text) => change(text, 'with all secrets in one text as the secret')),
      ];
    }
    case 2:
      return [
        change('', 'with an empty secret', `${NOT_SET}; ${NO_HEX}`),
        ...WORDS_FOR_NOTHING.map((word) => change(word, `with the word "${word}" as the secret`, NOT_SET)),
        ...USUAL_EXAMPLES.map(asExample),
      ];
    case 3:
      return references(scheme.name).map((text) => {
        const would = `with the text "${text}" as the secret, which the other side did not expand`;
        return change(text, would, FIXES['unexpanded-secret']);
      });
    case 4:
      return PLACEHOLDERS.map(asExample);
    default:
      return cost satisfies never;
  }
}

/** Returns the text of a base64 secret, with and without its prefix, as keys of a sender that does not decode it. */
export function undecoded(
  secret: string,
  { secretPrefix = '' }: SignatureScheme,
): readonly Changed<Secret>[] {
  const texts = [secret, ...(secret.startsWith(secretPrefix) ? [secret.slice(secretPrefix.length)] : [])];
  return texts.map((value) => ({
    code: 'misread-secret',
    would: `with the text of the secret${value === secret ? '' : ' without its prefix'} as the key, which the scheme decodes from base64`,
    fix: 'Decode what follows the prefix of the secret from base64, and key the HMAC with those bytes',
    cost: 1,
    value,
  }));
}

/**
 * Describes what is odd about a secret, in words that follow its length: "12 characters, some of them masked".
 * Undefined for an ordinary secret.
 */
export function oddLooksOf(secret: string): string | undefined {
  if ([...USUAL_EXAMPLES, ...PLACEHOLDERS].includes(secret)) return 'an example of the docs';
  return ODD_LOOKS.find(([pattern]) => pattern.test(secret.trim()))?.[1];
}

const ODD_LOOKS: readonly (readonly [RegExp, string])[] = [
  [
    /^(?:<[^<>]+>|\*{3,}|(?:op|vault|secretref):\/\/.*|arn:aws[\w-]*:.*|Bearer\s.*|@[\w./~-]+)$/i,
    'which look like a placeholder or a reference rather than a secret',
  ],
  [
    /^(?:[sprk]k_(?:test|live)_|gh[pousr]_|github_pat_|xox[abprs]-|AKIA|SG\.|shp[a-z]{2}_|AIza|glpat-)/,
    'which begin like an API key or an access token: give the signing secret of the webhook',
  ],
  [/[*\u2022]{4}/, 'some of them masked: it is not the secret, but how a page shows it'],
];
