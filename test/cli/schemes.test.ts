import { createHash } from 'node:crypto';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { expectRejected } from './expect-rejected.ts';
import { argv } from '../end-to-end/argv.ts';
import { sign } from '../../src/signature/sign.ts';
import { verify } from '../../src/app/explained.ts';
import { hooks, startHooks } from './run-in-process.ts';

const WHSEC = `whsec_${Buffer.from('0123456789abcdef0123456789abcdef').toString('base64')}`;
const BOTH = ['--secret', 'plain', '--secret', WHSEC, '--scheme', 'segment,standard-webhooks'];
const BODY = '{"a":1}';

interface SeenRequest {
  readonly headers: IncomingHttpHeaders;
  readonly rawHeaders: readonly string[];
  readonly body: string;
}

/** Starts a receiver that accepts requests according to `isRight`, and records them. */
async function receiver(isRight: (request: SeenRequest) => boolean) {
  const seen: SeenRequest[] = [];
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { headers, rawHeaders } = request;
    const body = await text(request);
    seen.push({ headers, rawHeaders, body });
    const isJson = /^\s*\{.*\}\s*$/s.test(body);
    response.writeHead(isRight({ headers, rawHeaders, body }) ? (isJson ? 200 : 400) : 401).end();
  };
  const server = createServer((request, response) => void answer(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo; // a TCP server has one
  return { url: `http://127.0.0.1:${port}/`, seen, close: () => server.close() };
}

/** Verifies X-Signature alone, as receivers without other schemes do. */
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

  it.each(['send track --event A', 'replay -'])('are both printed by %s -o json', async (line) => {
    const stdin = line.startsWith('replay') ? '{"type":"track","event":"A","userId":"u"}' : '';
    const { stdout } = await hooks(argv`${line.split(' ')} --url ${old.url} ${BOTH} -o json`, { stdin });
    const { headers } = old.seen.at(-1) ?? {};
    expect(JSON.parse(stdout.split('\n', 1)[0] ?? '')).toMatchObject({
      signature: headers?.['x-signature'],
      signatures: {
        'X-Signature': headers?.['x-signature'],
        'webhook-signature': headers?.['webhook-signature'],
      },
    });
  });

  it('are both sent, and each verifies with its own code', async () => {
    const sent = await hooks(argv`send track --event A --message-id m_1 --url ${old.url} ${BOTH}`);
    expect(sent.stderr + sent.stdout).toContain('delivered');
    const { headers, body = '' } = old.seen.at(-1) ?? {};
    expect(headers?.['webhook-id']).toBe('m_1');
    expect(headers?.['x-signature']).toBe(sign(body, 'plain'));
    const given = Object.entries(headers ?? {}).map(([name, value]) => [name, String(value)] as const);
    expect(new Webhook(WHSEC).verify(body, Object.fromEntries(given))).toMatchObject({ event: 'A' });
  });

  it('fail a receiver that verifies only the old one, and pass a receiver that verifies both', async () => {
    const wrong = await hooks(argv`test ${old.url} ${BOTH} -o json`);
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

  it('are detected by listen from their headers, unless a signature is required', async () => {
    const shows = startHooks(argv`listen --port 0 --secret plain -o json --count 1`);
    const { url } = JSON.parse((await shows.lines.next()).value ?? '') as { url: string };
    const github = ['--scheme', 'github', '--secret', 'plain', '--retry-for', '0'];
    await hooks(argv`send track --event A --url ${url} ${github}`);
    expect((await shows.exited).stdout).toContain('"verdict":"valid","secret":1,"scheme":"github"');
    const strict = startHooks(argv`listen --port 0 --secret plain -o json --require-signature`);
    const { url: strictUrl } = JSON.parse((await strict.lines.next()).value ?? '') as { url: string };
    const rejected = await hooks(argv`send track --event A --url ${strictUrl} ${github}`);
    expect(rejected.code).toBe(1);
    expect((await strict.stop()).stdout).toContain('"verdict":"unsigned"');
  });
});

describe('a receiver that requires a scheme', () => {
  it('prints a command that sends with it, and tells a sender which header is missing', async () => {
    const file = join(await mkdtemp(join(tmpdir(), 'hooks-schemes-')), 'secret');
    await writeFile(file, WHSEC);
    const flags = ['--secret-file', file, '--scheme', 'standard-webhooks,segment', '--require-signature'];
    const listening = startHooks(argv`listen --port 0 ${flags}`);
    const first = (await listening.lines.next()).value ?? '';
    const url = /http\S+/.exec(first)?.[0] ?? '';
    await vi.waitFor(() => expect(listening.stderr()).toContain('Try: '));
    const [, line = ''] = /Try: hooks (.*)/.exec(listening.stderr()) ?? [];
    expect(line).toContain(` --scheme standard-webhooks --secret-file ${file}`);
    expect(await hooks(line.split(' '))).toMatchObject({ code: 0 });
    const other = ['send', 'track', '--event', 'A', '--url', url, '--secret', 's', '--retry-for', '0'];
    const refused = await hooks([...other, '--scheme', 'github']);
    expect(refused.stdout).toContain('the signature is missing (webhook-signature or X-Signature)');
    expect(refused.stdout).toContain('it expects another scheme, reads another header');
    expect(refused.stderr).toContain('send by the scheme that it verifies by (--scheme');
    await listening.stop();
  });
});

describe('a secret of Standard Webhooks', () => {
  it('needs no prefix if a flag or the headers name the scheme', async () => {
    const secret = WHSEC.slice('whsec_'.length);
    const by = ['--secret', secret, '--scheme', 'standard-webhooks'];
    const { stdout: headers } = await hooks(['sign', ...by], { stdin: BODY });
    for (const args of [by, by.slice(0, 2)]) {
      const { code, stdout } = await hooks(argv`verify ${args} -H ${headers}`, { stdin: BODY });
      expect(code, stdout).toBe(0);
    }
  });

  it('is warned about when it is short', async () => {
    const signing = ['sign', '--scheme', 'standard-webhooks', '--secret'];
    const { code, stderr } = await hooks([...signing, 'whsec_AA'], { stdin: BODY });
    expect([code, stderr]).toEqual([
      0,
      expect.stringContaining('fewer than 24 bytes, and Standard Webhooks asks for 24 to 64; make one with'),
    ]);
    expect(stderr).not.toContain('whsec_AA');
    const stripe = await hooks(['sign', '--scheme', 'stripe', '--secret', 'whsec_AA'], { stdin: BODY });
    expect(stripe.stderr).not.toContain('Standard Webhooks');
    expect((await hooks([...signing, `whsec_${'A'.repeat(32)}`], { stdin: BODY })).stderr).toBe('');
  });
});

describe('hooks sign and verify', () => {
  it('sign prints the headers of schemes, which verify accepts for a raw body', async () => {
    const at = String(Math.floor(Date.now() / 1000));
    const signed = await hooks(argv`sign ${BOTH} --id msg_1 --timestamp ${at}`, { stdin: BODY });
    const lines = signed.stdout.trim().split('\n');
    expect(lines.slice(0, 3)).toEqual([
      `X-Signature: ${sign(BODY, 'plain')}`,
      'webhook-id: msg_1',
      `webhook-timestamp: ${at}`,
    ]);
    const headers = lines.flatMap((line) => ['-H', line]);
    const secrets = ['--secret', 'plain', '--secret', WHSEC];
    const verified = await hooks(argv`verify ${secrets} ${headers} -o json`, { stdin: BODY });
    expect(JSON.parse(verified.stdout)).toMatchObject({ valid: true, scheme: 'segment,standard-webhooks' });
    const changed = await hooks(['verify', ...secrets, ...headers], { stdin: `${BODY} ` });
    expect(changed.code).toBe(1);
  });

  it('sign uses the message id as send does', async () => {
    const flags = ['--secret', WHSEC, '--scheme', 'standard-webhooks'];
    const signed = await hooks(argv`sign ${flags} --id a.1`, { stdin: BODY });
    expect(signed.stdout).toContain(`webhook-id: ${createHash('sha256').update('a.1').digest('hex')}\n`);
    expect(signed.stderr).toContain('note: the id is signed as its SHA-256');
    const sent = ['send', 'track', '--event', 'A', '--message-id', 'a.1', '--url', 'http://127.0.0.1:9/'];
    const { stdout } = await hooks([...sent, ...flags, '--dry-run']);
    expect(stdout).toContain(/webhook-id: \w+/.exec(signed.stdout)?.[0]);
  });

  it('verify reports what a signature of an unnamed scheme lacks, and requires it for a named one', async () => {
    const { stdout } = await hooks(['sign', ...BOTH], { stdin: BODY });
    const given = ['verify', '--secret', 'plain', '--secret', WHSEC];
    const headers = ['-H', stdout.replace(/webhook-signature: .*\n/, '')];
    const told = await hooks([...given, ...headers], { stdin: BODY });
    expect(told.code).toBe(0);
    expect(told.stdout).toContain('warning: webhook-id came without webhook-signature');
    const json = await hooks(argv`${given} ${headers} -o json`, { stdin: BODY });
    expect(JSON.parse(json.stdout)).toMatchObject({
      valid: true,
      warning: expect.stringContaining('removed'),
    });
    const named = ['--scheme', 'segment,standard-webhooks', '--exact'];
    const refused = await hooks([...given, ...named, ...headers], { stdin: BODY });
    expect(refused.code).toBe(1);
    expect(refused.stdout).toContain('webhook-signature is missing, though webhook-id came');
    expect(refused.stdout).not.toMatch(/expected: *$/m);
  });

  it('verify prints the expected signature only if it is known and differs', async () => {
    const { stdout: by } = await hooks(['sign', ...BOTH.slice(2)], { stdin: BODY });
    const unusable = await hooks(argv`verify --secret s -H ${by.replace(/X-Sig.*\n/, '')}`, { stdin: BODY });
    expect(unusable.stdout).toContain('no secret can be a key of standard-webhooks');
    expect(unusable.stdout).not.toContain('expected:');
    const { stdout: github } = await hooks(argv`sign --secret s --scheme github`, { stdin: BODY });
    const twice = await hooks(argv`verify --secret s -H ${github} -H ${github}`, { stdin: BODY });
    const right = github.trim().replace('X-Hub-Signature-256: ', '');
    expect(twice.stdout).toContain(`expected: ${right}\ngot:      ${right}, ${right}\n`);
  });

  it('verify reports whether a signature of another scheme matches', async () => {
    const { stdout } = await hooks(['sign', '--secret', 's', '--scheme', 'github'], { stdin: BODY });
    const looked = ['verify', '--secret', 's', '--scheme', 'segment', '-H', stdout.trim()];
    const right = await hooks(looked, { stdin: BODY });
    expect(right).toMatchObject({ code: 2, stdout: `${sign(BODY, 's')}\n` });
    expect(right.stderr).toContain('X-Hub-Signature-256 (GitHub) came, which is right by the scheme github');
    expect((await hooks(looked, { stdin: '{}' })).stderr).toContain(
      'which is wrong, too, by the scheme github',
    );
  });

  it('verify computes the age in a capture at the time of its receipt', async () => {
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
      return hooks(argv`verify --secret s ${more}`, { stdin });
    };
    expect((await check(seconds + 200)).code).toBe(0);
    const old = await check(seconds + 3_600);
    expect(old.code).toBe(1);
    expect(old.stdout).toContain(
      'its timestamp is 1h old, as a local time taken for UTC is, and slack allows 300s; the signature itself is right',
    );
    expect((await check(seconds + 3_600, '--ignore-timestamp')).code).toBe(0);
  });

  it.each([
    [['listen', '--scheme', 'standard-webhooks', '--port', '0'], 'none begins with whsec_ (--scheme)'],
    [['expect', '--scheme', 'standard-webhooks', '--count', '1', '--', 'true'], 'none begins with whsec_'],
    [
      ['send', 'track', '--event', 'A', '--url', 'http://127.0.0.1:9/', '--scheme', 'standard-webhooks'],
      'none begins with whsec_ (--scheme)',
    ],
    [['sign', '--scheme', ''], 'Expected the name of a signature scheme, got an empty one (--scheme)'],
    [['sign', '--scheme', 'gihub'], 'Unknown signature scheme `gihub` (--scheme)'],
    [['sign', '--scheme', 'standard-webhooks'], 'none begins with whsec_ (--scheme)'],
    [['sign', '--scheme', 'segment,segment-batch'], 'both use the header X-Signature (--scheme)'],
    [['verify', '--scheme', 'standard-webhooks'], 'none begins with whsec_ (--scheme)'],
    [['sign', '--id', 'a'], '`--id` is for schemes that sign it'],
    [
      ['sign', '--scheme', 'slack', '--timestamp', '1700000000000'],
      'Unix time in seconds, got 1700000000000',
    ],
  ])('exit with 2 for %s', async (args, sentence) => {
    const [command = '', ...rest] = args;
    await expectRejected(argv`${command} --secret s ${rest}`, sentence, { stdin: BODY });
  });
});

describe('the schemes of a config', () => {
  const ACME = `
schemes:
  acme: { headers: { X-Acme: 'v={signature}' }, signs: '{body}', hash: sha256, encoding: hex }
`;
  let folder: string;
  const config = async (content: string): Promise<readonly string[]> => {
    const file = join(folder, 'hooks.yaml');
    await writeFile(file, content.includes('schemes:') ? content : content + ACME);
    return ['-c', file];
  };

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'hooks-schemes-'));
  });

  it('sign, and verify reports them even with a given secret', async () => {
    const file = await config('sharedSecret: s\nscheme: acme\n');
    const { stdout } = await hooks(['sign', ...file], { stdin: BODY });
    expect(stdout).toMatch(/^X-Acme: v=[0-9a-f]{64}\n$/);
    const { code } = await hooks(argv`verify ${file} --secret s -H ${stdout}`, { stdin: BODY });
    expect(code).toBe(0);
    const plain = await hooks(['sign', '--secret', 's'], { stdin: BODY, cwd: folder });
    expect(plain.stdout).toBe(`${sign(BODY, 's')}\n`);
  });

  it('verify in the header of a built-in scheme too, if the two can be told apart', async () => {
    const header =
      "headers: { X-Signature: 'sha512={signature}' }, signs: '{body}', hash: sha512, encoding: base64";
    const file = await config(`sharedSecret: s\nscheme: own\nschemes:\n  own: { ${header} }\n`);
    const { stdout } = await hooks(['sign', ...file], { stdin: BODY });
    expect(stdout).toMatch(/^X-Signature: sha512=/);
    const own = await hooks(argv`verify ${file} -H ${stdout}`, { stdin: BODY });
    expect([own.code, own.stdout]).toEqual([0, expect.stringContaining('own')]);
    // A signature without that prefix is one of the default scheme.
    const plain = ['verify', ...file, '-H', `X-Signature: ${sign(BODY, 's')}`];
    expect(await hooks(plain, { stdin: BODY })).toMatchObject({ code: 0 });
  });

  it('are those that test checks a receiver with', async () => {
    const file = await config('sharedSecret: s\nscheme: acme\n');
    const byAcme = await receiver(({ headers }) => headers['x-acme'] !== undefined);
    const { stdout } = await hooks(argv`test ${byAcme.url} ${file} --only track -o json`);
    byAcme.close();
    expect(stdout).toContain('"check":"track"');
    expect(stdout).toContain('"outcome":"passed"');
  });

  it('are those that listen requires with --require-signature, and it names their header', async () => {
    const file = await config('sharedSecret: s\nscheme: acme\n');
    const strict = startHooks(argv`listen --port 0 -o json --require-signature ${file}`);
    const { url } = JSON.parse((await strict.lines.next()).value ?? '') as { url: string };
    const to = ['send', 'track', '--event', 'A', '--url', url, '--secret', 's', '--retry-for', '0'];
    expect((await hooks(argv`${to} --scheme acme ${file}`)).code).toBe(0);
    expect((await hooks(to)).code).toBe(1);
    const { stdout } = await strict.stop();
    expect(stdout).toContain('"verdict":"valid","secret":1,"scheme":"acme"');
    expect(stdout).toContain('X-Acme is missing; X-Signature came');
    expect(stdout).toContain('let proxies pass X-Acme on');
  });

  it.each([
    ['sharedSecret: s\nscheme: acm\n', ['sign'], 'Unknown signature scheme `acm` (`scheme` from '],
    ['sharedSecret: s\nscheme: standard-webhooks\n', ['sign'], 'begins with whsec_ (`scheme` from '],
    [
      'sharedSecret: s\nscheme: standard-webhooks\nwebhooks: [http://127.0.0.1:9/]\n',
      ['send', 'track', '--event', 'A', '--retry-for', '0'],
      'begins with whsec_ (`scheme` from ',
    ],
    [
      'sharedSecret: s\nscheme: standard-webhooks\n',
      ['listen', '--port', '0', '--require-signature'],
      'begins with whsec_ (`scheme` from ',
    ],
  ])('are reported with their file if they cannot be used: %s %s', async (content, args, sentence) => {
    const { code, stderr } = await hooks([...args, ...(await config(content))], { stdin: BODY });
    expect(code, stderr).toBe(2);
    expect(stderr).toContain(sentence);
  });
});
