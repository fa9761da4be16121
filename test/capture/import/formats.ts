import { curlCommand } from '../../../src/capture/curl-command.ts';
import { jsonLine } from '../../../src/cli/json-line.ts';

/** A request to write in the format of another tool. */
export interface Written {
  readonly url: string;
  readonly body: Buffer;
}

const headersOf = ({ body }: Written): Record<string, string> => ({
  'Content-Type': 'application/json',
  'Content-Length': String(body.length),
});

function rawRequest(written: Written): Buffer {
  const lines = Object.entries(headersOf(written)).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.concat([Buffer.from(`POST ${written.url} HTTP/1.1\r\n${lines.join('')}\r\n`), written.body]);
}

/** An entry of a HAR file, with a response that looks like a request. */
export function harEntry(written: Written): object {
  const headers = Object.entries(headersOf(written)).map(([name, value]) => ({ name, value }));
  const request = { method: 'POST', url: `https://a.example${written.url}`, headers };
  const echo = JSON.stringify({ method: 'POST', url: '/echo', headers: {}, body: 'echo' });
  return {
    startedDateTime: '2026-11-01T10:00:00.000Z',
    request: { ...request, bodySize: -1, postData: { text: written.body.toString() } },
    response: { status: 200, headers: [], content: { text: echo } },
  };
}

/** Quotes a text as Chrome copies it for bash: with `$'…'`, and other characters as UTF-16. */
function ansiQuoted(text: string): string {
  const escaped = text.replaceAll(/[^ -~]|['!\\]/g, (each) =>
    each === "'" || each === '\\' ? `\\${each}` : `\\u${each.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  return `$'${escaped}'`;
}

/** Quotes a text as Chrome copies it for cmd.exe. */
function cmdQuoted(text: string): string {
  const escaped = text
    .replaceAll('\\', '\\\\')
    .replaceAll('"', '\\"')
    .replaceAll(/[^\w\s\-:=+~'/.,?;()*`]/gu, '^$&')
    .replaceAll(/%(?=\w)/g, '%^')
    .replaceAll(/\r?\n/g, '^\n\n');
  return `^"${escaped}^"`;
}

/** The same requests as each tool writes them. Those of `texts` cannot hold bytes that are not text. */
export const FORMATS = {
  bytes: {
    'a raw HTTP request': ([first]: readonly Written[]) => (first ? rawRequest(first) : ''),
    'the requests of ngrok': (all: readonly Written[]) =>
      JSON.stringify({
        requests: all.map((each) => ({
          start: '2026-11-01T10:00:00.000Z',
          request: { method: 'POST', uri: each.url, headers: {}, raw: rawRequest(each).toString('base64') },
          response: { status_code: 200, headers: {}, raw: '' },
        })),
      }),
    'a log of Lambda': (all: readonly Written[]) =>
      all.map((each) => `START\n2026-11-01 INFO ${jsonLine(lambdaEvent(each))}END\n`).join(''),
  },
  texts: {
    'a HAR file': (all: readonly Written[]) =>
      JSON.stringify({ log: { entries: all.map(harEntry) } }, null, 1),
    'the requests of webhook.site': (all: readonly Written[]) =>
      JSON.stringify({
        data: all.map((each) => ({
          method: 'POST',
          url: `https://webhook.site${each.url}`,
          headers: Object.fromEntries(
            Object.entries(headersOf(each)).map(([name, value]) => [name, [value]]),
          ),
          content: each.body.toString(),
        })),
      }),
    'curl commands of hooks': (all: readonly Written[]) =>
      all
        .map((each) =>
          curlCommand({ url: [{ text: `http://a${each.url}` }], headers: [], body: each.body.toString() }),
        )
        .join('\n'),
    'curl commands for bash': (all: readonly Written[]) =>
      all
        .map((each) => `curl 'http://a${each.url}' --data-raw ${ansiQuoted(each.body.toString())}`)
        .join(' ;\n'),
    'curl commands for cmd.exe': (all: readonly Written[]) =>
      all
        .map(
          (each) =>
            `curl ${cmdQuoted(`http://a${each.url}`)} ^\r\n  --data-raw ${cmdQuoted(each.body.toString())}`,
        )
        .join(' &\r\n'),
  },
} as const;

function lambdaEvent(written: Written): object {
  return {
    version: '2.0',
    rawPath: written.url,
    headers: headersOf(written),
    requestContext: { http: { method: 'POST' } },
    body: written.body.toString('base64'),
    isBase64Encoded: true,
  };
}
