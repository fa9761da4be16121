import { X509Certificate } from 'node:crypto';
import type { SecureContext } from 'node:tls';
import { ConfigError } from '../../errors.ts';
import { MOST_FILE_BYTES, openToRead, readAtMost, readTextNow } from '../../files.ts';
import { unreadableReason } from '../../file-problem.ts';
import type { ConnectionOptions } from '../transport.ts';

/**
 * Creates the TLS context with the trusted issuers, for all connections with the same options. Adds Node's issuers to those
 * of `caFile`, because the option `ca` would replace them.
 */
export function trustContext({ caFile }: ConnectionOptions): SecureContext {
  const tls = process.getBuiltinModule('node:tls');
  if (caFile === undefined) return tls.createSecureContext();
  return tls.createSecureContext({ ca: [...issuersOfNode(), ...issuersIn(caFile)] });
}

/** The trusted issuers in each file that a flag names. Kept, because a pipe can be read only once. */
const known = new Map<string, readonly string[]>();

/**
 * Reads the file that a flag names, which may be a pipe, and keeps its issuers for later calls. Throws ConfigError for an
 * unreadable or invalid file.
 */
export async function loadCaFile(caFile: string, flag: string, signal: AbortSignal): Promise<void> {
  try {
    const bytes = await readAtMost(MOST_FILE_BYTES, () => openToRead(caFile, signal));
    known.set(caFile, issuersOf(bytes.toString(), caFile, flag));
  } catch (cause) {
    throw signal.aborted || cause instanceof ConfigError ? cause : unreadable(caFile, flag, cause);
  }
}

const SETTING = 'delivery.ca';
const PEM = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** Returns the certificates in a PEM file. Throws ConfigError for an unreadable or invalid file. */
export function issuersIn(caFile: string): readonly string[] {
  return known.get(caFile) ?? issuersOf(readPem(caFile), caFile, SETTING);
}

function readPem(caFile: string): string {
  try {
    return readTextNow(caFile);
  } catch (cause) {
    throw unreadable(caFile, SETTING, cause);
  }
}

function issuersOf(pem: string, caFile: string, name: string): readonly string[] {
  const issuers = pem.match(PEM) ?? [];
  if (issuers.length === 0 || !issuers.every(isCertificate)) throw notPem(caFile, name);
  return issuers;
}

function unreadable(caFile: string, name: string, cause: unknown): ConfigError {
  const why = unreadableReason(cause, caFile);
  return new ConfigError(`Expected \`${name}\` to be a file that can be read, got ${caFile} (${why})`, {
    key: name,
    hint: 'name a PEM file with the certificates of the issuers to trust',
    cause,
  });
}

function isCertificate(pem: string): boolean {
  try {
    return new X509Certificate(pem).subject !== '';
  } catch {
    return false;
  }
}

function notPem(caFile: string, name: string): ConfigError {
  return new ConfigError(`Expected \`${name}\` to be a PEM file of certificates, got ${caFile}`, {
    key: name,
    hint: 'name a file that begins with -----BEGIN CERTIFICATE-----, or convert a DER file with `openssl x509 -inform der -in FILE`',
  });
}

function issuersOfNode(): readonly string[] {
  const tls = process.getBuiltinModule('node:tls');
  // The cast adds a function that the types of Node 20 lack: it exists since 22.15, and respects --use-system-ca and
  // --use-openssl-ca.
  const { getCACertificates } = tls as { getCACertificates?: (kind: 'default') => readonly string[] };
  if (getCACertificates !== undefined) return getCACertificates('default');
  return [...tls.rootCertificates, ...extraIssuers(process.env['NODE_EXTRA_CA_CERTS'])];
}

/** Returns the issuers in a file. Empty for an unreadable file, for which Node itself only prints a warning. */
function extraIssuers(file: string | undefined): readonly string[] {
  if (!file) return [];
  try {
    return readTextNow(file).match(PEM) ?? [];
  } catch {
    return [];
  }
}
