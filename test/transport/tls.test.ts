import { checkServerIdentity, type PeerCertificate } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeCertificates, type Certificates } from '../certificates.ts';
import { answersOk, speaksHttpToAnybody } from '../hostile-receivers.ts';
import { makeSendingProgram, type SendingProgram } from './sending-program.ts';
import { newTransport, requestTo, sendTo, started } from './sending.ts';

// Node 22.23 does not recognize ::1 as an address when it checks a certificate, and rejects all of them.
const nodeKnowsIpv6Names =
  checkServerIdentity('::1', { subjectaltname: 'IP Address:0:0:0:0:0:0:0:1' } as PeerCertificate) ===
  undefined;

let certificates: Certificates;
let program: SendingProgram;

beforeAll(async () => {
  [certificates, program] = await Promise.all([makeCertificates(), makeSendingProgram()]);
});

afterAll(async () => {
  await Promise.all([certificates.remove(), program.remove()]);
});

/** `trusting`: the issuer is trusted, so that only the other problem remains. */
const FAULTS = [
  { name: 'selfSigned', trusting: false, error: 'tls-self-signed' },
  { name: 'expired', trusting: true, error: 'tls-expired' },
  { name: 'notYetValid', trusting: true, error: 'tls-expired' },
  { name: 'otherName', trusting: true, error: 'tls-hostname' },
  { name: 'unknownCa', trusting: false, error: 'tls-untrusted' },
  { name: 'unknownCa', trusting: true, error: 'tls-untrusted' },
  { name: 'unknownCaWithChain', trusting: false, error: 'tls-self-signed' },
] as const;

const serving = (name: (typeof FAULTS)[number]['name'] | 'good') =>
  started(answersOk({ certificate: certificates[name] }));

describe('a certificate', () => {
  it.each(FAULTS)(
    '($name, issuer trusted: $trusting) fails as $error before a request is sent',
    async (fault) => {
      const { error, trusting, name } = fault;
      const hostile = await serving(name);
      const transport = newTransport(trusting ? { caFile: certificates.caFile } : {});
      // Twice, because a resumed session could skip the check.
      for (let sent = 0; sent < 2; sent++) {
        expect(await transport.send(requestTo(hostile.url))).toMatchObject({ kind: 'failure', error });
      }
      expect(hostile.connections).toBe(2);
      expect(hostile.requests).toHaveLength(0);
    },
  );

  it.each(FAULTS)(
    '($name, issuer trusted: $trusting) fails as $error with NODE_TLS_REJECT_UNAUTHORIZED=0 too',
    async ({ error, trusting, name }) => {
      const hostile = await serving(name);
      const connection = trusting ? { caFile: certificates.caFile } : {};
      const env = { NODE_TLS_REJECT_UNAUTHORIZED: '0' };
      const sent = await program.send({ url: hostile.url, connection }, env);
      expect(sent.result).toMatchObject({ kind: 'failure', error });
      expect(hostile.requests).toHaveLength(0);
    },
  );

  it('for another name is rejected over TLS 1.2 as well, where the session is established before the check', async () => {
    const certificate = certificates.otherName;
    const hostile = await started(answersOk({ certificate, tls: { maxVersion: 'TLSv1.2' } }));
    const transport = newTransport({ caFile: certificates.caFile });
    for (let sent = 0; sent < 2; sent++) {
      expect(await transport.send(requestTo(hostile.url))).toMatchObject({ error: 'tls-hostname' });
    }
    expect(hostile.requests).toHaveLength(0);
  });

  it.each(['127.0.0.1', 'localhost'])('whose issuer is trusted is valid for %s', async (host) => {
    const hostile = await serving('good');
    const url = `https://${host}:${hostile.port}/`;
    const transport = newTransport();
    const connection = { caFile: certificates.caFile };
    expect(await transport.send(requestTo(url, { connection }))).toMatchObject({ status: 200 });
    expect(await transport.send(requestTo(url))).toMatchObject({ error: 'tls-untrusted' });
  });

  it.skipIf(!nodeKnowsIpv6Names)('for an IPv6 address is checked against that address', async () => {
    const hostile = await started(answersOk({ certificate: certificates.good, host: '::1' }));
    const transport = newTransport({ caFile: certificates.caFile });
    expect(await transport.send(requestTo(hostile.url))).toMatchObject({ status: 200 });
  });

  it('that is self-signed is valid if it is trusted', async () => {
    const hostile = await serving('selfSigned');
    const transport = newTransport({ caFile: certificates.selfSigned.certFile });
    expect(await transport.send(requestTo(hostile.url))).toMatchObject({ status: 200 });
  });

  it('of NODE_EXTRA_CA_CERTS is valid with and without a `caFile`', async () => {
    const hostile = await serving('unknownCa');
    const { caFile, strangerCaFile } = certificates;
    for (const trusted of [{}, { caFile }]) {
      const env = { NODE_EXTRA_CA_CERTS: strangerCaFile };
      const sent = await program.send({ url: hostile.url, ...trusted }, env);
      expect(sent.result).toMatchObject({ status: 200 });
    }
  });
});

describe('a port without TLS', () => {
  it('fails as tls', async () => {
    const plain = await started(speaksHttpToAnybody());
    expect(await sendTo(plain.url)).toMatchObject({
      error: 'tls',
      detail: expect.stringMatching(/^the TLS connection failed \(.*\)$/),
    });
  });

  it('with other versions of TLS fails as tls', async () => {
    const versions = { minVersion: 'TLSv1', maxVersion: 'TLSv1.1' } as const;
    const hostile = await started(answersOk({ certificate: certificates.good, tls: versions }));
    expect(await sendTo(hostile.url)).toMatchObject({ error: 'tls' });
    expect(hostile.requests).toHaveLength(0);
  });
});
