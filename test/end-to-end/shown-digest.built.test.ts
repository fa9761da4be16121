import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createHash, createHmac } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import { buffer } from 'node:stream/consumers';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { hooks } from '../cli/run-in-process.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { testing } from './testing.ts';

const SECRET = 'a-secret-of-16';
const hmac = (secret: string, text: string): string => createHmac('sha1', secret).update(text).digest('hex');
const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
const indented = (body: string): string => JSON.stringify(JSON.parse(body), null, 2);

type Answer = (body: string, signature: string) => string;

/** Starts a receiver that rejects all messages with this text. Returns its URL. */
async function rejecting(answer: Answer): Promise<string> {
  const reject = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await buffer(request);
    // A receiver may also repeat the secret in a header that is shown.
    response
      .writeHead(401, { server: SECRET })
      .end(answer(body.toString(), String(request.headers['x-signature'])));
  };
  const server = createServer((request, response) => void reject(request, response)).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`; // a server that listens has an address
}

const TWO_MISTAKES = 'with a newline at the end of the secret and indented by 2 spaces';

describe('a receiver that shows the digest that it computes', () => {
  it.each<[string, string, Answer]>([
    ['two mistakes at once', TWO_MISTAKES, (body) => `expected ${hmac(`${SECRET}\n`, indented(body))}`],
    [
      'another notation, with the received signature beside it',
      'HMAC-SHA1 in base64',
      (body, got) => {
        const digest = createHmac('sha1', SECRET).update(body).digest('base64');
        return JSON.stringify({ error: 'bad signature', got, want: digest });
      },
    ],
    [
      'the right digest, compared in a wrong way',
      'it shows the right signature as the one that it expects',
      (body, got) => `signature mismatch: got ${got}, expected <${hmac(SECRET, body)}>`,
    ],
  ])('is explained by send: %s', async (_, cause, answer) => {
    const url = await rejecting(answer);
    const args = ['send', 'track', '--event', 'A', '--user-id', 'u', '--url', url, '--secret', SECRET];
    const { code, stdout, stderr } = await hooks(args);
    expect([code, stdout]).toEqual([1, expect.stringContaining(cause)]);
    expect(stdout + stderr).not.toContain(SECRET);
  });

  it.each<[string, Answer]>([
    ['of another secret', (body) => `expected ${hmac('another', body)}`],
    ['that is no digest of the body', () => `request ${'0123456789abcdef'.repeat(4)} is bad signature`],
    ['that was received', (_, got) => `bad signature ${got}`],
    ['of the body alone, as a log has it', (body) => `bad signature; body sha256 ${sha256(body)}`],
    ['beside the secret, encoded as in HTML', () => `<p>bad signature for ${SECRET.replace('-', '&#x2D;')}`],
  ])('gets no false cause: a digest %s', async (_, answer) => {
    const url = await rejecting(answer);
    const args = ['send', 'track', '--event', 'A', '--user-id', 'u', '--url', url, '--secret', SECRET];
    const { stdout } = await hooks(args);
    expect(stdout).not.toContain('cause:');
    expect(stdout).not.toContain(SECRET);
  });

  it('is explained by hooks test from its output', async () => {
    const file = join(temporaryFolder(), 'receiver.mjs');
    writeFileSync(file, PRINTING);
    const { code, stdout } = await testing(['node', file], ['--only', 'track']);
    expect([code, stdout]).toEqual([1, expect.stringContaining(TWO_MISTAKES)]);
  });
});

/** A receiver that responds with 401 alone, and prints what it computes. */
const PRINTING = `
import { createHmac } from 'node:crypto';
import { createServer } from 'node:http';
import { buffer } from 'node:stream/consumers';
createServer(async (request, response) => {
  const body = (await buffer(request)).toString();
  let text = body;
  try { text = JSON.stringify(JSON.parse(body), null, 2); } catch {}
  const digest = createHmac('sha1', process.env.HOOKS_SECRET + '\\n').update(text).digest('hex');
  console.log('got', request.headers['x-signature'], 'computed', digest);
  response.writeHead(401).end();
}).listen(Number(process.env.PORT), '127.0.0.1');
`;
