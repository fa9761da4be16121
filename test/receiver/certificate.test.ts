import { X509Certificate } from 'node:crypto';
import { request } from 'node:https';
import { connect as connectTls } from 'node:tls';
import { describe, expect, it } from 'vitest';
import { makeCertificate } from '../../src/receiver/certificate.ts';
import { answered, start } from './starting.ts';
import { until } from '../until.ts';

const NOW = Date.UTC(2026, 10, 20);

describe('a self-signed certificate', () => {
  it('is valid for this machine and the host', () => {
    const { cert, key, fingerprint } = makeCertificate('hooks.example', NOW);
    const parsed = new X509Certificate(cert);
    expect(parsed.verify(parsed.publicKey)).toBe(true);
    expect(parsed.ca).toBe(false);
    expect(parsed.subject).toBe('CN=hooks listen');
    for (const name of ['localhost', 'hooks.example']) expect(parsed.checkHost(name)).toBe(name);
    for (const address of ['127.0.0.1', '::1']) expect(parsed.checkIP(address)).toBe(address);
    expect(parsed.checkHost('other.example')).toBeUndefined();
    expect(parsed.fingerprint256).toBe(fingerprint);
    expect(key).toMatch(/^-----BEGIN PRIVATE KEY-----/);
  });

  it.each(['10.1.2.3', 'fe80::1:2', '2001:db8::', '::ffff:10.0.0.1'])(
    'can contain the address %s',
    (host) => {
      expect(new X509Certificate(makeCertificate(host, NOW).cert).checkIP(host)).toBeDefined();
    },
  );

  it('is valid for 30 days from now and since yesterday', () => {
    const { validFrom, validTo } = new X509Certificate(makeCertificate('localhost', NOW).cert);
    expect([validFrom, validTo].map((text) => new Date(text).toISOString())).toEqual([
      '2026-11-19T00:00:00.000Z',
      '2026-12-20T00:00:00.000Z',
    ]);
  });
});

async function startWithTls(respond = '200') {
  const certificate = makeCertificate('127.0.0.1', Date.now());
  return { ...(await start({ certificate, ...answered(respond) })), cert: certificate.cert };
}

describe('a receiver with TLS', () => {
  it('serves a sender that trusts its certificate', async () => {
    const { receiver, requests, rejections, cert } = await startWithTls();
    expect(receiver.url).toBe(`https://127.0.0.1:${receiver.port}`);
    expect(await post(receiver.url, cert)).toBe(200);
    expect(requests).toMatchObject([{ path: '/hook', status: 200 }]);
    expect(rejections).toEqual([]);
  });

  it('reports a sender that distrusts the certificate and disconnects without a request', async () => {
    const { receiver, requests, rejections } = await startWithTls();
    expect(await post(receiver.url)).toBe('DEPTH_ZERO_SELF_SIGNED_CERT');
    await until(() => rejections.length > 0, 'the rejection');
    expect(requests).toEqual([]);
    expect(rejections).toHaveLength(1);
    expect(rejections[0]?.reason).toMatch(/does not trust the certificate/);
  });

  it('resets the connection for the script `reset`', async () => {
    const { receiver, requests, cert } = await startWithTls('reset');
    expect(await post(receiver.url, cert)).toBe('ECONNRESET');
    expect(requests).toMatchObject([{ answered: 'reset' }]);
  });

  it('reports plain HTTP and garbage instead of a handshake', async () => {
    const { connect, rejections } = await startWithTls();
    for (const bytes of ['POST / HTTP/1.1\r\nHost: a\r\n\r\n', 'garbage garbage garbage']) {
      const client = await connect(bytes);
      await client.closed();
    }
    await until(() => rejections.length === 2, 'the rejection');
    expect(rejections[0]?.reason).toBe('it is plain HTTP, but this port speaks TLS: post to https://');
    expect(rejections[1]?.reason).toMatch(/^its TLS failed \(ERR_SSL_/);
  });

  it.each(['POST / HTTP/1.1\r\nHost: a\r\nExpect: 200-ok', 'CONNECT a:1 HTTP/1.1\r\nHost: a:1'])(
    'reports a sender of a rejected request once, such as %j',
    async (head) => {
      const { receiver, rejections, cert } = await startWithTls();
      const secure = connectTls({ port: receiver.port, host: '127.0.0.1', ca: cert });
      secure.write(`${head}\r\n\r\n`);
      secure.once('data', () => secure.end());
      await new Promise((resolve) => secure.once('close', resolve));
      await receiver.close();
      expect(rejections).toHaveLength(1);
      expect(rejections[0]?.status).toBeDefined();
    },
  );

  it('closes with connections in every state of a handshake', async () => {
    const { receiver, connect, cert } = await startWithTls('timeout');
    const silent = await connect();
    const secure = connectTls({ port: receiver.port, host: '127.0.0.1', ca: cert });
    secure.on('error', () => {});
    await new Promise((resolve) => secure.once('secureConnect', resolve));
    secure.write('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n');
    await receiver.close();
    await silent.closed();
  });
});

function post(url: string, ca?: string): Promise<number | string | undefined> {
  return new Promise((resolve) => {
    const sent = request(`${url}/hook`, { method: 'POST', agent: false, ...(ca !== undefined && { ca }) });
    sent.on('response', (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    sent.on('error', (error: NodeJS.ErrnoException) => resolve(error.code));
    sent.end('{}');
  });
}
