import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sign } from '../../src/signature/sign.ts';
import { verify } from '../../src/signature/verify.ts';
import { hooks, startHooks } from './run-in-process.ts';

const WHSEC = `whsec_${Buffer.from('0123456789abcdef0123456789abcdef').toString('base64')}`;
const BOTH = ['--secret', 'plain', '--secret', WHSEC, '--scheme', 'segment,standard-webhooks'];
const BODY = '{"a":1}';

interface SeenRequest {
  readonly headers: IncomingHttpHeaders;
  readonly rawHeaders: readonly string[];
  readonly body: string;
}

/** A receiver that asks `isRight`, and keeps what came. */
async function receiver(isRight: (request: SeenRequest) => boolean) {
  const seen: SeenRequest[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString();
      const { headers, rawHeaders } = request;
      seen.push({ headers, rawHeaders, body });
      const isJson = body.startsWith('{') && body.endsWith('}');
      response.writeHead(isRight({ headers, rawHeaders, body }) ? (isJson ? 200 : 400) : 401).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo; // a TCP server has one
  return { url: `http://127.0.0.1:${port}/`, seen, close: () => server.close() };
}

/** Verifies as a receiver of the time before does: X-Signature, and nothing else. */
const checksOld = ({ headers, body }: SeenRequest): boolean => headers['x-signature'] === sign(body, 'plain');

describe('several schemes on the command line', () => {
  let old: Awaited<ReturnType<typeof receiver>>;
  let both: typeof old;

  beforeAll(async () => {
    old = await receiver(checksOld);
    both = await receiver(({ rawHeaders: headers, body }) => {
      const scheme = 'segment,standard-webhooks';
      return verify({ body, headers, secrets: ['plain', WHSEC], scheme }).valid;
    });
  });

  afterAll(() => [old, both].forEach(({ close }) => close()));

  it('are both sent, and each verifies with the code of its own', async () => {
    const sent = await hooks([
      'send',
      'track',
      '--event',
      'A',
      '--message-id',
      'm_1',
      '--url',
      old.url,
      ...BOTH,
    ]);
    expect(sent.stderr + sent.stdout).toContain('delivered');
    const { headers, body = '' } = old.seen.at(-1) ?? {};
    expect(headers?.['webhook-id']).toBe('m_1');
    expect(headers?.['x-signature']).toBe(sign(body, 'plain'));
    const given = Object.fromEntries(
      Object.entries(headers ?? {}).map(([name, value]) => [name, String(value)]),
    );
    expect(new Webhook(WHSEC).verify(body, given)).toMatchObject({ event: 'A' });
  });

  it('find a receiver that checks the old one only, and pass one that checks both', async () => {
    const wrong = await hooks(['test', old.url, ...BOTH, '-o', 'json']);
    expect(wrong.code).toBe(1);
    const failed = wrong.stdout.split('\n').filter((line) => line.includes('"outcome":"failed"'));
    expect(failed.map((line) => (JSON.parse(line) as { check: string }).check)).toEqual([
      'forged-standard-webhooks',
      'old-timestamp-standard-webhooks',
      'other-timestamp-standard-webhooks',
      'other-id-standard-webhooks',
    ]);
    const right = await hooks(['test', both.url, ...BOTH]);
    expect(right.code, right.stdout).toBe(0);
  });

  it('are told by listen by their headers, and never where a signature is required', async () => {
    const shows = startHooks(['listen', '--port', '0', '--secret', 'plain', '-o', 'json', '--count', '1']);
    const { url } = JSON.parse((await shows.lines.next()).value ?? '') as { url: string };
    const github = ['--scheme', 'github', '--secret', 'plain', '--retry-for', '0'];
    await hooks(['send', 'track', '--event', 'A', '--url', url, ...github]);
    expect((await shows.exited).stdout).toContain('"verdict":"valid","secret":1,"scheme":"github"');
    const required = ['listen', '--port', '0', '--secret', 'plain', '-o', 'json', '--require-signature'];
    const strict = startHooks(required);
    const { url: strictUrl } = JSON.parse((await strict.lines.next()).value ?? '') as { url: string };
    const refused = await hooks(['send', 'track', '--event', 'A', '--url', strictUrl, ...github]);
    expect(refused.code).toBe(1);
    expect((await strict.stop()).stdout).toContain('"verdict":"unsigned"');
  });
});

describe('hooks sign and verify', () => {
  it('prints the headers of schemes, which verify takes for a raw body', async () => {
    const at = String(Math.floor(Date.now() / 1000));
    const signed = await hooks(['sign', ...BOTH, '--id', 'msg_1', '--timestamp', at], { stdin: BODY });
    const lines = signed.stdout.trim().split('\n');
    expect(lines.slice(0, 3)).toEqual([
      `X-Signature: ${sign(BODY, 'plain')}`,
      'webhook-id: msg_1',
      `webhook-timestamp: ${at}`,
    ]);
    const headers = lines.flatMap((line) => ['-H', line]);
    const secrets = ['--secret', 'plain', '--secret', WHSEC];
    const verified = await hooks(['verify', ...secrets, ...headers, '-o', 'json'], { stdin: BODY });
    expect(JSON.parse(verified.stdout)).toMatchObject({ valid: true, scheme: 'segment,standard-webhooks' });
    const changed = await hooks(['verify', ...secrets, ...headers], { stdin: `${BODY} ` });
    expect(changed.code).toBe(1);
  });

  it('says of a signature of another scheme whether it is right', async () => {
    const { stdout } = await hooks(['sign', '--secret', 's', '--scheme', 'github'], { stdin: BODY });
    const looked = ['verify', '--secret', 's', '--scheme', 'segment', '-H', stdout.trim()];
    const right = await hooks(looked, { stdin: BODY });
    expect(right).toMatchObject({ code: 2, stdout: `${sign(BODY, 's')}\n` });
    expect(right.stderr).toContain('X-Hub-Signature-256 (GitHub) came, which is right by the scheme github');
    expect((await hooks(looked, { stdin: '{}' })).stderr).toContain(
      'which is wrong, too, by the scheme github',
    );
  });

  it('compares the age in a capture as of the time when it came', async () => {
    const seconds = 1_700_000_000;
    const flags = ['sign', '--secret', 's', '--scheme', 'slack', '--timestamp', String(seconds)];
    const { stdout } = await hooks(flags, { stdin: BODY });
    const headers = stdout
      .trim()
      .split('\n')
      .map((line) => line.split(': '));
    const request = { capture: 1, method: 'POST', url: '/', headers, body: BODY };
    const check = (at: number, ...more: string[]) => {
      const stdin = JSON.stringify({ ...request, at: new Date(at * 1000).toISOString() });
      return hooks(['verify', '--secret', 's', ...more], { stdin });
    };
    expect((await check(seconds + 200)).code).toBe(0);
    const old = await check(seconds + 3_600);
    expect(old.code).toBe(1);
    expect(old.stdout).toContain(
      'its timestamp is 1h old, and slack allows 300s; the signature itself is right',
    );
    expect((await check(seconds + 3_600, '--ignore-timestamp')).code).toBe(0);
  });

  it.each([
    [['sign', '--scheme', 'gihub'], 'Unknown signature scheme `gihub` (--scheme)'],
    [['sign', '--scheme', 'standard-webhooks'], 'none begins with whsec_ (--scheme)'],
    [['sign', '--scheme', 'segment,segment-batch'], 'both want the header X-Signature (--scheme)'],
    [['verify', '--scheme', 'standard-webhooks'], 'none begins with whsec_ (--scheme)'],
    [['sign', '--id', 'a'], '`--id` is for schemes that sign it'],
    [
      ['sign', '--scheme', 'slack', '--timestamp', '1700000000000'],
      'Unix time in seconds, got 1700000000000',
    ],
  ])('exits with 2 for %s', async (args, sentence) => {
    const { code, stderr } = await hooks([...args, '--secret', 's'], { stdin: BODY });
    expect(code).toBe(2);
    expect(stderr).toContain(sentence);
  });
});
