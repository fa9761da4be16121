import { ConfigError } from '../../errors.ts';
import { BUILT_IN_SCHEMES } from './built-in.ts';
import { originOfSchemes, schemeOriginText, type SchemeOrigin } from './find-schemes.ts';
import type { SignatureScheme } from './scheme.ts';
import { isBlankSecret } from '../secret.ts';

/** A secret that a scheme can use. */
export interface SchemeKey {
  /** Number, from 1, of the secret among the given secrets. */
  readonly secret: number;
  /** Key of the HMAC. A string is encoded as UTF-8. */
  readonly key: string | Uint8Array;
}

/**
 * Makes the key of a scheme from a secret; undefined if the scheme cannot use the secret. If a scheme in use has text
 * secrets, a base64 scheme uses only secrets with its prefix, because otherwise it is unclear which secret is for which
 * scheme.
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

/** The built-in scheme of these names for which a secret is too short; undefined if there is none. */
export function schemeOfShortKey(secret: string, names: readonly string[]): SignatureScheme | undefined {
  return BUILT_IN_SCHEMES.filter(({ name }) => names.includes(name)).find((scheme) => {
    const key = scheme.secret === 'base64' ? schemeKey(scheme, secret) : undefined;
    return key !== undefined && key.length < (scheme.keyBytes?.min ?? 0);
  });
}

/** Decodes base64 with or without padding; undefined if the text is not base64. */
function base64Key(text: string): Uint8Array | undefined {
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(text) || text.length % 4 === 1) return undefined;
  const isPadded = text.endsWith('=');
  const key = Buffer.from(text, 'base64');
  return key.length > 0 && !(isPadded && text.length % 4 !== 0) ? key : undefined;
}

/** All keys that the secrets give for a scheme. A sender may have signed with any of them. */
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

/**
 * Chooses the secret that signs: the first with the prefix of the scheme, or if the scheme has no prefix, the first that is
 * not reserved for another scheme. If there is none, the first that the scheme can use. Throws ConfigError if it can use
 * none.
 */
export function signingKey(
  scheme: SignatureScheme,
  secrets: readonly string[],
  { origin, inUse }: { readonly origin: SchemeOrigin; readonly inUse?: readonly SignatureScheme[] },
): SchemeKey {
  const { secretPrefix } = scheme;
  const isOwn = (secret: string): boolean =>
    secretPrefix === undefined ? !isReserved(secret) : secret.startsWith(secretPrefix);
  // If the first secret meant for the scheme is malformed, that is reported. The next secret must not sign instead.
  const own = secrets.findIndex(isOwn);
  const keys = verifyingKeys(scheme, secrets, inUse);
  const found = own < 0 ? keys[0] : keys.find(({ secret }) => secret === own + 1);
  if (found !== undefined) return found;
  throw unusableSecrets(scheme, secrets, origin);
}

/** Whether the prefix of a secret reserves that secret for a built-in base64 scheme. */
function isReserved(text: string): boolean {
  return BUILT_IN_SCHEMES.some(
    ({ secret, secretPrefix }) =>
      secret === 'base64' && secretPrefix !== undefined && text.startsWith(secretPrefix),
  );
}

/** Throws ConfigError if one of the schemes can use none of the secrets, because it would never match. */
export function rejectUnusableSchemes(
  schemes: readonly SignatureScheme[],
  secrets: readonly string[],
  origin: SchemeOrigin = originOfSchemes(schemes) ?? { key: 'scheme' },
): void {
  const unusable = schemes.find((scheme) => verifyingKeys(scheme, secrets, schemes).length === 0);
  if (unusable !== undefined) throw unusableSecrets(unusable, secrets, origin, verifyingSecretFix(unusable));
}

/** The error of a scheme that can use none of the secrets. Does not contain the secrets. */
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
  return `${none}: ${what} is not base64`;
}

/** The fix for a missing secret: how to make one that the scheme can use. */
export function secretFix({ secret, secretPrefix = '' }: SignatureScheme): string {
  if (secret !== 'base64') {
    return 'give --secret, --secret-file FILE or HOOKS_SECRET, or set `sharedSecret` in the config';
  }
  const form = secretPrefix === '' ? '' : `printf '${secretPrefix}%s\\n' `;
  const command = form === '' ? 'openssl rand -base64 32' : `${form}"$(openssl rand -base64 32)"`;
  return `make one with ${command}, and give it to both sides`;
}

/** The advice for a missing secret of a verification: pass the secret of the sender. */
export function verifyingSecretFix(scheme: SignatureScheme): string {
  const { secret, secretPrefix } = scheme;
  if (secret !== 'base64') return secretFix(scheme);
  const form = secretPrefix === undefined ? 'base64' : `${secretPrefix} and base64`;
  return `give the secret of the sender, which is ${form} (in the alphabet with + and /, not with - and _)`;
}

/** Makes a secret in the form of a scheme from random bytes. */
export function madeUpSecret({ secret, secretPrefix = '' }: SignatureScheme, bytes: Buffer): string {
  return secret === 'base64' ? secretPrefix + bytes.toString('base64') : bytes.toString('hex');
}
