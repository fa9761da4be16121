import { copyFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { expectRejected } from '../cli/expect-rejected.ts';
import { makeCertificates, type Certificate } from '../certificates.ts';
import { freePort } from '../free-port.ts';
import { answers, answersOk, type HostileReceiver } from '../hostile-receivers.ts';
import { proxyServer, type ProxyServer } from '../transport/proxy-server.ts';
import { started } from '../transport/sending.ts';
import { hooks as hooksInProcess } from '../cli/run-in-process.ts';
import * as delivering from './delivering.ts';
import { messagesFile, SEND, type Sent } from './delivering.ts';
import { hooks as hooksOfBinary, type HooksOptions, type HooksResult } from './hooks.ts';
import { temporaryFolder } from '../temporary-folder.ts';

const certificates = await makeCertificates();
afterAll(() => certificates.remove());

/** Disables the verification of certificates in other programs on Node. */
const UNCHECKED = { NODE_TLS_REJECT_UNAUTHORIZED: '0' };

/** Runs in this process unless a variable of Node is set, which takes effect when a process starts. */
function hooks(args: readonly string[], options: HooksOptions = {}): Promise<HooksResult> {
  const isNodes = Object.keys(options.env ?? {}).some((name) => name.startsWith('NODE_'));
  return (isNodes ? hooksOfBinary : hooksInProcess)(args, options);
}

const send = (
  urls: readonly string[],
  flags: readonly string[] = [],
  options: HooksOptions = {},
): Promise<Sent> => delivering.send(urls, flags, { ...options, run: hooks });

function secureReceiver(certificate: Certificate = certificates.good): Promise<HostileReceiver> {
  return started(answersOk({ certificate }));
}

/** Returns a folder with a config with this `delivery.ca`. */
async function configured(ca: string): Promise<string> {
  const folder = temporaryFolder();
  await writeFile(join(folder, 'hooks.json'), JSON.stringify({ delivery: { ca } }));
  return folder;
}

async function proxied(): Promise<{ proxy: ProxyServer; variables: Record<string, string> }> {
  const proxy = await started(proxyServer());
  return { proxy, variables: { HTTP_PROXY: proxy.origin, HTTPS_PROXY: proxy.origin } };
}

describe('a certificate', () => {
  const bad = [
    ['is self-signed', 'selfSigned', 'tls-self-signed'],
    ['has expired', 'expired', 'tls-expired'],
    ['is for another name', 'otherName', 'tls-hostname'],
    ['is of an unknown issuer', 'unknownCa', 'tls-untrusted'],
  ] as const;

  it.each(bad)('that %s ends the delivery before a request is sent', async (_what, name, error) => {
    const hostile = await secureReceiver(certificates[name]);
    // The issuer of the other certificates is trusted, so that each has only one problem.
    const env = { NODE_EXTRA_CA_CERTS: certificates.caFile };
    for (const variables of [env, { ...env, ...UNCHECKED }]) {
      const { code, line } = await send([hostile.url], [], { env: variables });
      expect(code).toBe(1);
      expect(line).toMatchObject({ outcome: 'failed', url: hostile.url, error, reason: 'rejected' });
      expect(line.attempts).toMatchObject([{ error }]);
    }
    expect(hostile.connections).toBe(2);
    expect(hostile.requests).toEqual([]);
  });

  it('that is invalid is reported with a hint', async () => {
    const { url } = await secureReceiver(certificates.selfSigned);
    const { code, stdout, stderr } = await hooks([...SEND, '--url', url], { env: UNCHECKED });
    expect(code).toBe(1);
    expect(stdout).toMatch(/^ {2}Delivery rejected: self-signed certificate at https:\S+$/m);
    expect(stdout + stderr).toMatch(/\bca\b/);
    // The warning of Node would say that certificates are not verified.
    expect(stderr).not.toContain('NODE_TLS_REJECT_UNAUTHORIZED');
  });

  it('that is invalid fails every message of a replay before a request is sent', async () => {
    const hostile = await secureReceiver(certificates.unknownCa);
    const { code, lines, summary } = await delivering.replay(await messagesFile(50), hostile.url, [], {
      env: UNCHECKED,
    });
    expect(code).toBe(1);
    expect(summary).toMatchObject({ read: 50, failed: 50 });
    expect(lines.filter(({ error }) => error !== 'tls-untrusted')).toEqual([]);
    expect(hostile.requests).toEqual([]);
  });

  it('is trusted if NODE_EXTRA_CA_CERTS names its issuer', async () => {
    const { url } = await secureReceiver();
    expect(await send([url])).toMatchObject({ code: 1, line: { error: 'tls-untrusted' } });
    const trusting = await send([url], [], { env: { NODE_EXTRA_CA_CERTS: certificates.caFile } });
    expect(trusting).toMatchObject({ code: 0, line: { outcome: 'delivered', status: 200 } });
  });

  it('is trusted if delivery.ca names its issuer, relative to the config', async () => {
    const { url } = await secureReceiver();
    const folder = await configured('./issuers/../ca.pem');
    await copyFile(certificates.caFile, join(folder, 'ca.pem'));
    const flags = ['--config', join(folder, 'hooks.json')];
    expect(await send([url], flags)).toMatchObject({ code: 0, line: { outcome: 'delivered' } });
    const all = await delivering.replay(await messagesFile(20), url, flags, { run: hooks });
    expect(all).toMatchObject({ code: 0, summary: { delivered: 20 } });
    const stranger = await secureReceiver(certificates.unknownCa);
    expect(await send([stranger.url], flags)).toMatchObject({ code: 1, line: { error: 'tls-untrusted' } });
  });

  it('of a tracking API is trusted by delivery.ca too', async () => {
    const { url } = await secureReceiver();
    const api = [...SEND, '--endpoint', url, '--write-key', 'k', '-o', 'json'];
    const untrusted = await hooks(api);
    expect([untrusted.code, untrusted.stdout]).toEqual([1, expect.stringContaining('tls-untrusted')]);
    const folder = await configured('./ca.pem');
    await copyFile(certificates.caFile, join(folder, 'ca.pem'));
    expect(await hooks([...api, '--config', join(folder, 'hooks.json')])).toMatchObject({ code: 0 });
  });
});

describe('a delivery.ca that cannot be used', () => {
  it('is ignored for a tracking API without TLS', async () => {
    const { url } = await started(answersOk());
    const config = join(await configured('./nowhere.pem'), 'hooks.json');
    const args = [...SEND, '--endpoint', url, '--write-key', 'k', '--config', config];
    expect(await hooks(args)).toMatchObject({ code: 0, stderr: '' });
  });

  it.each([
    ['does not exist', './nowhere.pem', /^error: .*`delivery\.ca`.*nowhere\.pem.*\nhint: {2}.*PEM file/],
    ['is no PEM file', './hooks.json', /^error: .*`delivery\.ca`.*hooks\.json\nhint: {2}.*BEGIN CERTIFICATE/],
    ['is a folder', '.', /^error: .*`delivery\.ca`.*\nhint: {2}/],
  ])('because it %s is reported before anything is sent', async (_what, ca, complaint) => {
    const hostile = await secureReceiver();
    const folder = await configured(ca);
    const to = ['--config', join(folder, 'hooks.json'), '--url', hostile.url];
    const report = join(folder, 'report.xml');
    const runs = [
      [...SEND, ...to],
      [...SEND, ...to.slice(0, 2), '--endpoint', hostile.url, '--write-key', 'k'],
      ['replay', await messagesFile(2), ...to, '--report', report],
    ];
    for (const args of runs) {
      await expectRejected(args, complaint, { run: hooks });
    }
    expect(hostile.connections).toBe(0);
  });

  it('is reported with --loopback, too', async () => {
    const folder = await configured('./nowhere.pem');
    const { code, stdout } = await hooks([...SEND, '--config', join(folder, 'hooks.json'), '--loopback']);
    expect([code, stdout]).toEqual([2, '']);
  });
});

describe('a proxy', () => {
  // A name that only the proxy resolves: a label has at most 63 characters, so no name server is asked.
  const HOST = `${'a'.repeat(64)}.invalid`;

  it('of HTTP_PROXY forwards requests to another machine', async () => {
    const { proxy, variables } = await proxied();
    const target = await started(answersOk());
    const url = `http://${HOST}:${target.port}/hook`;
    const { code, line } = await send([url], ['--secret', 's3cret'], { env: variables });
    expect(code).toBe(0);
    expect(line).toMatchObject({ outcome: 'delivered', url, status: 200 });
    expect(proxy.asked).toEqual([`POST ${url}`]);
    expect(target.requests[0]?.head.join('\n')).toMatch(/^x-signature: [\da-f]{40}$/im);
  });

  it('of HTTPS_PROXY is a tunnel, through which the certificate is verified', async () => {
    const { proxy, variables } = await proxied();
    const env = { ...variables, ...UNCHECKED, NODE_EXTRA_CA_CERTS: certificates.caFile };
    const [good, bad] = [await secureReceiver(), await secureReceiver(certificates.otherName)];
    const sent = [];
    for (const { port } of [good, bad]) {
      sent.push(await send([`https://receiver.test:${port}/`], [], { env }));
    }
    expect(sent).toMatchObject([
      { code: 0, line: { outcome: 'delivered' } },
      { code: 1, line: { error: 'tls-hostname' } },
    ]);
    expect(proxy.asked).toEqual([good, bad].map(({ port }) => `CONNECT receiver.test:${port}`));
    expect(bad.requests).toEqual([]);
  });

  it('is not used for the hosts of NO_PROXY', async () => {
    const { proxy, variables } = await proxied();
    const env = { ...variables, NO_PROXY: 'other.test,.invalid' };
    const { code, line } = await send([`http://${HOST}/hook`], ['--retry-for', '0'], { env });
    expect([code, line.error]).toEqual([1, 'dns']);
    expect(proxy.asked).toEqual([]);
  });

  it('is not used for this machine', async () => {
    const { proxy, variables } = await proxied();
    const target = await started(answersOk());
    for (const host of ['127.0.0.1', 'localhost']) {
      const { code } = await send([`http://${host}:${target.port}/hook`], [], { env: variables });
      expect(code).toBe(0);
    }
    const loopback = await hooks([...SEND, '--loopback', '-o', 'json'], { env: variables });
    expect(loopback.code).toBe(0);
    expect(JSON.parse(loopback.stdout)).toMatchObject({ outcome: 'delivered', verdict: 'valid' });
    expect(proxy.asked).toEqual([]);
  });

  it('that rejects or does not listen is named', async () => {
    const refusing = await started(proxyServer({ status: 403 }));
    const gone = { origin: `http://127.0.0.1:${await freePort()}` };
    for (const [{ origin }, said] of [
      [refusing, 'the proxy responded with 403'],
      [gone, 'through the proxy'],
    ] as const) {
      const flags = ['--url', 'https://receiver.test/hook', '--retry-for', '0'];
      const { code, stdout } = await hooks([...SEND, ...flags], { env: { HTTPS_PROXY: origin } });
      expect(code).toBe(1);
      expect(stdout).toContain(said);
      expect(stdout).toContain(origin);
    }
  });

  it('gets its password, which is not printed', async () => {
    const { proxy } = await proxied();
    const HTTP_PROXY = proxy.origin.replace('http://', 'http://me:hunter2@');
    const target = await started(answers(503));
    const flags = ['--url', `http://${HOST}:${target.port}/hook`, '--retry-for', '0', '-v'];
    const { code, stdout, stderr } = await hooks([...SEND, ...flags], { env: { HTTP_PROXY } });
    expect(code).toBe(1);
    // The message, and the probe after its failure.
    const login = `Basic ${Buffer.from('me:hunter2').toString('base64')}`;
    expect(new Set(proxy.authorizations)).toEqual(new Set([login]));
    expect(stdout + stderr).not.toContain('hunter2');
  });

  it('with an invalid URL is reported before anything is sent', async () => {
    const flags = ['--url', 'https://receiver.test/hook'];
    await expectRejected([...SEND, ...flags], /^error: Expected HTTPS_PROXY to be .*ftp:\/\/proxy\nhint: /, {
      run: hooks,
      env: { HTTPS_PROXY: 'ftp://proxy' },
    });
  });
});
