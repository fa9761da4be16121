import { BUILT_IN_SCHEMES } from './schemes/built-in.ts';
import { layoutOf } from './schemes/layout.ts';
import { isSignatureHeader } from './signature-headers.ts';

/** The headers of a received request, to send them again with its body. Lists are name, value, name, value … */
export interface ReceivedHeaders {
  /** The value of the signature header. Undefined if the request has no signature. */
  readonly signature: string | undefined;
  /** The headers of the signature and of the values signed with the body. Sent only if the request is not signed again. */
  readonly signed: readonly string[];
  readonly others: readonly string[];
}

/** Lower-case names of the headers of built-in schemes, such as the timestamp, and of older ones that Svix sends. */
const SIGNED_HEADERS: ReadonlySet<string> = new Set([
  ...BUILT_IN_SCHEMES.flatMap((scheme) => layoutOf(scheme).headers.map(({ lowerName }) => lowerName)),
  'svix-id',
  'svix-timestamp',
]);

/** Separates the headers of a received request into `signed` and `others`. Both keep order, spelling and duplicates. */
export function receivedHeaders(
  headers: readonly (readonly [name: string, value: string])[],
): ReceivedHeaders {
  const signed: string[] = [];
  const others: string[] = [];
  let signature: string | undefined;
  for (const [name, value] of headers) {
    const isSignature = isSignatureHeader(name);
    if (isSignature) signature ??= value;
    (isSignature || SIGNED_HEADERS.has(name.toLowerCase()) ? signed : others).push(name, value);
  }
  return { signature, signed, others };
}
