import type { CaptureRequest, HeaderPair } from '../capture.ts';

/** A request that was found in a file of another tool, with the exact bytes of its body. */
export interface ImportedRequest {
  readonly method: string;
  /** The path with the query. */
  readonly url: string;
  readonly headers: readonly HeaderPair[];
  readonly body: Uint8Array;
  /** Time of the request. Ms since the epoch. Undefined if the file has no time. */
  readonly at?: number | undefined;
  /** Verdict and digest of a capture. */
  readonly verdict?: CaptureRequest['verdict'] | undefined;
  readonly redacted?: string | undefined;
  /** Members of a capture that `hooks` does not write, as JSON. Undefined if it has none. */
  readonly others?: string;
}

/** Result for a request in a file. `skipped`: it has no body, so it is no webhook. */
export type Imported =
  { readonly kind: 'request'; readonly request: ImportedRequest } | { readonly kind: 'skipped' } | Rejected;

/** A request or a part of a file whose exact bytes are unknown. Both texts are not escaped for terminals. */
export interface Rejected {
  readonly kind: 'rejected';
  /** The request as `POST /hook`, or the part of the file as `line 7`. */
  readonly what: string;
  /** Reason as a sentence without a full stop. */
  readonly reason: string;
}

/** Reason for the rejection of a text with U+FFFD. */
export const REPLACED = 'its text has a replacement character (U+FFFD) in place of bytes that are not text';

/** Error for a request that is rejected. Its message is the reason, as in `Rejected`. */
export class RequestRejection extends Error {}

/**
 * Returns the target of a URL as clients send it: its path and query. They resolve `/../`, encode what is not ASCII, and change
 * nothing else, unlike `URL`. A URL without a host is a target already. Keeps `/../` if `isPathAsIs`.
 */
export function targetOfUrl(url: string, isPathAsIs = false): string {
  const [, path, query = ''] = /^[a-z][a-z0-9+.-]*:\/\/[^/?#]*([^?#]*)(\?[^#]*)?/i.exec(url) ?? [];
  if (path === undefined) return url === '' ? '/' : url;
  const hasDots = !isPathAsIs && /\/(?:\.|%2e){1,2}(?:\/|$)/i.test(path);
  const resolved = hasDots ? new URL(`http://a${path}`).pathname : path || '/';
  return (resolved + query).replaceAll(/[^!-~]+/g, (text) =>
    encodeURIComponent(Buffer.from(text).toString()),
  );
}

/** The length of the body that a header of the request states. Undefined if none does. */
export function statedLength(headers: readonly HeaderPair[]): number | undefined {
  const value = headers.find(([name]) => name.toLowerCase() === 'content-length')?.[1];
  return value !== undefined && /^\d{1,15}$/.test(value) ? Number(value) : undefined;
}
