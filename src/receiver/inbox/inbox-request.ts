import type { IncomingMessage, ServerResponse } from 'node:http';
import { HooksError } from '../../errors.ts';
import { bufferBody } from '../read-body.ts';
import type { ReplayBody } from './wire.ts';

/** One request for the inbox, and its response. */
export interface InboxRequest {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Below the root. */
  readonly path: string;
  readonly query: URLSearchParams;
}

export interface InboxRejection {
  readonly status: number;
  readonly text: string;
}

/** The headers of every response, which must not be sniffed, framed, cached, or passed to another site. */
const SAFETY: Readonly<Record<string, string>> = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'; sandbox",
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
};

export function setSafety(response: ServerResponse): void {
  for (const [name, value] of Object.entries(SAFETY)) response.setHeader(name, value);
}

/** The largest body of a replay request: a URL and the JSON around it. */
const MAX_WISH_BYTES = 8 * 1024;

/** Reads the body of a replay request. Rejects with a SyntaxError when it is malformed. */
export function readReplayBody(request: IncomingMessage): Promise<ReplayBody> {
  return new Promise((resolve, reject) => {
    bufferBody(request, { maxBytes: MAX_WISH_BYTES }, (result) => {
      try {
        if (result.kind !== 'body') throw new SyntaxError(result.kind);
        const { url } = JSON.parse(Buffer.from(result.body).toString()) as { url?: unknown }; // the URL is checked below
        resolve(typeof url === 'string' ? { url } : {});
      } catch (error) {
        reject(error);
      }
    });
  });
}

/** The rejection for an error. */
export function inboxRejectionOf(error: unknown): InboxRejection {
  if (error instanceof HooksError) {
    return { status: 400, text: [error.message, error.hint].filter(Boolean).join('. ') };
  }
  return error instanceof SyntaxError || error instanceof TypeError
    ? { status: 400, text: 'malformed request' }
    : { status: 500, text: String(error) };
}

export function respondRejected({ request, response }: InboxRequest, { status, text }: InboxRejection): void {
  request.resume();
  if (response.headersSent) return void response.end();
  response.statusCode = status;
  response.setHeader('content-type', 'text/plain; charset=utf-8');
  response.end(`${text}\n`);
}

export function respondJson({ response }: InboxRequest, value: object): void {
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify(value));
}

export function respondBytes({ response }: InboxRequest, body: Uint8Array): void {
  response.setHeader('content-type', 'application/octet-stream');
  response.setHeader('content-disposition', 'attachment; filename="body"');
  response.end(body);
}
