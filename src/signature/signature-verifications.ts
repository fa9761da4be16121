import { readSignature } from './given-signature.ts';
import { LenientVerification } from './lenient-verification.ts';
import { SchemeVerification } from './scheme-verification.ts';
import { headerValues, type HeaderList } from './schemes/header-list.ts';
import { layoutOf } from './schemes/layout.ts';
import { presentedSignature } from './schemes/presented-signature.ts';
import type { SignatureScheme } from './schemes/scheme.ts';
import type { SignatureVerification } from './signature-verification.ts';

interface GivenRequest {
  /** Undefined if only the signature is known. */
  readonly headers: HeaderList | undefined;
  /** Value of the signature header of the first scheme, which replaces that header in `headers`. */
  readonly signature: string | null | undefined;
  readonly secrets: readonly string[];
  readonly at: number;
  readonly ignoreTimestamp: boolean;
}

/** Makes a verification for each scheme whose headers are present. Without `headers`, a missing signature counts as an empty one. */
export function signatureVerifications(
  schemes: readonly SignatureScheme[],
  given: GivenRequest,
): readonly SignatureVerification[] {
  if (typeof given.signature !== 'string') readSignature(given.signature); // throws if it is not a string
  const headers = withSignature(schemes, given);
  return schemes.flatMap((scheme) => {
    const presented = presentedSignature(scheme, headers);
    if (presented === undefined) return [];
    return scheme.isLenient === true
      ? [lenientVerification(scheme, headers, given)]
      : [new SchemeVerification(scheme, presented, { ...given, headers, schemes })];
  });
}

function withSignature(
  [first]: readonly SignatureScheme[],
  { headers = [], headers: given, signature }: GivenRequest,
): HeaderList {
  if (first === undefined || (!isGiven(signature) && given !== undefined)) return headers;
  const { lowerName } = layoutOf(first).signatureHeader;
  const [, name = '', value = ''] = /^([^\s:]+)\s*:\s*(.*)$/s.exec(signature ?? '') ?? [];
  const bare = name.toLowerCase() === lowerName ? value : (signature ?? '');
  return [...headers.filter(([each]) => each !== lowerName), [lowerName, bare]];
}

/** Joins duplicate signature headers with a comma, as HTTP libraries do. The result matches nothing. */
function lenientVerification(
  scheme: SignatureScheme,
  headers: HeaderList,
  { secrets, signature, headers: given }: GivenRequest,
): SignatureVerification {
  const isAlone = isGiven(signature) || given === undefined;
  const values = headerValues(headers, layoutOf(scheme).signatureHeader.lowerName);
  return new LenientVerification(scheme, isAlone ? signature : values.join(', '), { secrets, headers });
}

function isGiven(signature: string | null | undefined): signature is string {
  return signature !== null && signature !== undefined;
}
