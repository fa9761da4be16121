import { curlCommand, shownHeader, shownUrl } from '../../../capture/curl-command.ts';
import type { Capture } from '../../../capture/capture.ts';
import { endToEndHeaders } from '../../forwarding.ts';
import { parseTree, pretty } from './json-tree.ts';

/** A request as a command, to be posted to `url`; variables stand for what was masked. */
export function asCurl({ headers, body, bodyBase64 }: Capture, url: string): string {
  const shown = endToEndHeaders(headers.flat()).map((pair) => shownHeader(pair, { showSecrets: false }));
  return curlCommand({
    url: shownUrl(url, { showSecrets: false }),
    headers: shown,
    body: bodyBase64 === undefined ? body : { base64: bodyBase64 },
  });
}

/** What `hooks replay` reads: the message when the body is one JSON object, else the capture, which has any bytes. */
export function asFixture(capture: Capture): string {
  const tree = capture.body === undefined ? undefined : parseTree(capture.body);
  return `${tree?.kind === 'object' ? pretty(tree) : JSON.stringify(capture, undefined, 2)}\n`;
}
