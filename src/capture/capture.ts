/**
 * One received request as a JSON object (cli.md, "A capture"). Has the exact bytes of the body either in `body`, if they are
 * valid UTF-8 (with a byte order mark), or in `bodyBase64`.
 */
export type Capture = CaptureRequest & CapturedBody;

export interface CaptureRequest {
  readonly capture: 1;
  /** Time when the request arrived: ISO 8601 UTC with milliseconds. Undefined if unknown. */
  readonly at?: string;
  readonly method: string;
  /** Request target as received, which usually is a path. */
  readonly url: string;
  /** Headers in the order received, duplicates included. Secret values are masked. */
  readonly headers: readonly HeaderPair[];
  /** Verdict of the receiver on the request's signature. */
  readonly verdict?: CapturedVerdict;
  /** Digest of the content, if `hooks redact` wrote the capture. */
  readonly redacted?: string;
}

export type CapturedBody =
  | { readonly body: string; readonly bodyBase64?: never }
  | { readonly bodyBase64: string; readonly body?: never };

export type HeaderPair = readonly [name: string, value: string];

export const CAPTURED_VERDICTS = ['valid', 'invalid', 'unsigned', 'unchecked'] as const;

export type CapturedVerdict = (typeof CAPTURED_VERDICTS)[number];

/** The exact bytes of the body as received. */
export function captureBody(capture: Capture): Uint8Array {
  return capture.bodyBase64 === undefined
    ? Buffer.from(capture.body, 'utf8')
    : Buffer.from(capture.bodyBase64, 'base64');
}
