import { describe, expect, it } from 'vitest';
import { BLOCKED_ADDRESS, isBrokenOff, networkFailure, onRoute } from '../../src/transport/network-error.ts';

describe('networkFailure', () => {
  it.each([
    ['ECONNREFUSED', 'refused'],
    ['EHOSTUNREACH', 'refused'],
    ['ENETUNREACH', 'refused'],
    ['ETIMEDOUT', 'timeout'],
    ['ENOTFOUND', 'dns'],
    ['EAI_AGAIN', 'dns'],
    ['ECONNRESET', 'reset'],
    ['EPIPE', 'reset'],
    ['UND_ERR_SOCKET', 'reset'],
    ['SELF_SIGNED_CERT_IN_CHAIN', 'tls-self-signed'],
    ['CERT_NOT_YET_VALID', 'tls-expired'],
    ['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', 'tls-untrusted'],
    ['CERT_REVOKED', 'tls-untrusted'],
    ['ERR_SSL_WRONG_VERSION_NUMBER', 'tls'],
    [BLOCKED_ADDRESS, 'blocked-address'],
    ['E_NEVER_HEARD_OF', 'reset'],
  ])('maps %s to %s', (code, error) => {
    expect(networkFailure(failure('what happened', { code })).error).toBe(error);
  });

  it.each([
    ['EHOSTUNREACH', 'unreachable'],
    ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'tls-chain'],
    ['ERR_SSL_TLSV1_ALERT_INTERNAL_ERROR', 'tls-alert'],
    ['ERR_SSL_TLSV1_UNRECOGNIZED_NAME', 'tls-alert'],
    ['ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED', 'client-certificate'],
    ['ERR_SSL_NO_CIPHERS_AVAILABLE', undefined],
  ])('finds for %s the cause %s', (code, cause) => {
    expect(networkFailure(failure('what happened', { code })).cause).toBe(cause);
  });

  it('says that the chain is missing if the user already names an issuer', () => {
    const found = networkFailure(failure('leaf', { code: 'UNABLE_TO_VERIFY_LEAF_SIGNATURE' }));
    expect(onRoute(found, undefined).cause).toBe('tls-chain');
    expect(onRoute(found, undefined, { caFile: 'ca.pem' }).cause).toBe('tls-chain-between');
  });

  it.each<[cause: string | undefined, presented: object, code?: string]>([
    ['tls-default', { subjectaltname: 'DNS:ingress.local' }],
    ['tls-default', { subjectaltname: 'DNS:ingress.local' }, 'DEPTH_ZERO_SELF_SIGNED_CERT'],
    ['tls-private', { subjectaltname: 'DNS:hooks.example, DNS:localhost' }],
    ['tls-private', { valid_to: 'Jan  1 00:00:00 2030 GMT' }],
    ['tls-chain', {}],
    ['tls-chain', { valid_to: 'Jan  1 00:00:00 2030 GMT', issuer: { CN: 'Example Intermediate' } }],
    [
      'tls-chain',
      { valid_to: 'Jan  1 00:00:00 2030 GMT', infoAccess: { 'CA Issuers - URI': ['http://a/'] } },
    ],
    [undefined, {}, 'DEPTH_ZERO_SELF_SIGNED_CERT'],
  ])('finds %s in the certificate %j', (cause, presented, code = 'UNABLE_TO_VERIFY_LEAF_SIGNATURE') => {
    const valid = { valid_from: 'Jan  1 00:00:00 2026 GMT', valid_to: 'Mar  1 00:00:00 2026 GMT' };
    const certificate = {
      subject: { CN: 'hooks.example' },
      subjectaltname: 'DNS:hooks.example',
      issuer: { CN: 'Example' },
      ...valid,
      ...presented,
    };
    const error = Object.assign(new Error('tls'), {
      code,
      presented: certificate,
      presentedFor: 'hooks.example',
    });
    expect(networkFailure(error).cause).toBe(cause);
  });

  it.each([
    ['127.0.0.1', 'DNS:127.0.0.1', 'IP:127.0.0.1'],
    ['a.example', 'DNS:b.example', 'DNS:a.example'],
  ])('says that a certificate for %s lacks its name, whatever is wrong with it', (host, names, lacks) => {
    const presented = { subject: { CN: host }, subjectaltname: names, issuer: { CN: 'Example' } };
    for (const code of ['ERR_TLS_CERT_ALTNAME_INVALID', 'DEPTH_ZERO_SELF_SIGNED_CERT']) {
      const { detail } = networkFailure(failure('tls', { code, presented, presentedFor: host }));
      expect(detail).toContain(`(${code}), which has: ${names}, but not ${lacks}`);
    }
  });

  it('describes what happened and where', () => {
    const refused = failure('connect', { code: 'ECONNREFUSED', address: '127.0.0.1', port: 9 });
    expect(networkFailure(refused).detail).toBe('the connection was refused (ECONNREFUSED 127.0.0.1:9)');
    const unknown = failure('getaddrinfo', { code: 'ENOTFOUND', hostname: 'a.invalid' });
    expect(networkFailure(unknown).detail).toBe('the host name does not exist (ENOTFOUND a.invalid)');
  });

  it('selects the most informative error of several addresses', () => {
    const gaveUp = failure('timed out', { code: 'ETIMEDOUT' });
    const refused = failure('refused', { code: 'ECONNREFUSED' });
    expect(networkFailure(new AggregateError([gaveUp, refused])).error).toBe('refused');
    expect(networkFailure(new AggregateError([gaveUp, gaveUp])).error).toBe('timeout');
  });

  it('distinguishes a broken response from a closed connection with the same code', () => {
    const bad = failure('bad response', { code: 'UND_ERR_SOCKET' });
    expect(networkFailure(bad).error).toBe('protocol');
    expect(isBrokenOff(bad)).toBe(false);
    expect(networkFailure(bad).cause).toBe('malformed-http');
    expect(networkFailure(failure('bad upgrade', {})).cause).toBe('malformed-http');
    expect(isBrokenOff(failure('other side closed', { code: 'UND_ERR_SOCKET' }))).toBe(true);
  });

  it('escapes control characters of the receiver', () => {
    expect(networkFailure(failure('a\u001b[2Jb', { code: 'E_NEVER_HEARD_OF' })).detail).toBe('a\\u001b[2Jb');
  });

  it('accepts values that are no errors', () => {
    expect(networkFailure('oops')).toEqual({ error: 'reset', detail: 'oops' });
  });
});

function failure(message: string, more: object): Error {
  return Object.assign(new Error(message), more);
}
