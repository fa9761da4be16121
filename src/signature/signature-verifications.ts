import { readSignature } from './given-signature.ts';
import { lenientVerification } from './lenient-verification.ts';
import { schemeVerification, type SchemeVerificationOptions } from './scheme-verification.ts';
import type { HeaderList } from './schemes/header-list.ts';
import { layoutOf } from './schemes/layout.ts';
import { presentedSignature } from './schemes/presented-signature.ts';
import type { SignatureScheme } from './schemes/scheme.ts';
import type { SignatureVerification } from './signature-verification.ts';

interface GivenRequest extends Pick<SchemeVerificationOptions, 'secrets' | 'at' | 'ignoreTimestamp'> {
  /** Headers of the request. Undefined if the caller gave only the value of the signature header. */
  readonly headers: HeaderList | undefined;
  /** Value of the signature header of the first scheme. If it is given, that header of `headers` is ignored. */
  readonly signature: string | null | undefined;
}

/**
 * Makes a verification for each accepted scheme whose headers the request has. Without `headers`, an undefined signature
 * counts as an empty one.
 */
export function signatureVerifications(
  schemes: readonly SignatureScheme[],
  given: GivenRequest,
): readonly SignatureVerification[] {
  if (typeof given.signature !== 'string') readSignature(given.signature); // throws if it is not a string
  const headers = withSignature(schemes, given);
  return schemes.flatMap((scheme) => {
    const presented = presentedSignature(scheme, headers);
    if (presented === undefined) return [];
    if (scheme.isLenient !== true) {
      return [schemeVerification(scheme, presented, { ...given, headers, schemes })];
    }
    // Duplicate signature headers were joined with a comma, as HTTP libraries do. Such a value matches nothing.
    const value = isAlone(given) ? given.signature : presented.value;
    return [lenientVerification(scheme, value, { secrets: given.secrets, headers })];
  });
}

/** Whether the signature comes from `signature` instead of the signature header in `headers`. */
function isAlone({ signature, headers }: GivenRequest): boolean {
  return (signature !== null && signature !== undefined) || headers === undefined;
}

function withSignature([first]: readonly SignatureScheme[], given: GivenRequest): HeaderList {
  const { headers = [], signature } = given;
  if (first === undefined || !isAlone(given)) return headers;
  const { lowerName } = layoutOf(first).signatureHeader;
  const [, name = '', value = ''] = /^([^\s:]+)\s*:\s*(.*)$/s.exec(signature ?? '') ?? [];
  const bare = name.toLowerCase() === lowerName ? value : (signature ?? '');
  return [...headers.filter(([each]) => each !== lowerName), [lowerName, bare]];
}
