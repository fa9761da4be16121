import { MASK } from '../redact.ts';
import { BUILT_IN_SCHEMES } from './schemes/built-in.ts';
import { layoutOf } from './schemes/layout.ts';
import type { SignedHeaders } from './schemes/signer.ts';
import { isSignatureHeader } from './signature-headers.ts';

/** Names of headers that schemes sign besides the body, such as the timestamp, with the older names that Svix sends. */
const SIGNED_HEADERS: ReadonlySet<string> = new Set([
  ...BUILT_IN_SCHEMES.flatMap((scheme) => layoutOf(scheme).headers.map(({ lowerName }) => lowerName)),
  'svix-id',
  'svix-timestamp',
]);

/**
 * Returns the signature headers among the headers of a received request, in their order, to send them again unchanged.
 * Undefined if the request has no signature, or if its signature was masked when it was saved.
 */
export function receivedSignature(
  headers: readonly (readonly [name: string, value: string])[],
): SignedHeaders | undefined {
  const kept = headers.filter(([name, value]) => {
    const isSigned = SIGNED_HEADERS.has(name.toLowerCase()) || isSignatureHeader(name);
    return isSigned && value !== MASK;
  });
  const [, signature] = kept.find(([name]) => isSignatureHeader(name)) ?? [];
  return signature === undefined ? undefined : { headers: kept.flat(), signature };
}
