import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { ConfigError, HooksError, ValidationError } from '../errors.ts';
import { bufferBody } from '../service/request/buffer-body.ts';
import { isObject } from '../validate-options.ts';
import { FIELD_HEADER } from './wire.ts';

export interface InboxRequest {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Path below `/_hooks`. Empty for the page. */
  readonly path: string;
  readonly query: URLSearchParams;
}

export interface InboxRejection {
  readonly status: number;
  readonly text: string;
  /** The field of the action that is wrong, such as `url`. */
  readonly field?: string | undefined;
}

/** Headers of every response, so that browsers do not sniff, frame or cache it, or pass it to another site. */
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

/** Maximum size of the body of an action: an edited body of 1 MiB in which each character is escaped. */
const MAX_ACTION_BYTES = 7 * 1024 * 1024;

/** Reads the JSON object of an action. Rejects with SyntaxError if it is malformed. */
export function readActionBody(request: IncomingMessage): Promise<Readonly<Record<string, unknown>>> {
  return new Promise((resolve, reject) => {
    bufferBody(request, { maxBytes: MAX_ACTION_BYTES }, (result) => {
      try {
        if (result.kind !== 'body') throw new SyntaxError(result.kind);
        const value: unknown = JSON.parse(result.body.toString());
        if (!isObject(value)) throw new SyntaxError('no object');
        resolve(value);
      } catch (error) {
        reject(error);
      }
    });
  });
}

export function inboxRejectionOf(error: unknown): InboxRejection {
  if (error instanceof HooksError) {
    const text = [error.message, error.hint].filter(Boolean).join('; ');
    return { status: 400, text, field: fieldOf(error) };
  }
  return error instanceof SyntaxError || error instanceof TypeError
    ? { status: 400, text: 'malformed request' }
    : { status: 500, text: String(error) };
}

function fieldOf(error: HooksError): string | undefined {
  if (error instanceof ValidationError) return error.path;
  return error instanceof ConfigError ? error.key : undefined;
}

export function respondRejected(
  { request, response }: InboxRequest,
  { status, text, field }: InboxRejection,
): void {
  request.resume();
  if (response.headersSent) return void response.end();
  response.statusCode = status;
  response.setHeader('content-type', 'text/plain; charset=utf-8');
  if (field !== undefined) response.setHeader(FIELD_HEADER, encodeURIComponent(field));
  response.end(`${text}\n`);
}

export function respondJson({ response }: InboxRequest, value: object): void {
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify(value));
}

export function respondBytes({ response }: InboxRequest, body: Uint8Array): void {
  setDownload(response, 'body');
  response.end(body);
}

/** Sends lines as fast as the page reads them, so that few lines are in memory at once. */
export async function respondLines({ response }: InboxRequest, lines: Iterable<string>): Promise<void> {
  setDownload(response, 'captures.ndjson');
  await pipeline(Readable.from(lines), response);
}

function setDownload(response: ServerResponse, filename: string): void {
  response.setHeader('content-type', 'application/octet-stream');
  response.setHeader('content-disposition', `attachment; filename="${filename}"`);
}
