import { curlCommand, shownHeader, shownUrl } from '../../../capture/curl-command.ts';
import type { Capture } from '../../../capture/capture.ts';
import { endToEndHeaders } from '../../../receiver/response/forwarding.ts';
import { parseTree, pretty } from '../body/json-tree.ts';
import type { Setup } from '../../wire.ts';
import type { Api } from './api.ts';
import { routeHash } from './route.ts';

export type CopiedForm = 'curl' | 'fixture' | 'capture' | 'body' | 'link';

export interface CopyContext {
  readonly api: Api;
  readonly id: number;
  /** Target URL of a replay. Empty if there is none. */
  readonly url: string;
  /** URL of the inbox, without its token. */
  readonly pageUrl: string;
  readonly setup: Setup;
}

/** The text to copy for a request. */
export async function copiedText(
  what: CopiedForm,
  { api, id, url, pageUrl, setup }: CopyContext,
): Promise<string> {
  // Leaves out the token, because it would allow others to sign requests.
  if (what === 'link') return pageUrl + routeHash({ selectedId: id, markedId: undefined });
  const capture = await api.capture(id);
  switch (what) {
    case 'body':
      return textOfBody(capture);
    case 'curl':
      return asCurl(capture, url === '' ? `${setup.receiverUrl}${capture.url}` : url);
    case 'fixture':
      return asFixture(capture);
    case 'capture':
      return `${JSON.stringify(capture)}\n`;
    default:
      return what satisfies never;
  }
}

function textOfBody({ body }: Capture): string {
  if (body === undefined) throw new Error('the body is no text; copy the capture, which has its bytes');
  return body;
}

/** A curl command that posts a request to `url`, with variables for masked values. */
export function asCurl({ headers, body, bodyBase64 }: Capture, url: string): string {
  const shown = endToEndHeaders(headers.flat()).map((pair) => shownHeader(pair, { showSecrets: false }));
  return curlCommand({
    url: shownUrl(url, { showSecrets: false }),
    headers: shown,
    body: bodyBase64 === undefined ? body : { base64: bodyBase64 },
  });
}

/** A file for `hooks replay`: the message if the body is a JSON object, otherwise the capture, which supports any bytes. */
export function asFixture(capture: Capture): string {
  const tree = capture.body === undefined ? undefined : parseTree(capture.body);
  return `${tree?.kind === 'object' ? pretty(tree) : JSON.stringify(capture, undefined, 2)}\n`;
}
