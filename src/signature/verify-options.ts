import { validateOptions } from '../validate-options.ts';
import type { Diagnosis, OtherSecret } from './evidence.ts';
import type { NoteCode } from './reasons.ts';
import type { SchemeChoice } from './schemes/find-schemes.ts';
import type { HeadersInput } from './schemes/header-list.ts';

export type VerifyResult = ValidVerdict | InvalidVerdict;

export interface ValidVerdict {
  readonly valid: true;
  /** The secret that matched, counted from 1. */
  readonly secret: number;
  /** The signed bytes: the body as received, or JSON-stringified. */
  readonly over: 'bytes' | 'stringified';
  /** With `stringified`: why the bytes differ from it. */
  readonly note?: NoteCode;
  /** The schemes that came and match, with commas between; absent for the default scheme alone. */
  readonly scheme?: string;
  /** What the signatures do not protect: `covers the first of 3 events only`. Treat the rest as unsigned. */
  readonly partial?: string;
}

export interface InvalidVerdict {
  readonly valid: false;
  /** Why it does not match; without `diagnose` only for a body from which parsing loses something (`lossy-json`). */
  readonly diagnosis?: Diagnosis;
}

export interface VerifyOptions {
  /**
   * The value of the header that has the signature; in place of `headers` where the scheme has one header only. Of the default scheme: 40 hex
   * digits in either case; white space around them and `sha1=` are allowed. Without a header nothing matches.
   */
  readonly signature?: string | null | undefined;
  /** The request's headers, as `request.headers`, `request.rawHeaders` or `Headers`. @default only `signature` came */
  readonly headers?: HeadersInput | undefined;
  /**
   * The schemes that are accepted, by name, or schemes of one's own. At least one of them has to come, and each that comes has to match. Name the
   * strongest alone, as soon as every sender has it: a header that is removed cannot be told from one that was never sent.
   * @default 'segment'
   */
  readonly scheme?: SchemeChoice | undefined;
  /** When the request came, in ms since the epoch: a timestamp that is signed may be this far from it as the scheme says. @default now */
  readonly at?: number | undefined;
  /** Accepts signatures of any age: for what was kept. An attacker may send again what was signed once. @default false */
  readonly ignoreTimestamp?: boolean | undefined;
  /** At least one; any of them may match. */
  readonly secrets: readonly string[];
  /**
   * Only the bytes as received count, not the JSON-stringified body.
   * @default false
   */
  readonly exact?: boolean | undefined;
  /**
   * Finds out why a signature does not match. That blocks the event loop for up to 20 ms with a body of 32 KB, and 200 ms
   * with any, the verdict included: anyone can slow down a receiver that does it for each request.
   * @default false
   */
  readonly diagnose?: boolean | undefined;
  /**
   * Known secrets that are not accepted: a mismatch that one of them explains is diagnosed as such. Only with
   * `diagnose`.
   * @default []
   */
  readonly otherSecrets?: readonly OtherSecret[] | undefined;
  /**
   * Where the secrets come from, as `HOOKS_SECRET`: a mismatch that nothing explains then tells this and how long they are. For
   * the person who gave them, not for a sender. Only with `diagnose`.
   * @default not told
   */
  readonly secretOrigin?: string | undefined;
}

/** The kinds of the options. Signature and secrets are `given`, since they have more specific errors. */
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
} as const satisfies Record<keyof VerifyOptions, string>;

const OTHER_NAMES = { sharedSecret: 'secrets', sharedSecrets: 'secrets' };

/** Throws ConfigError for options that are unknown or of another kind. `hasBody`: `body` is one of them, and required. */
export function checkVerifyOptions(options: VerifyOptions, hasBody = false): void {
  validateOptions(options, {
    kinds: hasBody ? { body: 'a string or bytes', ...KINDS } : KINDS,
    required: hasBody ? ['body'] : [],
    otherNames: OTHER_NAMES,
  });
  const kinds = { secret: 'a string', origin: 'a string' } as const;
  options.otherSecrets?.forEach((other, index) =>
    validateOptions(other, { setting: `otherSecrets[${index}]`, kinds, required: ['secret'] }),
  );
}
