import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect } from 'vitest';

/** What every secret of these tests is. In a URL it has to be written differently. */
export const CANARY = 'CANARY-7f3a/+x';
export const CANARY_IN_URL = encodeURIComponent(CANARY);
/** A shared secret is never sent, so what is sent must not hide it. */
export const SHARED_CANARY = 'CANARY-5h4r/+y';

/** What betrays one, URL-encoded or cut short too; and in base64, wherever in the encoded text it begins. */
const TELLTALES = ['CANARY', ...['', 'u', 'us'].map(encodedAfter)];

/** The characters that depend on nothing before it and nothing behind it. */
function encodedAfter(before: string): string {
  const encoded = Buffer.from(`${before}CANARY-`).toString('base64');
  return encoded.slice(before === '' ? 0 : before.length + 1).replace(/.=*$/, '');
}

export function expectNoCanary(what: string, text: string): void {
  const found = TELLTALES.find((telltale) => text.includes(telltale));
  const at = found === undefined ? 0 : text.indexOf(found);
  expect([what, found && text.slice(Math.max(0, at - 100), at + 100)]).toEqual([what, undefined]);
}

/** All that was written under a folder, names included, but for what the test has put there. */
export async function writtenIn(folder: string, given: readonly string[] = []): Promise<string> {
  const names = await readdir(folder, { recursive: true });
  const texts = names.map(async (name) => {
    if (given.includes(name) || !(await stat(join(folder, name))).isFile()) return name;
    return `${name}\n${await readFile(join(folder, name), 'latin1')}`;
  });
  return (await Promise.all(texts)).join('\n');
}

/** What a receiver may say that knows all and keeps nothing to itself, in as many spellings. */
function gossip(rawHeaders: readonly string[], url: string): string {
  const headers = rawHeaders.join(' ');
  const credentials = Buffer.from(/(?:Basic|Bearer) (\S+)/i.exec(headers)?.[1] ?? '', 'base64').toString();
  // A tracking API has no part in it.
  const known = url.startsWith('/v1/') ? [CANARY] : [CANARY, SHARED_CANARY];
  const spellings = known.flatMap((secret) => [
    secret,
    encodeURIComponent(secret),
    Buffer.from(secret).toString('base64'),
  ]);
  return `you sent ${headers} (${credentials}) to ${url} (${decodeURIComponent(url)}), expected ${spellings.join(' or ')}`;
}

/**
 * Refuses everything, repeating all that it was sent in its status line and its body: the worst that a receiver, or a
 * proxy, can do to a secret. Below `/long` what it repeats is cut wherever a response may be.
 */
export function startEcho(): { readonly port: () => number; readonly requests: () => number } {
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
  beforeAll(async () => {
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve);
    });
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });
  return { port: () => (server.address() as AddressInfo).port, requests: () => requests }; // it listens on a port
}
