import { validateOptions } from '../validate-options.ts';
import type { Diagnosis, OtherSecret, RequestTarget } from './evidence.ts';
import type { SchemeChoice } from './schemes/find-schemes.ts';
import type { HeadersInput } from './schemes/header-list.ts';
import type { SchemeMatch } from './signature-verification.ts';

export type VerifyResult = ValidVerdict | InvalidVerdict;

export interface ValidVerdict extends SchemeMatch {
  readonly valid: true;
  /** Names of the schemes that match, separated by commas; absent if only the default scheme was used. */
  readonly scheme?: string;
}

export interface InvalidVerdict {
  readonly valid: false;
  /**
   * Why the signature does not match. Without `diagnose`, present only if parsing the body loses something (`lossy-json`).
   */
  readonly diagnosis?: Diagnosis;
}

export interface VerifyOptions {
  /**
   * Value of the signature header; instead of `headers` if the scheme has only one header. For the default scheme: 40 hex
   * digits in upper or lower case, optionally with white space around them or `sha1=` before them. A missing value (undefined,
   * null) never matches.
   */
  readonly signature?: string | null | undefined;
  /** Headers of the request: `request.headers`, `request.rawHeaders` or `Headers`. @default only `signature` is verified */
  readonly headers?: HeadersInput | undefined;
  /**
   * Accepted schemes: names, or custom schemes. The request must have a signature of at least one, and all signatures that
   * it has must match. Accept only the strongest as soon as every sender uses it: a removed header looks like one that was
   * never sent.
   * @default 'segment'
   */
  readonly scheme?: SchemeChoice | undefined;
  /** Time when the request arrived, in ms since the epoch, with which a signed timestamp is compared. @default now */
  readonly at?: number | undefined;
  /** Accepts signatures of any age, for stored requests. For live requests it allows replay attacks. @default false */
  readonly ignoreTimestamp?: boolean | undefined;
  /** Accepted secrets, at least one. */
  readonly secrets: readonly string[];
  /**
   * Accepts only signatures of the bytes as received, not of the JSON-stringified body.
   * @default false
   */
  readonly exact?: boolean | undefined;
  /**
   * Diagnoses why a signature does not match. Verdict and diagnosis block the event loop for up to 20 ms with a body of 32
   * KB, and up to 200 ms with larger ones: anyone can slow down a receiver that diagnoses each request.
   * @default false
   */
  readonly diagnose?: boolean | undefined;
  /**
   * Known secrets that are not accepted, so that a diagnosis can tell that one of them was used. Only with
   * `diagnose`.
   * @default []
   */
  readonly otherSecrets?: readonly OtherSecret[] | undefined;
  /**
   * Origin of the secrets, such as `HOOKS_SECRET`. If no mistake explains a mismatch, the diagnosis then names the origin
   * and the lengths of the secrets. Show such a diagnosis only to their owner, not to a sender. Only with `diagnose`.
   * @default a diagnosis does not mention the secrets
   */
  readonly secretOrigin?: string | undefined;
  /**
   * Method and path of the request (`POST`, `/hook?a=1`), which some services sign. Only with `diagnose`.
   * @default a diagnosis does not try method and path
   */
  readonly target?: RequestTarget | undefined;
}

/** Kinds of the options. Signature and secrets are `given`, because they have more specific errors. */
const KINDS = {
  signature: 'given',
  headers: 'given',
  scheme: 'given',
  at: 'a time in ms',
  ignoreTimestamp: 'a boolean',
  secrets: 'given',
  exact: 'a boolean',
  diagnose: 'a boolean',
  otherSecrets: 'a list',
  secretOrigin: 'a string',
  target: 'an object',
} as const satisfies Record<keyof VerifyOptions, string>;

const OTHER_NAMES = { sharedSecret: 'secrets', sharedSecrets: 'secrets' };

/** Throws ConfigError if options are unknown or of the wrong kind. With `hasBody`, the option `body` is required. */
export function validateVerifyOptions(options: VerifyOptions, hasBody = false): void {
  validateOptions(options, {
    kinds: hasBody ? { body: 'a string or bytes', ...KINDS } : KINDS,
    required: hasBody ? ['body'] : [],
    otherNames: OTHER_NAMES,
  });
  const kinds = { secret: 'a string', origin: 'a string' } as const;
  if (options.target !== undefined) {
    const members = { method: 'a string', path: 'a string' } as const;
    validateOptions(options.target, { setting: 'target', kinds: members, required: ['method', 'path'] });
  }
  options.otherSecrets?.forEach((other, index) =>
    validateOptions(other, { setting: `otherSecrets[${index}]`, kinds, required: ['secret'] }),
  );
}
