import { rmSync } from 'node:fs';
import { mkdtemp, readdir, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { unwritableFile } from '../../report/output-file.ts';
import { onSuddenEnd } from '../child/sudden-end.ts';
import type { Io } from '../io.ts';

/** Temporary files by which COMMAND trusts a certificate besides those that it trusted before. */
export interface TrustFiles {
  /** The variables that name them. */
  readonly env: Readonly<Record<string, string>>;
  remove(): void;
}

/**
 * Writes a file for each variable that programs read their trusted certificates from: what the variable named before, else the roots of
 * the system, and the given certificate. Throws InputError when no temporary file can be written.
 */
export async function writeTrustFiles(certificate: string, io: Io): Promise<TrustFiles> {
  const trusted = await trustedBefore(io);
  const prefix = join(tmpdir(), 'hooks-expect-');
  const folder = await mkdtemp(prefix).catch((cause: unknown) => {
    throw unwritableFile(prefix, cause);
  });
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  const forget = onSuddenEnd(remove);
  const env: Record<string, string> = {};
  for (const [name, text] of Object.entries(trusted)) {
    env[name] = join(folder, `${name}.pem`);
    await writeFile(env[name], text + certificate, { mode: 0o600 });
  }
  return {
    env,
    remove: () => {
      forget();
      remove();
    },
  };
}

/** The certificates that the programs of each variable trust, as PEM. */
async function trustedBefore({ env, cwd }: Io): Promise<Readonly<Record<string, string>>> {
  const namedBy = async (name: string): Promise<string | undefined> =>
    env[name] ? certificatesAt(resolve(cwd, env[name])) : undefined;
  const curl = await namedBy('CURL_CA_BUNDLE');
  return {
    SSL_CERT_FILE: (await namedBy('SSL_CERT_FILE')) ?? (await systemRoots()),
    // Requests for Python takes curl's variable where its own is not set.
    REQUESTS_CA_BUNDLE: (await namedBy('REQUESTS_CA_BUNDLE')) ?? curl ?? (await systemRoots()),
    // Curl itself prefers its own to the first; it has to be set only where it was.
    ...(curl !== undefined && { CURL_CA_BUNDLE: curl }),
    // Node.js adds it to its own roots.
    NODE_EXTRA_CA_CERTS: (await namedBy('NODE_EXTRA_CA_CERTS')) ?? '',
  };
}

/** Where systems keep their roots: Debian, Fedora, RHEL, openSUSE; Alpine, macOS and BSD. */
const SYSTEM_FILES = [
  '/etc/ssl/certs/ca-certificates.crt',
  '/etc/pki/tls/certs/ca-bundle.crt',
  '/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem',
  '/etc/ssl/ca-bundle.pem',
  '/etc/ssl/cert.pem',
];

async function systemRoots(): Promise<string> {
  for (const file of SYSTEM_FILES) {
    const roots = await textOf(file);
    if (roots !== '') return roots;
  }
  const { rootCertificates } = process.getBuiltinModule('node:tls'); // loaded where it is needed
  return `${rootCertificates.join('\n')}\n`;
}

/** The text of a file, or of all files of a folder. */
async function certificatesAt(path: string): Promise<string> {
  const names = await readdir(path).catch(() => undefined);
  if (names === undefined) return textOf(path);
  const texts = await Promise.all(names.toSorted().map((name) => textOf(join(path, name))));
  return texts.join('');
}

/** Ends with a line break, unless it is empty. A file that cannot be read adds no certificate, as it did before. */
async function textOf(file: string): Promise<string> {
  const text = await readFile(file, 'utf8').catch(() => '');
  return text === '' || text.endsWith('\n') ? text : `${text}\n`;
}
