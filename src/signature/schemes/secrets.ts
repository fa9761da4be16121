import { ConfigError } from '../../errors.ts';
import { BUILT_IN_SCHEMES } from './built-in.ts';
import { originOfSchemes, schemeOriginText, type SchemeOrigin } from './find-schemes.ts';
import type { SignatureScheme } from './scheme.ts';
import { isBlankSecret } from '../secret.ts';

/** A secret that a scheme can use. */
export interface SchemeKey {
  /** The secret's place in the list, counted from 1. */
  readonly secret: number;
  /** What the HMAC is keyed with. A string stands for its UTF-8. */
  readonly key: string | Uint8Array;
}

/**
 * The key that a secret is for a scheme among those in use; undefined for a secret that it cannot use. Beside a scheme whose secrets are text,
 * only the prefix tells which secret is for which.
 */
export function schemeKey(
  scheme: SignatureScheme,
  secret: string,
  inUse: readonly SignatureScheme[] = [scheme],
): string | Uint8Array | undefined {
  const { secret: kind, secretPrefix: prefix = '', keyBytes } = scheme;
  if (kind !== 'base64') return isBlankSecret(secret) ? undefined : secret;
  if (secret.startsWith(prefix)) return base64Key(secret.slice(prefix.length));
  if (keyBytes === undefined || inUse.some((each) => each.secret !== 'base64')) return undefined;
  const key = Buffer.from(secret, 'base64');
  const isKey = key.length >= keyBytes.min && key.length <= keyBytes.max;
  return isKey && key.toString('base64') === secret ? key : undefined;
}

/** A built-in scheme that asks for more bytes than the key has that this secret is by its prefix. */
export function schemeOfShortKey(secret: string): SignatureScheme | undefined {
  return BUILT_IN_SCHEMES.find((scheme) => {
    const key = scheme.secret === 'base64' ? schemeKey(scheme, secret) : undefined;
    return key !== undefined && key.length < (scheme.keyBytes?.min ?? 0);
  });
}

/** The bytes of a secret in base64, with its padding or without; undefined when it is none. */
function base64Key(text: string): Uint8Array | undefined {
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(text) || text.length % 4 === 1) return undefined;
  const isPadded = text.endsWith('=');
  const key = Buffer.from(text, 'base64');
  return key.length > 0 && !(isPadded && text.length % 4 !== 0) ? key : undefined;
}

/** All keys that the secrets are for a scheme among those in use: any of them may have signed. */
export function verifyingKeys(
  scheme: SignatureScheme,
  secrets: readonly string[],
  inUse?: readonly SignatureScheme[],
): readonly SchemeKey[] {
  return secrets.flatMap((secret, index) => {
    const key = schemeKey(scheme, secret, inUse);
    return key === undefined ? [] : [{ secret: index + 1, key }];
  });
}

/** The prefixes of secrets that are keys for schemes of their own. */
const KEY_PREFIXES = BUILT_IN_SCHEMES.flatMap(({ secret, secretPrefix }) =>
  secret === 'base64' && secretPrefix !== undefined ? [secretPrefix] : [],
);

/**
 * The secret that signs, by what it looks like: of a scheme with a prefix the first that has it, of one without the first that is not for another
 * scheme; else the first that it can use. Throws ConfigError when the scheme can use none.
 */
export function signingKey(
  scheme: SignatureScheme,
  secrets: readonly string[],
  { origin, inUse }: { readonly origin: SchemeOrigin; readonly inUse?: readonly SignatureScheme[] },
): SchemeKey {
  const { secretPrefix } = scheme;
  const isOwn = (secret: string): boolean =>
    secretPrefix === undefined
      ? !KEY_PREFIXES.some((prefix) => secret.startsWith(prefix))
      : secret.startsWith(secretPrefix);
  // A damaged one is reported, rather than passed over for the next.
  const own = secrets.findIndex(isOwn);
  const keys = verifyingKeys(scheme, secrets, inUse);
  const found = own < 0 ? keys[0] : keys.find(({ secret }) => secret === own + 1);
  if (found !== undefined) return found;
  throw unusableSecrets(scheme, secrets, origin);
}

/** Throws ConfigError when one of the schemes can use none of the secrets to verify with: nothing would ever match. */
export function rejectUnusableSchemes(
  schemes: readonly SignatureScheme[],
  secrets: readonly string[],
  origin: SchemeOrigin = originOfSchemes(schemes) ?? { key: 'scheme' },
): void {
  const unusable = schemes.find((scheme) => verifyingKeys(scheme, secrets, schemes).length === 0);
  if (unusable !== undefined) throw unusableSecrets(unusable, secrets, origin, verifyingSecretFix(unusable));
}

/** The error that a scheme can use none of the secrets. Shows none of them. */
function unusableSecrets(
  scheme: SignatureScheme,
  secrets: readonly string[],
  origin: SchemeOrigin,
  hint = secretFix(scheme),
): ConfigError {
  const { key, file } = origin;
  return new ConfigError(`${whyUnusable(scheme, secrets)} ${schemeOriginText(origin)}`, {
    key,
    origin: file ?? key,
    hint,
  });
}

function whyUnusable({ name, secretPrefix, secret }: SignatureScheme, secrets: readonly string[]): string {
  const none = `The scheme ${name} has no secret that it can use`;
  if (secrets.length === 0) return `${none}: there is no secret at all`;
  if (secret !== 'base64') return `${none}: the secret is blank`;
  const isDamaged = secrets.some((each) => secretPrefix === undefined || each.startsWith(secretPrefix));
  if (!isDamaged) return `${none}: none begins with ${secretPrefix}`;
  const what = secretPrefix === undefined ? 'the secret' : `what follows ${secretPrefix}`;
  return `${none}: ${what} is no base64`;
}

/** How to make a secret that a scheme can use. */
export function secretFix({ secret, secretPrefix = '' }: SignatureScheme): string {
  if (secret !== 'base64') {
    return 'give --secret, --secret-file FILE or HOOKS_SECRET, or set `sharedSecret` in the config';
  }
  const form = secretPrefix === '' ? '' : `printf '${secretPrefix}%s\\n' `;
  const command = form === '' ? 'openssl rand -base64 32' : `${form}"$(openssl rand -base64 32)"`;
  return `make one with ${command}, and give it to both sides`;
}

/** How to give a secret that the sender already has. */
export function verifyingSecretFix(scheme: SignatureScheme): string {
  const { secret, secretPrefix } = scheme;
  if (secret !== 'base64') return secretFix(scheme);
  const form = secretPrefix === undefined ? 'base64' : `${secretPrefix} and base64`;
  return `give the secret of the sender, which is ${form}`;
}

/** A secret of the form that a scheme wants, of these bytes. */
export function madeUpSecret({ secret, secretPrefix = '' }: SignatureScheme, bytes: Buffer): string {
  return secret === 'base64' ? secretPrefix + bytes.toString('base64') : bytes.toString('hex');
}
