import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, expect } from 'vitest';

/** The secret that these tests look for in all output. In a URL it is percent-encoded. */
export const CANARY = 'CANARY-7f3a/+x';
export const CANARY_IN_URL = encodeURIComponent(CANARY);
/** The shared secret. It differs from CANARY, because it is never sent: masking what was sent would not hide it. */
export const SHARED_CANARY = 'CANARY-5h4r/+y';

/** Texts that reveal a canary, even if it is URL-encoded, cut off, or in base64 at any of the three offsets. */
const TELLTALES = ['CANARY', ...['', 'u', 'us'].map(encodedAfter)];

/** Returns the base64 characters of a canary that do not depend on the bytes before and after the canary. */
function encodedAfter(before: string): string {
  const encoded = Buffer.from(`${before}CANARY-`).toString('base64');
  return encoded.slice(before === '' ? 0 : before.length + 1).replace(/.=*$/, '');
}

export function expectNoCanary(what: string, text: string): void {
  const found = TELLTALES.find((telltale) => text.includes(telltale));
  const at = found === undefined ? 0 : text.indexOf(found);
  expect([what, found && text.slice(Math.max(0, at - 100), at + 100)]).toEqual([what, undefined]);
}

/** Returns the names and contents of all files in a folder, without the contents of the `given` files. */
export async function writtenIn(folder: string, given: readonly string[] = []): Promise<string> {
  const names = await readdir(folder, { recursive: true });
  const texts = names.map(async (name) => {
    if (given.includes(name) || !(await stat(join(folder, name))).isFile()) return name;
    return `${name}\n${await readFile(join(folder, name), 'latin1')}`;
  });
  return (await Promise.all(texts)).join('\n');
}

/** Returns a response that repeats the request, and the secrets in several encodings. */
function gossip(rawHeaders: readonly string[], url: string): string {
  const headers = rawHeaders.join(' ');
  const credentials = Buffer.from(/(?:Basic|Bearer) (\S+)/i.exec(headers)?.[1] ?? '', 'base64').toString();
  // A tracking API does not know the shared secret.
  const known = url.startsWith('/v1/') ? [CANARY] : [CANARY, SHARED_CANARY];
  const spellings = known.flatMap((secret) => [
    secret,
    encodeURIComponent(secret),
    Buffer.from(secret).toString('base64'),
  ]);
  return `you sent ${headers} (${credentials}) to ${url} (${decodeURIComponent(url)}), expected ${spellings.join(' or ')}`;
}

/**
 * Starts a receiver, which is also a proxy, that rejects all requests and repeats them in its status line and body:
 * the worst that it can do to a secret. Below `/long` the repeated credentials are cut at any offset. Returns the port.
 */
export async function startEcho(): Promise<number> {
  let requests = 0;
  const server = createServer((request, response) => {
    requests++;
    const { rawHeaders, url = '' } = request;
    const text = gossip(rawHeaders, url);
    const credentials = rawHeaders.find((each) => each.startsWith('Basic '))?.slice(6) ?? '';
    const body = url.startsWith('/long')
      ? '-'.repeat(3 * (requests % 12)) + `${credentials} `.repeat(100)
      : text;
    response.writeHead(503, text.replace(/[^ -~]/g, ''), {
      'retry-after': '0',
      'x-echo': text.replace(/[^ -~]/g, ''),
    });
    response.end(body);
  });
  server.on('connect', ({ rawHeaders, url = '' }, socket) => {
    socket.end(`HTTP/1.1 407 ${gossip(rawHeaders, url)}\r\n\r\n`);
  });
  afterAll(() => server.close().closeAllConnections());
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return (server.address() as AddressInfo).port; // it listens on a port
}
