import { existsSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { readTextNow } from '../../../files.ts';
import { onSuddenEnd } from '../../child/sudden-end.ts';
import type { Io } from '../../io.ts';

export type TrustFiles = ReturnType<typeof writeTrustFiles>;

/**
 * Writes temporary files with a certificate and all certificates that the command of `hooks expect` trusted before. Returns
 * the environment variables that name the files, and a function that removes the files.
 */
export function writeTrustFiles(certificate: string, io: Io) {
  const folder = mkdtempSync(join(tmpdir(), 'hooks-expect-'));
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  const forget = onSuddenEnd(remove);
  const files = Object.entries(trustedBefore(io)).map(([name, certificates]) => {
    const file = join(folder, `${name}.pem`);
    writeFileSync(file, certificates + certificate, { mode: 0o600 });
    return [name, file] as const;
  });
  return {
    env: Object.fromEntries(files),
    remove: () => {
      forget();
      remove();
    },
  };
}

/**
 * Returns the certificates for each variable that gets a trust file: those of the file that the variable named before, else
 * the root certificates of the system. NODE_EXTRA_CA_CERTS needs no roots, because Node.js adds its own.
 */
function trustedBefore({ env, cwd }: Io): Readonly<Record<string, string>> {
  const namedBy = (name: string): string | undefined =>
    env[name] ? certificatesAt(resolve(cwd, env[name])) : undefined;
  const curl = namedBy('CURL_CA_BUNDLE');
  return {
    SSL_CERT_FILE: namedBy('SSL_CERT_FILE') ?? systemRoots(),
    // The Python library Requests uses CURL_CA_BUNDLE if its own variable is not set. curl prefers CURL_CA_BUNDLE to
    // SSL_CERT_FILE.
    REQUESTS_CA_BUNDLE: namedBy('REQUESTS_CA_BUNDLE') ?? curl ?? systemRoots(),
    ...(curl !== undefined && { CURL_CA_BUNDLE: curl }),
    NODE_EXTRA_CA_CERTS: namedBy('NODE_EXTRA_CA_CERTS') ?? '',
  };
}

/** Paths of the root certificates on Debian, Fedora, RHEL, openSUSE; the last on Alpine, macOS and BSD. */
const SYSTEM_FILES = [
  '/etc/ssl/certs/ca-certificates.crt',
  '/etc/pki/tls/certs/ca-bundle.crt',
  '/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem',
  '/etc/ssl/ca-bundle.pem',
  '/etc/ssl/cert.pem',
];

function systemRoots(): string {
  const file = SYSTEM_FILES.find((each) => existsSync(each));
  return file === undefined
    ? `${process.getBuiltinModule('node:tls').rootCertificates.join('\n')}\n`
    : certificatesAt(file);
}

/**
 * Reads the certificates of a file or of all files of a folder. Empty if unreadable: then the command of `hooks expect` did
 * not trust them either.
 */
function certificatesAt(path: string): string {
  try {
    if (!statSync(path).isDirectory()) return `${readTextNow(path)}\n`;
    const names = readdirSync(path).toSorted();
    return names.map((name) => certificatesIn(join(path, name))).join('');
  } catch {
    return '';
  }
}

/** Maximum bytes of a file that is read from a folder of certificates. Files of certificates are far smaller. */
const MOST_BYTES_IN_FOLDER = 1024 * 1024;

/** Reads a file of certificates. Skips pipes, folders, large files and files without a certificate. */
function certificatesIn(file: string): string {
  const found = statSync(file, { throwIfNoEntry: false });
  if (found?.isFile() !== true || found.size > MOST_BYTES_IN_FOLDER) return '';
  const text = readTextNow(file);
  return text.includes('-----BEGIN CERTIFICATE-----') ? `${text}\n` : '';
}
