import { isUtf8 } from 'node:buffer';
import type { RecordedRequest } from '../../../app/recording-transport.ts';
import {
  curlCommand,
  shownHeader,
  shownUrl,
  type UrlPiece,
  type ShownHeader,
} from '../../../capture/curl-command.ts';
import { printable } from '../../../redact.ts';
import { escapeInJson, jsonLine } from '../../print/json-line.ts';

export type RequestFormat = 'text' | 'json' | 'curl';

interface Shown {
  readonly format: RequestFormat;
  /** Otherwise `$HOOKS_…` stands in their place. */
  readonly showSecrets: boolean;
}

export interface RequestText {
  readonly text: string;
  /** The variables that stand for secrets in it. */
  readonly variables: readonly string[];
}

/** A request that was not sent, for `--dry-run` and `--curl`. */
export function requestText(request: RecordedRequest, { format, showSecrets }: Shown): RequestText {
  const headers = pairs(request.headers).map((pair) => shownHeader(pair, { showSecrets }));
  const bytes = Buffer.from(request.body);
  const body = isUtf8(bytes) ? bytes.toString() : { base64: bytes.toString('base64') };
  const url = shownUrl(request.url, { showSecrets });
  const variables = [...url, ...headers].flatMap(({ variable }) => variable ?? []);
  return { text: textIn(format, { url, headers, body }), variables };
}

interface Request {
  readonly url: readonly UrlPiece[];
  readonly headers: readonly ShownHeader[];
  /** What is no text goes in base64. */
  readonly body: string | { readonly base64: string };
}

function textIn(format: RequestFormat, { url, headers, body }: Request): string {
  switch (format) {
    case 'text':
      return `POST ${spelled(url)}\n${headers.map((each) => `${printable(each.name)}: ${plain(each)}\n`).join('')}\n${plainBody(body)}\n\n`;
    case 'json':
      return jsonLine({
        method: 'POST',
        url: spelled(url),
        headers: headers.map(({ name, value, variable }) => [
          name,
          variable === undefined ? value : `$${variable}`,
        ]),
        ...(typeof body === 'string' ? { body } : { bodyBase64: body.base64 }),
      });
    case 'curl':
      return `${curlCommand({ url, headers, body })}\n`;
    default:
      return format satisfies never;
  }
}

function plain({ value, variable }: ShownHeader): string {
  return variable === undefined ? printable(value, 10_000) : `$${variable}`;
}

function plainBody(body: Request['body']): string {
  return typeof body === 'string' ? escapeInJson(body) : `base64: ${body.base64}`;
}

function spelled(url: readonly UrlPiece[]): string {
  return url.map(({ text, variable }) => (variable === undefined ? text : `$${variable}`)).join('');
}

function pairs(flat: readonly string[]): [string, string][] {
  const all: [string, string][] = [];
  for (let at = 0; at + 1 < flat.length; at += 2) all.push([flat[at] ?? '', flat[at + 1] ?? '']);
  return all;
}
