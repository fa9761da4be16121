import { readFileSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import type { ServerOptions } from 'node:https';
import type { AnswerCase, AnswerTheme } from '../answer-case.ts';
import type { Certificate, Certificates } from '../../certificates.ts';
import { listening, startHttp } from '../counterparts.ts';
import type { Scene, Values } from '../scene.ts';
import { nginx } from './gateways.ts';
import { SEND } from './sending.ts';

type Name =
  | 'good'
  | 'selfSigned'
  | 'expired'
  | 'notYetValid'
  | 'otherName'
  | 'unknownCa'
  | 'unknownCaWithChain'
  | 'chainless';

/** A receiver over TLS with one of the certificates. Gives {url} with https:, {plain} with http: at the same port, and {ca}. */
function tlsReceiver(name: Name, more: ServerOptions = {}): (scene: Scene) => Promise<Values> {
  return async ({ certificates, onEnd }) => {
    const made = await certificates();
    const { port, close } = await startHttp(() => ({ body: 'ok' }), { ...pemOf(made[name]), ...more });
    onEnd(close);
    return valuesOf(port, made);
  };
}

/** A server that resets what is not TLS, as many load balancers do. */
async function resetsPlainHttp({ certificates, onEnd }: Scene): Promise<Values> {
  const made = await certificates();
  const server = createTlsServer(pemOf(made.good));
  server.on('tlsClientError', (_error, socket) => socket.destroy());
  const { port, close } = await listening(server);
  onEnd(close);
  return valuesOf(port, made);
}

/** A server of TCP alone. */
function rawServer(serve: (socket: Socket) => void): (scene: Scene) => Promise<Values> {
  return async ({ certificates, onEnd }) => {
    const made = await certificates();
    const { port, close } = await listening(createServer(serve));
    onEnd(close);
    return valuesOf(port, made);
  };
}

/** A TLS port that responds to plain HTTP with a page, and to TLS with an alert. */
function tlsPort(page: string): (scene: Scene) => Promise<Values> {
  const response = `HTTP/1.1 400 Bad Request\r\nServer: nginx\r\nConnection: close\r\n\r\n${page}`;
  return rawServer((socket) =>
    socket
      .on('error', () => {})
      .once('data', (bytes: Buffer) => {
        const isHello = bytes[0] === 0x16;
        socket.end(isHello ? Buffer.from('15030300020228', 'hex') : response);
      }),
  );
}

async function plainReceiver({ certificates, onEnd }: Scene): Promise<Values> {
  const { port, close } = await startHttp(() => ({ body: 'ok' }));
  onEnd(close);
  return valuesOf(port, await certificates());
}

function pemOf({ keyFile, certFile }: Certificate): ServerOptions {
  return { key: readFileSync(keyFile), cert: readFileSync(certFile) };
}

function valuesOf(port: number, { caFile }: Certificates): Values {
  return {
    port,
    url: `https://127.0.0.1:${port}/hook`,
    plain: `http://127.0.0.1:${port}/hook`,
    ca: caFile,
  };
}

const SECURE = [...SEND, '--ca', '{ca}'];
const PLAIN = SEND.map((word) => (word === '{url}' ? '{plain}' : word));
const TEST = ['test', '{url}', '--secret', 's3cret'];
const CLIENT_CERTIFICATE: ServerOptions = { requestCert: true, rejectUnauthorized: true };

const OVER_TLS = { cause: 'the port speaks TLS: {url}', fix: 'give the URL with https: {url}' };

const CASES: readonly AnswerCase[] = [
  {
    id: 'self-signed',
    title: 'the certificate of the receiver is self-signed',
    given: { start: tlsReceiver('selfSigned') },
    argv: SEND,
    cause:
      'the certificate is self-signed (DEPTH_ZERO_SELF_SIGNED_CERT); its issuer is CN=hooks test selfSigned',
    fix: 'name its issuer: --ca FILE, or in the config: delivery: { ca: ./ca.pem }',
  },
  {
    id: 'expired',
    title: 'the certificate has expired',
    given: { start: tlsReceiver('expired') },
    argv: SECURE,
    cause: 'the certificate has expired (CERT_HAS_EXPIRED): it ended on ',
    fix: 'renew the certificate; if it is renewed already, let the server load it (nginx -s reload); if that date is still to come, correct the clock of this machine',
  },
  {
    id: 'not-yet-valid',
    title: 'the certificate is not valid yet, or the clock is wrong',
    given: { start: tlsReceiver('notYetValid') },
    argv: SECURE,
    cause: 'the certificate is not valid yet (CERT_NOT_YET_VALID): it begins on ',
    fix: 'check the clock of this machine (date); if it is right, give the server a certificate that is valid today',
  },
  ...(
    [
      ['nginx', nginx('400 The plain HTTP request was sent to HTTPS port')],
      ['go', 'Client sent an HTTP request to an HTTPS server.\n'],
    ] as const
  ).map(([server, page]): AnswerCase => ({
    id: `${server}-tls-port`,
    title: `http:// to a TLS port of ${server}`,
    given: { start: tlsPort(page) },
    argv: PLAIN,
    cause: 'the port speaks TLS, and the request was plain HTTP',
    fix: 'give the URL with {url}',
  })),
  {
    id: 'other-name',
    title: 'the certificate is for another name',
    given: { start: tlsReceiver('otherName') },
    argv: SECURE,
    cause: 'the certificate is for another name (ERR_TLS_CERT_ALTNAME_INVALID), which has: DNS:',
    fix: 'use a name that the certificate is for (a wildcard stands for one label)',
  },
  {
    id: 'unknown-issuer',
    title: 'the issuer is unknown, or the receiver does not send its intermediate certificate',
    given: { start: tlsReceiver('unknownCa') },
    argv: SECURE,
    cause: '(UNABLE_TO_VERIFY_LEAF_SIGNATURE); its issuer is CN=hooks test strangerCa',
    fix: 'let the receiver send the intermediate certificates too (fullchain.pem), or add them to the file',
  },
  {
    id: 'intermediate-missing',
    title: 'the receiver does not send its intermediate certificate',
    given: { start: tlsReceiver('chainless') },
    argv: SEND,
    cause: 'the receiver sends only its own certificate, whose issuer is not trusted here',
    fix: 'if that issuer is a public one, let the receiver send the intermediate certificates too (fullchain.pem); if it is yours, name its issuer: --ca FILE',
  },
  {
    id: 'private-issuer',
    title: 'the issuer of the certificate is a private one',
    given: { start: tlsReceiver('unknownCa') },
    argv: SEND,
    cause:
      'probably the issuer is a private one (mkcert, a company, a test), which this machine does not trust',
    fix: 'name its root certificate: --ca FILE',
  },
  {
    id: 'tls-closed',
    title: 'a published port with nothing behind it closes each connection, with https://',
    given: { start: rawServer((socket) => socket.end()) },
    argv: SEND,
    cause: 'the port closes each connection without a response',
    fix: 'let the program in the container run and listen at 0.0.0.0, not at 127.0.0.1',
  },
  {
    id: 'unknown-root',
    title: 'the chain of the receiver ends in a company root',
    given: { start: tlsReceiver('unknownCaWithChain') },
    argv: SECURE,
    cause:
      'the chain ends in a self-signed certificate that is not trusted (SELF_SIGNED_CERT_IN_CHAIN); its issuer is CN=hooks test strangerCa',
    fix: 'name its issuer: --ca FILE',
  },
  {
    id: 'http-to-tls',
    title: 'http:// to a port that speaks TLS',
    given: { start: tlsReceiver('good') },
    argv: PLAIN,
    ...OVER_TLS,
    never: ['crashed'],
  },
  {
    id: 'http-to-tls-reset',
    title: 'http:// to a port that speaks TLS and cuts everything else',
    given: { start: resetsPlainHttp },
    argv: PLAIN,
    ...OVER_TLS,
    never: ['crashed'],
  },
  {
    id: 'http-to-tls-json',
    title: 'the same for a program',
    given: { start: tlsReceiver('good') },
    argv: [...PLAIN, '-o', 'json'],
    cause: '"cause":"speaks-tls"',
    fix: '"hint":"give the URL with https: {url}"',
  },
  {
    id: 'http-to-tls-replay',
    title: 'a replay with http:// to a port that speaks TLS',
    given: { start: tlsReceiver('good'), files: { 'a.ndjson': '{"type":"delete","userId":"u1"}\n' } },
    argv: ['replay', 'a.ndjson', '--url', '{plain}', '--retry-for', '0'],
    cause: 'cause: the port speaks TLS: {url}',
    fix: 'give the URL with https: {url}',
  },
  {
    id: 'http-to-tls-test',
    title: 'hooks test with http:// to a port that speaks TLS',
    given: { start: tlsReceiver('good') },
    argv: ['test', '{plain}', '--secret', 's3cret'],
    ...OVER_TLS,
    never: ['✓'],
  },
  {
    id: 'http-to-tls-doctor',
    title: 'a webhook is configured with http:// for a port that speaks TLS',
    given: { start: tlsReceiver('good'), env: { HOOKS_URL: '{plain}' } },
    argv: ['doctor'],
    cause: '{plain}: the port speaks TLS: {url}',
    fix: 'give the URL with https: {url}',
  },
  {
    id: 'https-to-http',
    title: 'https:// to a port that speaks plain HTTP',
    given: { start: plainReceiver },
    argv: SEND,
    cause: 'the port speaks plain HTTP: {plain}',
    fix: 'give the URL with http: {plain}; or give the receiver a certificate',
  },
  {
    id: 'https-to-http-test',
    title: 'hooks test with https:// to a port that speaks plain HTTP',
    given: { start: plainReceiver },
    argv: TEST,
    cause: 'the port speaks plain HTTP: {plain}',
    fix: 'give the URL with http: {plain}',
  },
  {
    id: 'https-to-http-doctor',
    title: 'a webhook is configured with https:// for a port that speaks plain HTTP',
    given: { start: plainReceiver, env: { HOOKS_URL: '{url}' } },
    argv: ['doctor'],
    cause: 'the port speaks plain HTTP: {plain}',
    fix: 'give the URL with http: {plain}',
  },
  {
    id: 'client-certificate',
    title: 'the receiver wants a client certificate',
    given: { start: tlsReceiver('good', CLIENT_CERTIFICATE) },
    argv: SECURE,
    cause: 'it wants a client certificate (mutual TLS), which webhooks do not have',
    fix: 'exempt this path from it (ssl_verify_client optional)',
  },
  {
    id: 'client-certificate-test',
    title: 'hooks test, and the receiver wants a client certificate',
    given: { start: tlsReceiver('good', CLIENT_CERTIFICATE) },
    argv: [...TEST, '--ca', '{ca}'],
    cause: 'it wants a client certificate (mutual TLS)',
    fix: 'exempt this path from it',
  },
  {
    id: 'tls-silent',
    title: 'the port never responds the hello of TLS',
    given: { start: rawServer(() => {}) },
    argv: [...SEND, '--timeout', '500ms'],
    cause: 'the TLS handshake did not finish, so no message was sent',
    fix: 'check the host and port of the URL',
    never: ['respond first', 'crashed'],
  },
  {
    id: 'tls-reset',
    title: 'the port breaks off the TLS handshake',
    given: { start: rawServer((socket) => socket.once('data', () => socket.resetAndDestroy())) },
    argv: SEND,
    cause: 'the port closes each connection without a response',
    fix: 'let the program in the container run and listen at 0.0.0.0',
    never: ['respond first', 'crashed'],
  },
  {
    id: 'old-tls',
    title: 'the receiver speaks only TLS 1.0 or 1.1',
    given: {
      start: tlsReceiver('good', {
        minVersion: 'TLSv1',
        maxVersion: 'TLSv1.1',
        ciphers: 'DEFAULT@SECLEVEL=0',
      }),
    },
    argv: SECURE,
    cause: 'the server speaks only TLS 1.0 or 1.1',
    fix: 'let it speak TLS 1.2 or later, or put a proxy with TLS in front of it',
  },
  {
    id: 'test-self-signed',
    title: 'hooks test of a receiver with a self-signed certificate',
    given: { start: tlsReceiver('selfSigned') },
    argv: TEST,
    cause: 'the certificate is self-signed',
    fix: "get a certificate from a public issuer (Let's Encrypt)",
  },
  {
    id: 'ca-missing',
    title: 'the file of --ca is not there',
    given: { receiver: () => ({}) },
    argv: [...SEND, '--ca', 'missing.pem'],
    cause: 'missing.pem (there is no such file)',
    fix: 'PEM file with the certificates of the issuers to trust',
    exitCode: 2,
  },
  {
    id: 'ca-no-pem',
    title: 'the file of --ca is no PEM file',
    given: { receiver: () => ({}), files: { 'ca.der': 'not PEM' } },
    argv: [...SEND, '--ca', 'ca.der'],
    cause: 'to be a PEM file of certificates, got',
    fix: 'openssl x509 -inform der -in FILE',
    exitCode: 2,
  },
];

/** Certificates, and TLS where none is expected or the reverse. */
export const TLS: AnswerTheme = { title: 'TLS and certificates', cases: CASES };
