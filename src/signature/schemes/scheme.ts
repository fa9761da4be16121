/**
 * A signature scheme as data: the headers of a signed request, and the text over which the signature is computed. A new
 * scheme needs no code.
 *
 * A template is a text with placeholders: `{signature}`, `{timestamp}` (Unix time in seconds), `{id}` (of the message),
 * `{body}` (the bytes of the request's body).
 */
export interface SignatureScheme {
  /** Name for `--scheme` and the setting `scheme`: letters, digits, `-`, `_`. */
  readonly name: string;
  /** Name of the scheme in sentences. @default `name` */
  readonly title?: string | undefined;
  /** Template of each header. One has `{signature}`, and each placeholder of `signs` must be in one of them. */
  readonly headers: Readonly<Record<string, string>>;
  /**
   * Separator of the parts of the signature header, each a text and a placeholder. Any signature of the list may match.
   * @default one part
   */
  readonly separator?: ',' | ' ' | undefined;
  /** Template of the signed text, with `{body}` once. */
  readonly signs: string;
  /** Hash function that the HMAC uses. */
  readonly hash: SchemeHash;
  /** Encoding of the digest: lower-case hex, or base64 with padding. */
  readonly encoding: 'hex' | 'base64';
  /** Key of the HMAC: the UTF-8 of the secret, or the base64-decoded secret without its prefix. @default 'text' */
  readonly secret?: 'text' | 'base64' | undefined;
  /**
   * Prefix of secrets. Required if secrets are base64; otherwise secrets with the prefix are preferred. @default no prefix
   */
  readonly secretPrefix?: string | undefined;
  /**
   * Size of keys. Shorter keys cause a warning. If only base64 schemes are in use, canonical base64 of this size needs no
   * prefix. @default any size
   */
  readonly keyBytes?: { readonly min: number; readonly max: number } | undefined;
  /**
   * Maximum difference between the timestamp and now, in seconds, in either direction. @default the timestamp is not
   * compared
   */
  readonly tolerance?: number | undefined;
  /** Replacement of `{body}`: the whole body, or the first item of its list, JSON-stringified. @default 'whole' */
  readonly covers?: 'whole' | 'first' | undefined;
  /**
   * Also accepts the JSON-stringified body, `sha1=` before the digits, and upper-case digits (contract, Signature). @default
   * false
   */
  readonly isLenient?: true | undefined;
}

export const SCHEME_HASHES = ['sha1', 'sha256', 'sha384', 'sha512'] as const;

export type SchemeHash = (typeof SCHEME_HASHES)[number];

/** Signed fields besides the body, with their values in the headers. */
export interface SignedFields {
  readonly id: string;
  /** Unix time at which the request is signed: seconds, in decimal digits. */
  readonly timestamp: string;
}

/** The names in choices of schemes, without loading the schemes. The default scheme stands for a choice that is not made. */
export function chosenSchemeNames(
  choices: readonly (string | SignatureScheme | readonly (string | SignatureScheme)[] | undefined)[],
): readonly string[] {
  return choices
    .flatMap((choice = 'segment') => choice)
    .flatMap((each) => (typeof each === 'string' ? each.split(',') : each.name))
    .map((name) => name.trim());
}
