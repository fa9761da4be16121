import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** Paths of PEM files, as `tls.createServer` and flags take them. */
export interface Certificate {
  readonly keyFile: string;
  readonly certFile: string;
}

/** Each is for localhost, receiver.test, 127.0.0.1 and ::1, but for `otherName`. */
export interface Certificates {
  /** The issuer of `good`, `expired`, `notYetValid` and `otherName`: what a `caFile` names. */
  readonly caFile: string;
  /** The issuer of `unknownCa`. */
  readonly strangerCaFile: string;
  readonly good: Certificate;
  readonly selfSigned: Certificate;
  readonly expired: Certificate;
  readonly notYetValid: Certificate;
  /** For other.example. */
  readonly otherName: Certificate;
  /** Its issuer is not the one of `caFile`, and is not sent along. */
  readonly unknownCa: Certificate;
  /** The same, with its issuer's self-signed certificate sent along. */
  readonly unknownCaWithChain: Certificate;
  /** Removes the folder with all of them. */
  remove(): Promise<void>;
}

const run = promisify(execFile);

const CONFIG = `
[req]
distinguished_name = name
prompt = no
[name]
CN = hooks test
[here]
basicConstraints = CA:FALSE
subjectAltName = DNS:localhost, DNS:receiver.test, IP:127.0.0.1, IP:::1
[elsewhere]
basicConstraints = CA:FALSE
subjectAltName = DNS:other.example
[issuer]
basicConstraints = critical, CA:TRUE
keyUsage = critical, keyCertSign, cRLSign
[any]
commonName = supplied
`;

interface Wanted {
  readonly name: string;
  readonly issuer: string;
  readonly extensions: 'here' | 'elsewhere';
  /** Years that it is valid from and to. */
  readonly years: readonly [number, number];
}

const NOW = [2020, 2049] as const;

const WANTED: readonly Wanted[] = [
  { name: 'good', issuer: 'ca', extensions: 'here', years: NOW },
  { name: 'expired', issuer: 'ca', extensions: 'here', years: [2020, 2021] },
  { name: 'notYetValid', issuer: 'ca', extensions: 'here', years: [2048, 2049] },
  { name: 'otherName', issuer: 'ca', extensions: 'elsewhere', years: NOW },
  { name: 'unknownCa', issuer: 'strangerCa', extensions: 'here', years: NOW },
];

/** Real certificates, by openssl, in a folder of their own below the system's temporary one. */
export async function makeCertificates(): Promise<Certificates> {
  const folder = await mkdtemp(join(tmpdir(), 'hooks-certificates-'));
  await writeFile(join(folder, 'openssl.cnf'), CONFIG);
  await Promise.all([
    selfSign(folder, 'ca', 'issuer'),
    selfSign(folder, 'strangerCa', 'issuer'),
    selfSign(folder, 'selfSigned', 'here'),
  ]);
  await Promise.all(WANTED.map((wanted) => issue(folder, wanted)));
  await appendIssuer(folder, 'unknownCa', 'strangerCa', 'unknownCaWithChain');
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
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}

function newKey(name: string): readonly string[] {
  return [
    '-newkey',
    'ec',
    '-pkeyopt',
    'ec_paramgen_curve:prime256v1',
    '-nodes',
    '-keyout',
    `${name}.key`,
    '-subj',
    `/CN=hooks test ${name}`,
  ];
}

async function selfSign(folder: string, name: string, extensions: string): Promise<void> {
  await openssl(folder, [
    'req',
    '-x509',
    ...newKey(name),
    '-out',
    `${name}.pem`,
    '-days',
    '3650',
    '-extensions',
    extensions,
  ]);
}

/** By `openssl ca`: the one command that takes dates in the past, in every version. */
async function issue(folder: string, { name, issuer, extensions, years }: Wanted): Promise<void> {
  const records = join(folder, `${name}.records`);
  await mkdir(records);
  await writeFile(join(records, 'index'), '');
  await writeFile(
    join(records, 'ca.cnf'),
    `${CONFIG}\n[ca]\ndefault_ca = this\n[this]\ndatabase = ${records}/index\nnew_certs_dir = ${records}\n` +
      'rand_serial = yes\ndefault_md = sha256\npolicy = any\nunique_subject = no\n',
  );
  await openssl(folder, ['req', ...newKey(name), '-out', `${name}.csr`]);
  const [from, to] = years.map((year) => `${year}0101000000Z`);
  await openssl(
    folder,
    [
      ['ca', '-batch', '-notext', '-in', `${name}.csr`, '-out', `${name}.pem`],
      ['-cert', `${issuer}.pem`, '-keyfile', `${issuer}.key`, '-extensions', extensions],
      ['-startdate', `${from}`, '-enddate', `${to}`],
    ].flat(),
    join(records, 'ca.cnf'),
  );
}

async function appendIssuer(folder: string, name: string, issuer: string, to: string): Promise<void> {
  const parts = await Promise.all(
    [name, issuer].map((part) => readFile(join(folder, `${part}.pem`), 'utf8')),
  );
  await writeFile(join(folder, `${to}.pem`), parts.join(''));
}

async function openssl(folder: string, args: readonly string[], config = 'openssl.cnf'): Promise<void> {
  await run('openssl', [...args, '-config', config], { cwd: folder });
}
