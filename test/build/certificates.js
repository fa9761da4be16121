// Makes test/certificates.json with openssl: `node test/build/certificates.js`. Needed only when a test wants another certificate.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

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
[public]
basicConstraints = CA:FALSE
subjectAltName = DNS:hooks.example.com, IP:127.0.0.1
[issuer]
basicConstraints = critical, CA:TRUE
keyUsage = critical, keyCertSign, cRLSign
[any]
commonName = supplied
`;

const NOW = [2020, 2049];
/** Days until 2049, because openssl accepts no dates for a self-signed certificate. */
const DAYS = Math.floor((Date.UTC(2049, 0) - Date.now()) / 86_400_000);

const folder = mkdtempSync(join(tmpdir(), 'hooks-certificates-'));
try {
  selfSign('ca', 'issuer');
  selfSign('strangerCa', 'issuer');
  selfSign('selfSigned', 'here');
  issue('good', { issuer: 'ca', extensions: 'here', years: NOW });
  issue('expired', { issuer: 'ca', extensions: 'here', years: [2020, 2021] });
  issue('notYetValid', { issuer: 'ca', extensions: 'here', years: [2048, 2049] });
  issue('otherName', { issuer: 'ca', extensions: 'elsewhere', years: NOW });
  issue('unknownCa', { issuer: 'strangerCa', extensions: 'here', years: NOW });
  issue('intermediate', { issuer: 'strangerCa', extensions: 'issuer', years: NOW });
  issue('chainless', { issuer: 'intermediate', extensions: 'public', years: NOW });
  const files = ['ca.pem', 'strangerCa.pem'];
  for (const name of [
    'selfSigned',
    'good',
    'expired',
    'notYetValid',
    'otherName',
    'unknownCa',
    'chainless',
  ]) {
    files.push(`${name}.pem`, `${name}.key`);
  }
  const texts = Object.fromEntries(files.map((file) => [file, readFileSync(join(folder, file), 'utf8')]));
  writeFileSync(new URL('../certificates.json', import.meta.url), `${JSON.stringify(texts, null, 2)}\n`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}

function newKey(name) {
  const key = [
    '-newkey',
    'ec',
    '-pkeyopt',
    'ec_paramgen_curve:prime256v1',
    '-nodes',
    '-keyout',
    `${name}.key`,
  ];
  return [...key, '-subj', `/CN=hooks test ${name}`];
}

function selfSign(name, extensions) {
  openssl([
    'req',
    '-x509',
    ...newKey(name),
    '-out',
    `${name}.pem`,
    '-days',
    `${DAYS}`,
    '-extensions',
    extensions,
  ]);
}

/** Issues a certificate by `openssl ca`, the only command that accepts past dates in every version. */
function issue(name, { issuer, extensions, years: [from, to] }) {
  const records = join(folder, `${name}.records`);
  mkdirSync(records);
  writeFileSync(join(records, 'index'), '');
  const authority =
    `[ca]\ndefault_ca = this\n[this]\ndatabase = ${records}/index\nnew_certs_dir = ${records}\n` +
    'rand_serial = yes\ndefault_md = sha256\npolicy = any\nunique_subject = no\n';
  openssl(['req', ...newKey(name), '-out', `${name}.csr`]);
  const files = [
    '-in',
    `${name}.csr`,
    '-out',
    `${name}.pem`,
    '-cert',
    `${issuer}.pem`,
    '-keyfile',
    `${issuer}.key`,
  ];
  const dates = ['-startdate', `${from}0101000000Z`, '-enddate', `${to}0101000000Z`];
  openssl(
    ['ca', '-batch', '-notext', ...files, '-extensions', extensions, ...dates],
    `${CONFIG}\n${authority}`,
  );
}

function openssl(args, config = CONFIG) {
  const file = join(folder, 'openssl.cnf');
  writeFileSync(file, config);
  execFileSync('openssl', [...args, '-config', file], { cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] });
}
