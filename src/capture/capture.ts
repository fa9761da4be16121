/**
 * One received request as a JSON object (cli.md, "A capture"). Has exactly one of `body` and `bodyBase64`, and either
 * gives the exact bytes: `body` when they are valid UTF-8, a byte order mark included.
 */
export type Capture = CaptureRequest & CapturedBody;

interface CaptureRequest {
  readonly capture: 1;
  /** When the request came. ISO 8601 UTC with milliseconds; absent when the writer did not know. */
  readonly at?: string;
  readonly method: string;
  /** The request target as received: usually a path. */
  readonly url: string;
  /** In the order received, repeated names kept apart. Secret values are masked. */
  readonly headers: readonly HeaderPair[];
  /** The receiver's verdict on the signature. */
  readonly verdict?: CapturedVerdict;
}

type CapturedBody =
  | { readonly body: string; readonly bodyBase64?: never }
  | { readonly bodyBase64: string; readonly body?: never };

export type HeaderPair = readonly [name: string, value: string];

export const CAPTURED_VERDICTS = ['valid', 'invalid', 'unsigned', 'unchecked'] as const;

export type CapturedVerdict = (typeof CAPTURED_VERDICTS)[number];

/** The exact bytes that were received. */
export function captureBody(capture: Capture): Uint8Array {
  return capture.bodyBase64 === undefined
    ? Buffer.from(capture.body, 'utf8')
    : Buffer.from(capture.bodyBase64, 'base64');
}
