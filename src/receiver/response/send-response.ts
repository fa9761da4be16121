import type { ServerResponse } from 'node:http';
import type { Clock } from '../../clock.ts';
import type { SentResponse } from '../received-request.ts';
import { pairsOf } from './forwarding.ts';

const NO_HEADERS: readonly string[] = [];
const EMPTY: readonly string[] = ['content-length', '0'];

/** Sends a complete response: status, headers (name, value, …) and text. The text is plain unless a Content-Type is set. */
export function sendResponse(
  response: ServerResponse,
  status: number,
  text = '',
  headers = NO_HEADERS,
): void {
  response.writeHead(status, completeHeaders(response, { status, text, headers })).end(text);
}

interface PlannedResponse {
  readonly status: number;
  readonly text: string;
  readonly headers?: readonly string[] | undefined;
}

/** The headers and body that `sendResponse` will send for `planned`, to report them before they are sent. */
export function sentResponse(response: ServerResponse, planned: PlannedResponse): SentResponse {
  const set = Object.entries(response.getHeaders()).map(([name, value]) => [name, String(value)] as const);
  return { headers: [...set, ...pairsOf(completeHeaders(response, planned))], body: planned.text };
}

function completeHeaders(
  response: ServerResponse,
  { status, text, headers = NO_HEADERS }: PlannedResponse,
): string[] {
  const type = response.hasHeader('content-type') ? NO_HEADERS : PLAIN_TEXT;
  return [...headers, ...bodyHeaders(status, text, type)];
}

const PLAIN_TEXT: readonly string[] = ['content-type', 'text/plain; charset=utf-8'];

function bodyHeaders(status: number, text: string, type: readonly string[]): readonly string[] {
  // A 204 has no Content-Length (RFC 9110, 8.6). On a 304, Content-Length would give the length of another response's body.
  if (text === '') return status === 204 || status === 304 ? NO_HEADERS : EMPTY;
  return [...type, 'content-length', String(Buffer.byteLength(text))];
}

/** Sends status and headers at once, then a byte every `dripMs` until the returned function is called. */
export function sendSlowResponse(
  response: ServerResponse,
  { status, headers }: { readonly status: number; readonly headers: readonly string[] },
  { clock, dripMs }: { readonly clock: Clock; readonly dripMs: number },
): () => void {
  let cancel: () => void;
  const drip = (): void => {
    response.write('.');
    cancel = clock.after(dripMs, drip);
  };
  response.writeHead(status, [...headers]);
  drip();
  return () => cancel();
}
