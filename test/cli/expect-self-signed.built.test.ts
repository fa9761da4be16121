import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { rootCertificates } from 'node:tls';
import { afterAll, describe, expect, it } from 'vitest';
import { makeCertificates } from '../certificates.ts';
import { hooks, startHooks } from '../end-to-end/hooks.ts';
import { answers } from '../hostile-receivers.ts';
import { started } from '../transport/sending.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { until } from '../until.ts';

const NODE = [process.execPath, '-e'];
const ONE = ['expect', '--self-signed', '--count', '1', '--within', '20s'];
const POST = `await fetch(process.env.HOOKS_URL, { method: 'POST', body: '{"type":"track"}' });`;
const VARIABLES = ['SSL_CERT_FILE', 'REQUESTS_CA_BUNDLE', 'CURL_CA_BUNDLE', 'NODE_EXTRA_CA_CERTS'] as const;
const SYSTEM_ROOTS = '/etc/ssl/certs/ca-certificates.crt';

const certificates = await makeCertificates();
afterAll(() => certificates.remove());

/** Facts that COMMAND prints: the URL, and the text and the mode of the file of each variable. */
const TELL = `
const { renameSync, readFileSync, statSync, writeFileSync } = require('node:fs');
const { dirname } = require('node:path');
const modeOf = (file) => statSync(file).mode & 0o777;
const given = ${JSON.stringify(VARIABLES)}.filter((name) => process.env[name]);
const files = given.map((name) => [name, process.env[name]]).map(([name, file]) =>
  [name, { text: readFileSync(file, 'utf8'), modes: [modeOf(dirname(file)), modeOf(file)] }]);
writeFileSync('part.json', JSON.stringify({ url: process.env.HOOKS_URL, files: Object.fromEntries(files) }));
renameSync('part.json', 'told.json');`;

interface Told {
  readonly url: string;
  readonly files: Readonly<Record<string, { readonly text: string; readonly modes: readonly number[] }>>;
}

async function toldBy(env: Readonly<Record<string, string>>): Promise<Told> {
  const [cwd, TMPDIR] = [temporaryFolder(), temporaryFolder()];
  const command = [...NODE, `${TELL}(async () => { ${POST} })();`];
  const { code, stderr } = await hooks([...ONE, '--', ...command], { cwd, env: { TMPDIR, ...env } });
  expect([code, readdirSync(TMPDIR)], stderr).toEqual([0, []]);
  return JSON.parse(await readFile(join(cwd, 'told.json'), 'utf8')) as Told; // as TELL writes it
}

function certificatesIn(text = ''): readonly string[] {
  return text.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
}

describe('hooks expect --self-signed', () => {
  it('speaks TLS, and lets COMMAND trust the roots of the system and its certificate', async () => {
    const { url, files } = await toldBy({});
    expect(url).toMatch(/^https:\/\/127\.0\.0\.1:\d+$/);
    expect(Object.keys(files)).toEqual(['SSL_CERT_FILE', 'REQUESTS_CA_BUNDLE', 'NODE_EXTRA_CA_CERTS']);
    for (const { modes } of Object.values(files)) expect(modes).toEqual([0o700, 0o600]);
    const ours = certificatesIn(files['NODE_EXTRA_CA_CERTS']?.text);
    expect(ours).toHaveLength(1);
    const hasRoots = existsSync(SYSTEM_ROOTS);
    const roots = hasRoots ? certificatesIn(await readFile(SYSTEM_ROOTS, 'utf8')) : rootCertificates;
    for (const name of ['SSL_CERT_FILE', 'REQUESTS_CA_BUNDLE']) {
      expect(certificatesIn(files[name]?.text)).toEqual([...roots, ...ours]);
    }
  });

  it('adds its certificate to the file, the folder or the missing file that each variable named', async () => {
    const ca = await readFile(certificates.caFile, 'utf8');
    const stranger = await readFile(certificates.strangerCaFile, 'utf8');
    const folder = temporaryFolder({ 'a.pem': ca.trimEnd(), 'b.crt': stranger });
    // A folder may also contain a large file and another folder.
    writeFileSync(join(folder, 'large.pem'), ca.padEnd(2 * 1024 * 1024));
    mkdirSync(join(folder, 'inner'));
    const { files } = await toldBy({
      SSL_CERT_FILE: certificates.caFile,
      REQUESTS_CA_BUNDLE: folder,
      CURL_CA_BUNDLE: join(folder, 'missing.pem'),
      NODE_EXTRA_CA_CERTS: certificates.strangerCaFile,
    });
    const ours = certificatesIn(files['CURL_CA_BUNDLE']?.text);
    expect(ours).toHaveLength(1);
    const trusted = Object.entries(files).map(([name, { text }]) => [name, certificatesIn(text)]);
    expect(Object.fromEntries(trusted)).toEqual({
      SSL_CERT_FILE: [...certificatesIn(ca), ...ours],
      REQUESTS_CA_BUNDLE: [...certificatesIn(ca), ...certificatesIn(stranger), ...ours],
      CURL_CA_BUNDLE: ours,
      NODE_EXTRA_CA_CERTS: [...certificatesIn(stranger), ...ours],
    });
  });

  it('lets COMMAND reach the receiver, and a server that it trusted before', async () => {
    const { good, caFile } = certificates;
    const server = await started(answers(200, { certificate: good, body: 'trusted' }));
    const get = `console.log(await (await fetch('${server.url}')).text());`;
    const program = `(async () => { ${get} ${POST} })();`;
    const env = { NODE_EXTRA_CA_CERTS: caFile };
    const { code, stderr } = await hooks([...ONE, '--', ...NODE, program], { env });
    expect([code, stderr]).toEqual([0, expect.stringContaining('| trusted\n')]);
  });

  it.each(['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'] as const)(
    'removes its files after %s',
    async (signal) => {
      const [cwd, TMPDIR] = [temporaryFolder(), temporaryFolder()];
      const command = [...NODE, `${TELL} setInterval(() => {}, 1000);`];
      const running = startHooks([...ONE, '--', ...command], { cwd, env: { TMPDIR } });
      await until(() => existsSync(join(cwd, 'told.json')), 'the command');
      expect(readdirSync(TMPDIR)).toHaveLength(1);
      await running.stop(signal);
      expect(readdirSync(TMPDIR)).toEqual([]);
    },
  );

  it('removes its files when COMMAND cannot be started', async () => {
    const TMPDIR = temporaryFolder();
    const { code } = await hooks([...ONE, '--', join(TMPDIR, 'nothing')], { env: { TMPDIR } });
    expect([code, readdirSync(TMPDIR)]).toEqual([2, []]);
  });
});
