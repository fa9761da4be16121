import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { SecureContext } from 'node:tls';
import { ConfigError } from '../../errors.ts';

/**
 * Whom to trust, read once and shared by every connection. `caFile` adds issuers to Node's own: given as `ca` alone
 * they would replace them.
 */
export function trustContext(caFile: string | undefined): SecureContext {
  const tls = process.getBuiltinModule('node:tls');
  if (caFile === undefined) return tls.createSecureContext();
  return tls.createSecureContext({ ca: [...issuersOfNode(), ...issuersIn(caFile)] });
}

/** Throws ConfigError for a file that cannot be used; `name` is what names it there. */
export function checkCaFile(caFile: string, name?: string): void {
  issuersIn(caFile, name);
}

const PEM = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

function issuersIn(caFile: string, name = 'delivery.ca'): readonly string[] {
  const issuers = readPem(caFile, name).match(PEM) ?? [];
  if (issuers.length === 0 || !issuers.every(isCertificate)) throw notPem(caFile, name);
  return issuers;
}

const WHY_NOT: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  EISDIR: 'it is a folder',
  EACCES: 'it may not be read by this user',
};

function readPem(caFile: string, name: string): string {
  try {
    return readFileSync(caFile, 'utf8');
  } catch (cause) {
    const { code = '', message } = cause as NodeJS.ErrnoException; // of a file operation
    const reason = WHY_NOT[code] ?? message;
    throw new ConfigError(`Expected \`${name}\` to be a file that can be read, got ${caFile} (${reason})`, {
      key: name,
      hint: 'Name a PEM file with the certificates of the issuers to trust',
      cause,
    });
  }
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
    hint: 'It begins with -----BEGIN CERTIFICATE-----; `openssl x509 -inform der -in FILE` makes one of a DER file',
  });
}

function issuersOfNode(): readonly string[] {
  const tls = process.getBuiltinModule('node:tls');
  // Not in the types of Node 20: it came with 22.15, and knows of --use-system-ca and --use-openssl-ca too.
  const { getCACertificates } = tls as { getCACertificates?: (kind: 'default') => readonly string[] };
  if (getCACertificates !== undefined) return getCACertificates('default');
  return [...tls.rootCertificates, ...extraIssuers(process.env['NODE_EXTRA_CA_CERTS'])];
}

/** Node itself only warns of a file that it cannot read, and goes on without. */
function extraIssuers(file: string | undefined): readonly string[] {
  if (!file) return [];
  try {
    return readFileSync(file, 'utf8').match(PEM) ?? [];
  } catch {
    return [];
  }
}
