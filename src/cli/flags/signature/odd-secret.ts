import type { SchemeChoice } from '../../../signature/schemes/find-schemes.ts';
import { chosenSchemeNames } from '../../../signature/schemes/scheme.ts';
import { schemeOfShortKey, secretFix } from '../../../signature/schemes/secrets.ts';
import { oddForm, type OddForm } from '../../../config/odd-form.ts';
import type { Io } from '../../io.ts';

/** Secrets that sign nothing: the keys of an API, which services show beside the secret of the webhook. */
const API_KEY = /^(?:sk|pk|rk)_(?:test|live)_/;

/** Returns what looks wrong with a secret of these schemes, or undefined. */
export function oddSecret(
  secret: string,
  choices: readonly (SchemeChoice | undefined)[],
): OddForm | undefined {
  const scheme = schemeOfShortKey(secret, chosenSchemeNames(choices));
  if (scheme?.keyBytes !== undefined) {
    const { min, max } = scheme.keyBytes;
    const what = `has fewer than ${min} bytes, and ${scheme.title} asks for ${min} to ${max}`;
    return { what, fix: secretFix(scheme) };
  }
  if (API_KEY.test(secret)) {
    return { what: 'is a key of the API', fix: "give the secret of the webhook's endpoint (whsec_…)" };
  }
  const odd = oddForm(secret);
  return odd && { ...odd, fix: `${odd.fix}; the receiver must have the same secret` };
}

/**
 * Warns about secrets that look wrong (quotes, white space, an unexpanded variable) before signing with them. Shows no
 * secret.
 */
export function warnOfOddSecrets(
  secrets: Iterable<string>,
  choices: readonly (SchemeChoice | undefined)[],
  io: Pick<Io, 'note' | 'errColor'>,
): void {
  for (const secret of new Set(secrets)) {
    const odd = oddSecret(secret, choices);
    if (odd !== undefined) io.note(`${io.errColor.yellow('warning:')} the secret ${odd.what}; ${odd.fix}`);
  }
}
