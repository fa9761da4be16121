import { signatureText } from './lenient-signature.ts';
import { SchemeVerification, type SchemeVerificationOptions } from './scheme-verification.ts';
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
  const alone = signatureText(given.signature);
  const headers = withSignature(schemes, given);
  return schemes.flatMap((scheme) => {
    const presented = presentedSignature(scheme, headers);
    if (presented === undefined) return [];
    // Duplicate signature headers are joined with a comma, as HTTP libraries do. Such a value matches nothing.
    const value = isAlone(given) ? alone : presented.value;
    const lenient = { value, signatures: [value], fields: { id: '', timestamp: '' } };
    const own = scheme.isLenient === true ? lenient : presented;
    return [new SchemeVerification(scheme, own, { ...given, headers, schemes })];
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
