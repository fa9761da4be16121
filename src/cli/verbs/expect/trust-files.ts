import { existsSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { readTextNow } from '../../../files.ts';
import { onSuddenEnd } from '../../child/sudden-end.ts';
import type { Io } from '../../io.ts';

export type TrustFiles = ReturnType<typeof writeTrustFiles>;

/** Writes temporary files by which COMMAND trusts a certificate besides those that it trusted before; `env` has the variables that name them. */
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

/** For each variable what it named before, else the roots of the system, to which Node.js adds the file of its variable by itself. */
function trustedBefore({ env, cwd }: Io): Readonly<Record<string, string>> {
  const namedBy = (name: string): string | undefined =>
    env[name] ? certificatesAt(resolve(cwd, env[name])) : undefined;
  const curl = namedBy('CURL_CA_BUNDLE');
  return {
    SSL_CERT_FILE: namedBy('SSL_CERT_FILE') ?? systemRoots(),
    // Requests for Python takes curl's variable where its own is not set; curl prefers it to SSL_CERT_FILE.
    REQUESTS_CA_BUNDLE: namedBy('REQUESTS_CA_BUNDLE') ?? curl ?? systemRoots(),
    ...(curl !== undefined && { CURL_CA_BUNDLE: curl }),
    NODE_EXTRA_CA_CERTS: namedBy('NODE_EXTRA_CA_CERTS') ?? '',
  };
}

/** Where Debian, Fedora, RHEL and openSUSE keep their roots; Alpine, macOS and BSD. */
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

/** Of a file or of all files of a folder. One that cannot be read adds no certificate, as it did before. */
function certificatesAt(path: string): string {
  try {
    if (!statSync(path).isDirectory()) return `${readTextNow(path)}\n`;
    const names = readdirSync(path).toSorted();
    return names.map((name) => certificatesIn(join(path, name))).join('');
  } catch {
    return '';
  }
}

/** A file of certificates in a folder is far smaller. */
const MOST_BYTES_IN_FOLDER = 1024 * 1024;

/** Reads a file of a folder, which may hold other files too: pipes, folders and large files are skipped. */
function certificatesIn(file: string): string {
  const found = statSync(file, { throwIfNoEntry: false });
  if (found?.isFile() !== true || found.size > MOST_BYTES_IN_FOLDER) return '';
  const text = readTextNow(file);
  return text.includes('-----BEGIN CERTIFICATE-----') ? `${text}\n` : '';
}
