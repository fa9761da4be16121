import { X509Certificate } from 'node:crypto';
import { request } from 'node:https';
import { connect as connectTls } from 'node:tls';
import { afterEach, describe, expect, it } from 'vitest';
import { makeCertificate } from '../../src/receiver/certificate.ts';
import type { ConnectionRejection } from '../../src/receiver/options.ts';
import type { ReceivedRequest } from '../../src/receiver/received-request.ts';
import { startReceiver } from '../../src/app/explained.ts';
import type { Receiver } from '../../src/receiver/receiver.ts';
import { parseScript } from '../../src/receiver/response/script.ts';
import { RawConnection } from './raw-connection.ts';
import { until } from '../until.ts';

const NOW = Date.UTC(2026, 10, 20);

describe('a certificate of our own', () => {
  it('signs itself and names this machine and the host', () => {
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

  it.each(['10.1.2.3', 'fe80::1:2', '2001:db8::', '::ffff:10.0.0.1'])('may be for the address %s', (host) => {
    expect(new X509Certificate(makeCertificate(host, NOW).cert).checkIP(host)).toBeDefined();
  });

  it('is valid from the day before, for a month', () => {
    const { validFrom, validTo } = new X509Certificate(makeCertificate('localhost', NOW).cert);
    expect([validFrom, validTo].map((text) => new Date(text).toISOString())).toEqual([
      '2026-11-19T00:00:00.000Z',
      '2026-12-20T00:00:00.000Z',
    ]);
  });
});

describe('a receiver with TLS', () => {
  const open: Receiver[] = [];
  afterEach(async () => {
    await Promise.all(open.splice(0).map((receiver) => receiver.close()));
  });

  async function start(respond = '200') {
    const requests: ReceivedRequest[] = [];
    const rejections: ConnectionRejection[] = [];
    const certificate = makeCertificate('127.0.0.1', Date.now());
    const receiver = await startReceiver({
      secrets: [],
      certificate,
      script: parseScript(respond),
      onRequest: (each) => requests.push(each),
      onRefused: (rejection) => rejections.push(rejection),
    });
    open.push(receiver);
    return { receiver, requests, rejections, cert: certificate.cert };
  }

  it('serves a sender that trusts its certificate', async () => {
    const { receiver, requests, rejections, cert } = await start();
    expect(receiver.url).toBe(`https://127.0.0.1:${receiver.port}`);
    expect(await post(receiver.url, cert)).toBe(200);
    expect(requests).toMatchObject([{ path: '/hook', status: 200 }]);
    expect(rejections).toEqual([]);
  });

  it('says that a sender does not trust it, who leaves without a request', async () => {
    const { receiver, requests, rejections } = await start();
    expect(await post(receiver.url)).toBe('DEPTH_ZERO_SELF_SIGNED_CERT');
    await until(() => rejections.length > 0, 'the rejection');
    expect(requests).toEqual([]);
    expect(rejections).toHaveLength(1);
    expect(rejections[0]?.reason).toMatch(/does not trust the certificate/);
  });

  it('resets the connection as its script says', async () => {
    const { receiver, requests, cert } = await start('reset');
    expect(await post(receiver.url, cert)).toBe('ECONNRESET');
    expect(requests).toMatchObject([{ answered: 'reset' }]);
  });

  it('tells plain HTTP and garbage from a handshake', async () => {
    const { receiver, rejections } = await start();
    for (const bytes of ['POST / HTTP/1.1\r\nHost: a\r\n\r\n', 'garbage garbage garbage']) {
      const client = await RawConnection.open(receiver.port);
      client.write(bytes);
      await client.closed();
    }
    await until(() => rejections.length === 2, 'the rejection');
    expect(rejections[0]?.reason).toBe('it is plain HTTP, but this port speaks TLS: post to https://');
    expect(rejections[1]?.reason).toMatch(/^its TLS failed \(ERR_SSL_/);
  });

  it.each(['POST / HTTP/1.1\r\nHost: a\r\nExpect: 200-ok', 'CONNECT a:1 HTTP/1.1\r\nHost: a:1'])(
    'tells once of a sender whose request it does not take, as with %j',
    async (head) => {
      const { receiver, rejections, cert } = await start();
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
    const { receiver, cert } = await start('timeout');
    const silent = await RawConnection.open(receiver.port);
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
