import { schemeOfShortKey, secretFix } from '../../../signature/schemes/secrets.ts';
import { unexpandedName } from '../../../signature/secret.ts';
import type { Io } from '../../io.ts';

/** A sign that a shell, an editor or a form changed a secret silently, and how to fix it. */
interface OddSecret {
  readonly what: string;
  readonly fix: string;
}

const STRAYS: readonly (readonly [pattern: RegExp, what: string])[] = [
  [/\n$/, 'ends in a line break'],
  [/^\s|\s$/, 'begins or ends with white space'],
  [/^(["'`]).*\1$/s, 'is in quotes, which are part of it'],
];

/** Returns what looks wrong with a secret, or undefined. */
export function oddSecret(secret: string): OddSecret | undefined {
  if (unexpandedName(secret) !== undefined) {
    return {
      what: 'looks like the name of a variable that was not replaced',
      fix: 'write ${NAME} in a config file; in a shell, use no single quotes around it',
    };
  }
  const scheme = schemeOfShortKey(secret);
  if (scheme?.keyBytes !== undefined) {
    const { min, max } = scheme.keyBytes;
    const what = `has fewer than ${min} bytes, and ${scheme.title} asks for ${min} to ${max}`;
    return { what, fix: secretFix(scheme) };
  }
  const what = STRAYS.find(([pattern]) => pattern.test(secret))?.[1];
  return what === undefined
    ? undefined
    : { what, fix: 'take it out on both sides: the receiver must have the same secret' };
}

/**
 * Warns about secrets that look wrong (quotes, white space, an unexpanded variable) before signing with them. Shows no
 * secret.
 */
export function warnOfOddSecrets(secrets: Iterable<string>, io: Pick<Io, 'note' | 'errColor'>): void {
  for (const secret of new Set(secrets)) {
    const odd = oddSecret(secret);
    if (odd !== undefined) io.note(`${io.errColor.yellow('warning:')} the secret ${odd.what}; ${odd.fix}`);
  }
}
