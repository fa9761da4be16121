import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Paths of PEM files, as `tls.createServer` and flags take them. */
export interface Certificate {
  readonly keyFile: string;
  readonly certFile: string;
}

/** Certificates for localhost, receiver.test, 127.0.0.1 and ::1, except `otherName`. */
export interface Certificates {
  /** The issuer of `good`, `expired`, `notYetValid` and `otherName`. */
  readonly caFile: string;
  /** The issuer of `unknownCa`. */
  readonly strangerCaFile: string;
  readonly good: Certificate;
  readonly selfSigned: Certificate;
  readonly expired: Certificate;
  readonly notYetValid: Certificate;
  /** A certificate for other.example. */
  readonly otherName: Certificate;
  /** A certificate of another issuer than `caFile`, which the server does not send. */
  readonly unknownCa: Certificate;
  /** The same certificate, for which the server also sends the self-signed certificate of the issuer. */
  readonly unknownCaWithChain: Certificate;
  /** A certificate for hooks.example.com and 127.0.0.1 of an intermediate issuer, which the server does not send. */
  readonly chainless: Certificate;
  /** Removes the folder with all of them. */
  remove(): Promise<void>;
}

/** The text of each file by its name, made by test/build/certificates.js. The keys protect nothing. */
const MADE = new URL('certificates.json', import.meta.url);

/** Writes the certificates to a new temporary folder. */
export async function makeCertificates(): Promise<Certificates> {
  const folder = await mkdtemp(join(tmpdir(), 'hooks-certificates-'));
  const made = JSON.parse(await readFile(MADE, 'utf8')) as Record<string, string>; // what the script writes
  const files = { ...made, 'unknownCaWithChain.pem': `${made['unknownCa.pem']}${made['strangerCa.pem']}` };
  for (const [name, text] of Object.entries(files)) {
    await writeFile(join(folder, name), text, name.endsWith('.key') ? { mode: 0o600 } : {});
  }
  const certificate = (name: string, key = name): Certificate => ({
    keyFile: join(folder, `${key}.key`),
    certFile: join(folder, `${name}.pem`),
  });
  return {
    caFile: join(folder, 'ca.pem'),
    strangerCaFile: join(folder, 'strangerCa.pem'),
    good: certificate('good'),
    selfSigned: certificate('selfSigned'),
    expired: certificate('expired'),
    notYetValid: certificate('notYetValid'),
    otherName: certificate('otherName'),
    unknownCa: certificate('unknownCa'),
    unknownCaWithChain: certificate('unknownCaWithChain', 'unknownCa'),
    chainless: certificate('chainless'),
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}
