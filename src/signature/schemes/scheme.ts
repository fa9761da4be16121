/**
 * A signature scheme as data: which headers a signed request has, and what the signature in them is computed over. Adding one takes no code.
 *
 * A template is a text with placeholders: `{signature}`, `{timestamp}` (Unix time in seconds), `{id}` (of the message), `{body}`
 * (the bytes of the request's body).
 */
export interface SignatureScheme {
  /** What `--scheme` and the setting `scheme` name it by: letters, digits, `-`, `_`. */
  readonly name: string;
  /** What people call it, in sentences. @default its name */
  readonly title?: string | undefined;
  /** The template of each header. One has `{signature}`; each placeholder that `signs` uses is in one of them. */
  readonly headers: Readonly<Record<string, string>>;
  /** Separates the parts of the header that has the signature, each a text and a placeholder; any one signature of the list counts. @default one part */
  readonly separator?: ',' | ' ' | undefined;
  /** What is signed: a template with `{body}` once. */
  readonly signs: string;
  /** The hash of the HMAC. */
  readonly hash: SchemeHash;
  /** How the digest is written: lower-case hex, or base64 with its padding. */
  readonly encoding: 'hex' | 'base64';
  /** The key: the secret's UTF-8, or the bytes that the secret, without its prefix, is the base64 of. @default 'text' */
  readonly secret?: 'text' | 'base64' | undefined;
  /** How its secrets begin. One that is read as base64 has to; one that is text is preferred. @default secrets have no prefix */
  readonly secretPrefix?: string | undefined;
  /** How many bytes its keys have. Fewer are warned about; within them, alone, a secret in canonical base64 needs no prefix. @default not told */
  readonly keyBytes?: { readonly min: number; readonly max: number } | undefined;
  /** How far the timestamp may be from now, in seconds, in either direction. @default the timestamp is not compared */
  readonly tolerance?: number | undefined;
  /** What stands for `{body}`: the whole body, or the first item of its list, JSON-stringified. @default 'whole' */
  readonly covers?: 'whole' | 'first' | undefined;
  /** Also accepts the JSON-stringified body, `sha1=` before the digits, and their upper case (contract, Signature). @default false */
  readonly isLenient?: true | undefined;
}

export const SCHEME_HASHES = ['sha1', 'sha256', 'sha384', 'sha512'] as const;

export type SchemeHash = (typeof SCHEME_HASHES)[number];

/** What a signature covers besides the body, as the headers carry it. */
export interface SignedFields {
  readonly id: string;
  /** Unix time in seconds, in decimal digits. */
  readonly timestamp: string;
}
