import { isUtf8 } from 'node:buffer';
import type { RecordedRequest } from '../../../app/recording-transport.ts';
import {
  curlCommand,
  shownHeader,
  shownUrl,
  type CurlRequest,
  type ShownHeader,
} from '../../../capture/curl-command.ts';
import { pairsOf } from '../../../receiver/response/forwarding.ts';
import { escapeInJson, printable } from '../../../redact.ts';
import { jsonLine } from '../../json-line.ts';

export type RequestFormat = 'text' | 'json' | 'curl';

interface RequestTextOptions {
  readonly format: RequestFormat;
  /** Whether to print secrets instead of `$HOOKS_…` variables. */
  readonly showSecrets: boolean;
}

interface RequestText {
  readonly text: string;
  /** Names of the environment variables that the text of the request has in place of secrets. */
  readonly variables: readonly string[];
}

/** Formats a request for `--dry-run` and `--curl`, which do not send it. */
export function requestText(
  request: RecordedRequest,
  { format, showSecrets }: RequestTextOptions,
): RequestText {
  const headers = pairsOf(request.headers).map((pair) => shownHeader(pair, { showSecrets }));
  const bytes = Buffer.from(request.body);
  const body = isUtf8(bytes) ? bytes.toString() : { base64: bytes.toString('base64') };
  const url = shownUrl(request.url, { showSecrets });
  const variables = [...url, ...headers].flatMap(({ variable }) => variable ?? []);
  return { text: textInFormat(format, { url, headers, body }), variables };
}

function textInFormat(format: RequestFormat, { url, headers, body }: CurlRequest): string {
  switch (format) {
    case 'text':
      return `POST ${urlText(url)}\n${headers.map((each) => `${printable(each.name)}: ${headerText(each)}\n`).join('')}\n${bodyText(body)}\n\n`;
    case 'json':
      return jsonLine({
        method: 'POST',
        url: urlText(url),
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

function headerText({ value, variable }: ShownHeader): string {
  return variable === undefined ? printable(value, 10_000) : `$${variable}`;
}

function bodyText(body: CurlRequest['body']): string {
  return typeof body === 'string' ? escapeInJson(body) : `base64: ${body.base64}`;
}

function urlText(url: CurlRequest['url']): string {
  return url.map(({ text, variable }) => (variable === undefined ? text : `$${variable}`)).join('');
}
