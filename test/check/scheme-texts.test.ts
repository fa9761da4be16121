import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ConfigError } from '../../src/errors.ts';
import { signRequest } from '../../src/signature/schemes/signer.ts';
import { startHttp } from '../answers/counterparts.ts';
import { hooks } from '../cli/run-in-process.ts';
import { doesNotThrow, VENDORS } from '../signature/schemes/vendors.ts';

/** A receiver that accepts everything. */
const server = createServer((request, response) => {
  request.resume().on('end', () => response.writeHead(200).end());
});
let url = '';
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`; // a TCP server has one
});
afterAll(() => server.close());

describe('hooks test --scheme', () => {
  it.each(VENDORS)('finds nothing wrong with a receiver that verifies as $name', async (vendor) => {
    const secret =
      vendor.secretKind === 'whsec' ? 'whsec_c2VjcmV0LW9mLXRoZS10ZXN0cy1vbmx5' : 'secret-of-the-tests';
    const receiver = await startHttp(async ({ body, headers }) => {
      const named = Object.keys(signRequest({ body: '', secrets: [secret], scheme: vendor.scheme })).map(
        (name): [string, string] => [name, String(headers[name.toLowerCase()] ?? '')],
      );
      const message = { body: body.toString(), id: '', seconds: 0, secret };
      const isValid = await Promise.resolve(vendor.verify(message, Object.fromEntries(named))).catch(
        () => false,
      );
      if (!isValid) return { status: 401 };
      return doesNotThrow(() => JSON.parse(body.toString())) ? { status: 200 } : { status: 400 };
    });
    const at = `http://127.0.0.1:${receiver.port}/`;
    const { code, stdout } = await hooks(['test', at, '--secret', secret, '--scheme', vendor.scheme]);
    await receiver.close();
    expect({ code, wrong: stdout.match(/wrong: .*/g) }).toEqual({ code: 0, wrong: null });
  });

  it('skips the checks whose bodies the scheme cannot sign, and says why', async () => {
    const { code, stdout } = await hooks([
      'test',
      url,
      '--secret=s',
      '--scheme=segment-batch',
      '--output=json',
      '--only=track,wrong-signature,malformed,latency',
    ]);
    expect(code).toBe(1);
    const malformed = stdout.split('\n').find((line) => line.includes('"check":"malformed"'));
    expect(malformed).toContain('"outcome":"skipped"');
    expect(malformed).toContain('signs the first item of a list, and the body is not JSON');
    expect(stdout).toContain('"check":"latency"');
  });

  it.each([
    ['github', 'HMAC-SHA256 of the raw body in hex, compare it with X-Hub-Signature-256'],
    ['segment', 'HMAC-SHA1 of the raw body in hex, compare it with X-Signature'],
    ['segment-batch', "HMAC-SHA1 of the first item of the body's list"],
  ])('explains to a receiver that accepts everything how to verify by %s', async (scheme, fix) => {
    const { stdout, stderr } = await hooks([
      'test',
      url,
      '--secret=s',
      `--scheme=${scheme}`,
      '--only=track,unsigned,wrong-signature,tampered',
    ]);
    const said = (stdout + stderr).replaceAll(/\s+/g, ' ');
    const verdict = said.slice(said.indexOf('it accepts everything'));
    expect(verdict).toContain(fix);
  });

  it.each([['sign'], ['test']])('adds the schemes of a second --scheme to the first: %s', async (verb) => {
    const schemes = ['--secret', 's', '--scheme', 'github', '--scheme', 'shopify'];
    const args = verb === 'test' ? ['test', url, ...schemes, '--list'] : ['sign', ...schemes];
    const { stdout } = await hooks(args, { stdin: '{}' });
    const [one, other] = verb === 'test' ? ['github', 'shopify'] : ['X-Hub-Sig', 'X-Shopify'];
    expect(stdout).toContain(one);
    expect(stdout).toContain(other);
  });
});

describe('hooks verify', () => {
  it('suggests -H if no header of the scheme is present', async () => {
    const { stderr } = await hooks(['verify', '--secret', 's', '--scheme', 'github'], { stdin: '{}' });
    expect(stderr.replaceAll(/\s+/g, ' ')).toContain("(-H 'X-Hub-Signature-256: …')");
  });

  it('asks for the secret of the sender, not for a new one', async () => {
    const args = ['verify', '--secret', 's', '--scheme', 'standard-webhooks', '-H', 'webhook-id: a'];
    const { code, stderr } = await hooks(args, { stdin: '{}' });
    expect(code).toBe(2);
    expect(stderr).not.toContain('make one');
    expect(stderr).toContain('give the secret of the sender, which is whsec_ and base64');
  });
});

describe('signRequest', () => {
  const at = Date.now();
  it.each([
    [{ secrets: [undefined] as unknown as string[], at }, 'Expected `secrets` to be a list of strings'], // JavaScript can pass it
    [{ secrets: ['s'], at: 1_700_000_000 }, 'Expected `at` to be a time in ms, got 1700000000'],
  ])('rejects what it cannot sign with: %#', (options, sentence) => {
    const signing = (): unknown => signRequest({ body: '{}', scheme: 'github', ...options });
    expect(signing).toThrow(ConfigError);
    expect(signing).toThrow(sentence);
  });

  it.each([
    [{ headers: {} }, 'got an empty one'],
    [{ tolerance: 0.5 }, 'to be a whole number of seconds from 0 to'],
  ])('explains the problem in a custom scheme: %#', (change, sentence) => {
    const scheme = {
      name: 'acme',
      headers: { 'X-A': '{signature}', 'X-T': '{timestamp}' },
      signs: '{timestamp}.{body}',
      hash: 'sha256',
      encoding: 'hex',
      ...change,
    } as const;
    const signing = (): unknown => signRequest({ body: '{}', secrets: ['s'], scheme });
    expect(signing).toThrow(sentence);
  });
});
