import { readSignature } from './given-signature.ts';
import { LenientCheck } from './lenient-check.ts';
import { SchemeCheck } from './scheme-check.ts';
import { headerValues, type HeaderList } from './schemes/header-list.ts';
import { layoutOf } from './schemes/layout.ts';
import { presentedSignature } from './schemes/presented.ts';
import type { SignatureScheme } from './schemes/scheme.ts';
import type { SignatureCheck } from './signature-check.ts';

interface GivenRequest {
  /** Undefined: only the signature is known. */
  readonly headers: HeaderList | undefined;
  /** The value of the header with the signature of the first scheme, whatever the headers have. */
  readonly signature: string | null | undefined;
  readonly secrets: readonly string[];
  readonly at: number;
  readonly ignoreTimestamp: boolean;
}

/** A check for each scheme whose signature came. A signature that was to be given alone and is missing counts as an empty one. */
export function signatureChecks(
  schemes: readonly SignatureScheme[],
  given: GivenRequest,
): readonly SignatureCheck[] {
  if (typeof given.signature !== 'string') readSignature(given.signature); // throws for what is no text
  const headers = withSignature(schemes, given);
  return schemes.flatMap((scheme) => {
    const presented = presentedSignature(scheme, headers);
    if (presented === undefined) return [];
    return scheme.isLenient === true
      ? [lenientCheck(scheme, headers, given)]
      : [new SchemeCheck(scheme, presented, { ...given, headers, schemes })];
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

/** Two headers in one request count as what a program reads that joins them, which matches nothing. */
function lenientCheck(
  scheme: SignatureScheme,
  headers: HeaderList,
  { secrets, signature, headers: given }: GivenRequest,
): SignatureCheck {
  const isAlone = isGiven(signature) || given === undefined;
  const values = headerValues(headers, layoutOf(scheme).signatureHeader.lowerName);
  return new LenientCheck(scheme, isAlone ? signature : values.join(', '), { secrets, headers });
}

function isGiven(signature: string | null | undefined): signature is string {
  return signature !== null && signature !== undefined;
}
