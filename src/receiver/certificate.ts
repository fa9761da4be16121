import { generateKeyPairSync, randomBytes, sign, X509Certificate, type KeyObject } from 'node:crypto';
import { isIP } from 'node:net';
import type { ServerCertificate } from './options.ts';

export interface SelfSignedCertificate extends ServerCertificate {
  /** The SHA-256 fingerprint of the certificate in the format of browsers and openssl. */
  readonly fingerprint: string;
}

const DAY_MS = 86_400_000;
/** Validity of the certificate in days: long enough for a session, and below the 398 that browsers accept. */
const VALID_DAYS = 30;

/**
 * Creates a self-signed certificate (P-256 key, ECDSA with SHA-256) for `localhost`, the loopback addresses and the given
 * host. Encodes X.509 v3 (RFC 5280) itself, because node:crypto can read certificates but not create them. The maintained
 * library for it (selfsigned) would bring two ASN.1 stacks with a dozen packages instead of these hundred lines.
 */
export function makeCertificate(host: string, now: number): SelfSignedCertificate {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
  const content = certificateContent(publicKey, host, now);
  const signature = sign('sha256', content, privateKey);
  const der = sequence(content, ECDSA_WITH_SHA256, bitString(signature));
  const certificate = new X509Certificate(der);
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    cert: certificate.toString(),
    fingerprint: certificate.fingerprint256,
  };
}

/** The signed part of a certificate (TBSCertificate). */
function certificateContent(publicKey: KeyObject, host: string, now: number): Buffer {
  const name = sequence(tlv(0x31, sequence(oid('2.5.4.3'), tlv(0x0c, Buffer.from('hooks listen')))));
  return sequence(
    tlv(0xa0, integer(Buffer.from([2]))), // version 3
    integer(serialNumber()),
    ECDSA_WITH_SHA256,
    name, // the issuer
    sequence(time(now - DAY_MS), time(now + VALID_DAYS * DAY_MS)),
    name, // the subject: the same
    publicKey.export({ type: 'spki', format: 'der' }),
    tlv(0xa3, sequence(...extensions(host))),
  );
}

/**
 * A random serial number. Its first bit is 0, because the number must be positive. Its first byte is not 0, because DER
 * requires the shortest encoding.
 */
function serialNumber(): Buffer {
  const bytes = randomBytes(16);
  return bytes.fill(((bytes[0] ?? 0) & 0x7f) | 0x40, 0, 1);
}

function extensions(host: string): Buffer[] {
  return [
    extension('2.5.29.17', sequence(...alternativeNames(host))),
    // The constraint "not a CA": a client that trusts this certificate trusts only this server.
    extension('2.5.29.19', sequence(), true),
    extension('2.5.29.15', tlv(0x03, Buffer.from([7, 0x80])), true), // digitalSignature
    extension('2.5.29.37', sequence(oid('1.3.6.1.5.5.7.3.1'))), // serverAuth
  ];
}

function extension(id: string, value: Buffer, isCritical = false): Buffer {
  const critical = isCritical ? [tlv(0x01, Buffer.from([0xff]))] : [];
  return sequence(oid(id), ...critical, tlv(0x04, value));
}

function alternativeNames(host: string): Buffer[] {
  const names = new Set(['localhost', '127.0.0.1', '::1', host]);
  return [...names].map((name) =>
    isIP(name) === 0 ? tlv(0x82, Buffer.from(name, 'latin1')) : tlv(0x87, addressBytes(name)),
  );
}

function addressBytes(address: string): Buffer {
  if (isIP(address) === 4) return Buffer.from(address.split('.').map(Number));
  // The URL parser normalizes IPv6 addresses to groups in hex with at most one gap.
  const [head = '', tail] = new URL(`http://[${address.replace(/%.*$/, '')}]`).hostname
    .slice(1, -1)
    .split('::');
  const [before, after] = [groupsOf(head), groupsOf(tail ?? '')];
  const gap = Array.from({ length: 8 - before.length - after.length }, () => 0);
  return Buffer.from([...before, ...gap, ...after].flatMap((group) => [group >> 8, group & 0xff]));
}

function groupsOf(text: string): number[] {
  return text === '' ? [] : text.split(':').map((group) => Number.parseInt(group, 16));
}

// The functions below encode the values of a certificate in DER (X.690): a tag, the length, the value.

function tlv(tag: number, value: Buffer): Buffer {
  return Buffer.concat([Buffer.from([tag, ...lengthBytes(value.length)]), value]);
}

function lengthBytes(length: number): number[] {
  if (length < 0x80) return [length];
  return length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
}

function sequence(...parts: readonly Buffer[]): Buffer {
  return tlv(0x30, Buffer.concat(parts));
}

function integer(bytes: Buffer): Buffer {
  return tlv(0x02, bytes);
}

function bitString(bytes: Buffer): Buffer {
  return tlv(0x03, Buffer.concat([Buffer.from([0]), bytes]));
}

function oid(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number);
  return tlv(0x06, Buffer.from([first * 40 + second, ...rest.flatMap(base128)]));
}

function base128(value: number): number[] {
  return value < 0x80
    ? [value]
    : [...base128(Math.floor(value / 0x80)).map((byte) => byte | 0x80), value & 0x7f];
}

/** A UTCTime, which RFC 5280 requires until 2049. */
function time(at: number): Buffer {
  const text = new Date(at)
    .toISOString()
    .replaceAll(/[-:T]|\.\d+/g, '')
    .slice(2);
  return tlv(0x17, Buffer.from(text));
}

const ECDSA_WITH_SHA256 = sequence(oid('1.2.840.10045.4.3.2'));
