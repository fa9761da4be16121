import { chmod, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { loadSqlite, type Database } from '../../src/stores/sqlite/file/sqlite.ts';
import { makeCertificates } from '../certificates.ts';
import { closedPort } from '../end-to-end/delivering.ts';
import { hooks, startHooks } from '../end-to-end/hooks.ts';
import { tracks } from '../end-to-end/receiving.ts';
import { answersOk, neverSpeaks } from '../hostile-receivers.ts';
import { proxyServer } from '../transport/proxy-server.ts';
import { started } from '../transport/sending.ts';
import { examined, newPlace } from './examined.ts';
import { hooks as hooksHere } from './run-in-process.ts';

const certificates = await makeCertificates();
afterAll(() => certificates.remove());

async function queued(count = 1): Promise<{ cwd: string; file: string; env: Record<string, string> }> {
  const to = await started(answersOk());
  const cwd = await newPlace({ webhooks: [to.url], sharedSecret: 's3cret' });
  const env = { HOOKS_DATA_DIR: join(cwd, 'data') };
  await writeFile(join(cwd, 'messages.ndjson'), tracks(count));
  expect(await hooksHere(['replay', 'messages.ndjson', '--queue'], { cwd, env })).toMatchObject({ code: 0 });
  return { cwd, file: join(cwd, 'data/hooks.db'), env };
}

async function change(file: string, sql: string, during?: () => Promise<void>): Promise<void> {
  const { DatabaseSync } = await loadSqlite();
  const database: Database = new DatabaseSync(file, { timeout: 1_000 });
  database.exec(sql);
  await during?.();
  database.close();
}

const HOOK = 'http://127.0.0.1:9';
const KEYED = { writeKey: 'k', destinations: { A: { webhooks: [HOOK] } } };

describe('hooks doctor', () => {
  it('reports that all is well, without sending', async () => {
    const to = await started(answersOk());
    const cwd = await newPlace({ webhooks: [to.url], sharedSecret: 's3cret' });
    const env = { HOOKS_DATA_DIR: join(cwd, 'data') };
    const { code, stdout, stderr } = await hooks(['doctor', '--allow-private'], { cwd, env });
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(/^✓ webhook +http:.*: connected to 127\.0\.0\.1 in \S+$/m);
    expect(stdout).toMatch(/\n\nAll is well\n$/);
    expect(stdout).not.toContain('s3cret');
    // The second connection sends a TLS hello to find out which protocol the port speaks. As the receiver is silent, the third
    // asks in HTTP.
    expect(to.requests.map(({ head }) => head[0])).toEqual(['OPTIONS * HTTP/1.1']);
    expect(to.connections).toBe(3);
    await expect(stat(join(cwd, 'data'))).rejects.toThrow('ENOENT');
  });

  it('does not advise -c if -c names the config', async () => {
    const cwd = await newPlace({ webhooks: ['http://127.0.0.1:9/'], sharedSecret: 's3cret' });
    await writeFile(join(cwd, '.hooksrc.yaml'), 'webhooks: [http://127.0.0.1:9/]\n');
    expect((await hooksHere(['doctor'], { cwd })).stdout).toContain('.hooksrc.yaml is not read');
    const { stdout } = await hooksHere(['doctor', '-c', '.hooksrc.yaml'], { cwd });
    expect(stdout).not.toContain('is not read');
  });

  it('prints no check mark for a result that is ok for some uses only', async () => {
    const cwd = await newPlace({ webhooks: ['http://127.0.0.1:9/'], sharedSecret: 's3cret' });
    const { stdout } = await hooksHere(['doctor', '--allow-private'], { cwd });
    expect(stdout).toMatch(
      /^· write-key +source default: it has no write key, so hooks serve accepts no messages/m,
    );
    expect(stdout).toMatch(/^✓ destination /m);
  });

  it('fails for a webhook that serve and worker do not connect to, unless the config allows it', async () => {
    const { url } = await started(answersOk());
    const refused = await examined({ config: { webhooks: [url] }, env: { HOOKS_ALLOW_PRIVATE: '' } });
    expect(refused.code).toBe(1);
    const why = 'which is loopback: serve and worker do not connect to it';
    expect(refused.told('webhook')).toEqual([expect.stringMatching(`^fail: .*${why}`)]);
    expect(refused.of('webhook')[0]?.hint).toContain('delivery.allowPrivate: true');
    const config = { webhooks: [url], sharedSecret: 's3cret', delivery: { allowPrivate: true } };
    const allowed = await examined({ config, env: { HOOKS_ALLOW_PRIVATE: '' } });
    expect(allowed.code).toBe(0);
    expect(allowed.of('webhook')).toMatchObject([{ status: 'ok' }]);
  });

  it('reports a config that does not load, and stops there', async () => {
    const { code, of, told } = await examined({ config: { webhoks: [] } });
    expect(code).toBe(1);
    expect(told('config')).toEqual(['fail: Unknown setting `webhoks` (from .hooksrc.json)']);
    expect(of('webhook')).toEqual([]);
  });

  it('reports each unset variable once', async () => {
    const { code, of } = await examined({
      config: { webhooks: ['https://${HOST}/x'], sharedSecret: '${A_SECRET}' },
    });
    expect(code).toBe(1);
    expect(of('variable').map(({ said }) => said)).toEqual([
      'webhooks (.hooksrc.json) needs HOST, which is not set',
      'sharedSecret (.hooksrc.json) needs A_SECRET, which is not set',
    ]);
    expect(of('config')).toMatchObject([{ status: 'ok' }]);
  });

  it.each([
    ['nothing to send to', {}, /no webhook is configured/],
    ['a header that HTTP does not allow', { webhooks: [{ url: HOOK, headers: { Host: 'a' } }] }, /Host/],
    ['a file of issuers that is not there', { webhooks: [HOOK], delivery: { ca: 'no.pem' } }, /delivery\.ca/],
    [
      'two sources with one write key',
      { sources: { web: KEYED, app: KEYED } },
      /web` and `app` have the same write key/,
    ],
  ])('reports %s', async (_what, config, sentence) => {
    const { code, output } = await examined({ config });
    expect(code).toBe(1);
    expect(output).toMatch(sentence);
  });

  it.each([
    ['a line break', 'hunter2\n', 'ends in a line break'],
    ['a blank', ' hunter2', 'begins or ends with white space'],
    ['quotes', '"hunter2"', 'is in quotes'],
    ['the name of a variable', '$HUNTER2', 'was not replaced'],
  ])('reports %s in a secret without showing the secret', async (_what, secret, words) => {
    const to = await started(answersOk());
    const { code, of, output } = await examined({
      config: { webhooks: [to.url], sharedSecret: '${A}' },
      env: { A: secret },
    });
    expect(code).toBe(0);
    expect(of('secret')).toMatchObject([{ status: 'warn', said: expect.stringContaining(words) as string }]);
    expect(output).not.toMatch(/hunter2/i);
  });

  it('reports a disabled destination and unsigned requests', async () => {
    const destinations = {
      Off: { enabled: false, webhooks: ['http://127.0.0.1:9'] },
      On: { webhooks: [(await started(answersOk())).url] },
    };
    const { code, of } = await examined({ config: { sources: { web: { destinations } } } });
    expect(code).toBe(0);
    expect(of('destination')).toMatchObject([
      { status: 'warn', said: 'web → Off: it is disabled and gets nothing' },
      { status: 'ok' },
    ]);
    expect(of('secret')).toMatchObject([{ said: 'web → On: there is no secret, so requests are unsigned' }]);
    expect(of('webhook')).toHaveLength(1);
    expect(of('integrations')[0]?.said).toContain('goes to On,');
  });
});

/** Returns the error code that doctor reports for each webhook. */
async function faultsOf(webhooks: readonly string[], timeout: string): Promise<unknown[]> {
  const { code, of } = await examined({ config: { webhooks, delivery: { timeout } } });
  expect(code).toBe(1);
  return of('webhook').map(({ said }) => / (dns|refused|timeout): /.exec(said)?.[1]);
}

describe('hooks doctor, about webhooks', () => {
  it.each([
    ['selfSigned', 'tls-self-signed'],
    ['expired', 'tls-expired'],
    ['otherName', 'tls-hostname'],
    ['unknownCa', 'tls-untrusted'],
  ] as const)('reports the certificate %s with its code', async (name, error) => {
    const to = await started(answersOk({ certificate: certificates[name] }));
    const env = { NODE_EXTRA_CA_CERTS: certificates.caFile, NODE_TLS_REJECT_UNAUTHORIZED: '0' };
    const { code, of, told } = await examined({ config: { webhooks: [to.url] }, env, run: hooks });
    expect(code).toBe(1);
    expect(told('webhook')).toEqual([expect.stringMatching(`^fail: .*: ${error}: `)]);
    expect(of('webhook')[0]?.hint).toBeTruthy();
    expect(of('tls')).toHaveLength(1);
    expect(to.requests).toEqual([]);
  });

  it('reports the private address of a webhook even if it cannot be reached', async () => {
    const to = await started(answersOk({ certificate: certificates.selfSigned }));
    const env = { HOOKS_ALLOW_PRIVATE: '' };
    const { of, told } = await examined({ config: { webhooks: [to.url] }, env });
    expect(told('webhook')).toEqual([
      expect.stringMatching(/^fail: .*: tls-self-signed: /),
      expect.stringMatching(
        /^fail: .*: a private address \(.*loopback\): serve and worker do not connect to it$/,
      ),
    ]);
    expect(of('webhook')[1]?.hint).toContain('delivery.allowPrivate: true');
  });

  it('reports how long a valid certificate lasts', async () => {
    const to = await started(answersOk({ certificate: certificates.good }));
    const config = { webhooks: [to.url], delivery: { ca: certificates.caFile } };
    const { code, told } = await examined({ config });
    expect(code).toBe(0);
    expect(told('certificate')).toEqual([expect.stringMatching(/^ok: .*valid for \d+ more days$/)]);
  });

  it('reports why a connection fails', async () => {
    const unknown = `http://${'a'.repeat(64)}.invalid/x`;
    const closed = (await closedPort()).replace('http:', 'https:');
    expect(await faultsOf([unknown, closed], '30s')).toEqual(['dns', 'refused']);
    const { url } = await started(neverSpeaks());
    expect(await faultsOf([url], '300ms')).toEqual(['timeout']);
  });

  it('does not suggest a host that cannot be resolved instead of another', async () => {
    // An empty label is rejected without asking a name server.
    const webhooks = ['http://hooks..invalid/x', 'http://hoks..invalid/x'];
    const { of } = await examined({ config: { webhooks } });
    expect(of('webhook').map(({ said, hint }) => [/: (dns): /.exec(said)?.[1], hint])).toEqual([
      ['dns', 'check the host name in the URL'],
      ['dns', 'check the host name in the URL'],
    ]);
  });

  it('uses the configured proxy, and names it', async () => {
    const proxy = await started(proxyServer());
    const env = { HTTPS_PROXY: proxy.origin, NO_PROXY: 'internal.example' };
    const { of } = await examined({ config: { webhooks: ['https://receiver.invalid/x'] }, env });
    expect(of('proxy')[0]?.said).toContain(
      `through ${proxy.origin} (HTTPS_PROXY), except for internal.example`,
    );
    expect(of('webhook')[0]?.said).toContain(`through the proxy ${proxy.origin}`);
    const bad = await examined({ config: {}, env: { HTTPS_PROXY: 'ftp://u:hunter2@a' } });
    expect(bad.of('proxy')).toMatchObject([{ status: 'fail' }]);
    expect(bad.output).not.toContain('hunter2');
  });

  it('shows no userinfo of a URL', async () => {
    const { url } = await started(answersOk());
    const webhooks = [url.replace('//', '//user:hunter2@'), `${url}/?token=hunter2`];
    const { code, of, output } = await examined({ config: { webhooks } });
    expect(code).toBe(0);
    expect(of('webhook')).toHaveLength(2);
    expect(output).not.toContain('hunter2');
  });

  it('ends soon after an interruption', async () => {
    const to = await started(neverSpeaks());
    const url = to.url.replace('http://', 'https://');
    const cwd = await newPlace({ webhooks: [url], delivery: { timeout: '30s' } });
    const running = startHooks(['doctor', '-o', 'json'], { cwd, env: { HOOKS_DATA_DIR: join(cwd, 'data') } });
    for (;;) if (String((await running.lines.next()).value).includes('integrations')) break;
    expect(await running.stop()).toMatchObject({ code: 130 });
  });
});

describe('hooks doctor, about the queue', () => {
  it('reports waiting deliveries, and that no process delivers them', async () => {
    const { cwd, file } = await queued(2);
    expect(await examined({ cwd })).toMatchObject({ code: 0 });
    await change(file, 'UPDATE waiting SET due_at = due_at - 3600000');
    const { code, of } = await examined({ cwd });
    expect(code).toBe(1);
    expect(of('queue')).toMatchObject([{ status: 'fail', said: '2 waiting, no process delivers' }]);
  });

  it('names the process that delivers', async () => {
    const { cwd, env } = await queued();
    const worker = startHooks(['worker', '--allow-private', '-o', 'json'], { cwd, env });
    expect((await worker.lines.next()).value).toContain('ready');
    expect((await worker.lines.next()).value).toContain('delivered');
    const { of } = await examined({ cwd });
    expect(of('queue')[0]?.said).toBe(`0 waiting, delivered by process ${worker.child.pid}`);
    await worker.stop();
    expect((await examined({ cwd })).of('queue')[0]?.said).toBe('0 waiting, no process delivers');
  });

  it('counts dead letters by reason, and deliveries for a missing destination', async () => {
    const { cwd, file } = await queued(2);
    await change(
      file,
      `INSERT INTO progress SELECT seq, lane, due_at, 'dead', 'exhausted', NULL, due_at, 1, NULL, '[]', '[]', '{}' FROM waiting LIMIT 1;
       DELETE FROM waiting WHERE seq IN (SELECT seq FROM progress);
       UPDATE lanes SET destination = 'Gone'`,
    );
    const { of } = await examined({ cwd });
    expect(of('dead-letters')).toMatchObject([{ status: 'warn', said: '1 dead letter: exhausted' }]);
    expect(of('queue').map(({ said }) => said)).toContain(
      '1 wait for default → Gone, which the config does not have',
    );
  });

  it('reports a file that others can read, without changing it', async () => {
    const { cwd, file } = await queued();
    await chmod(file, 0o644);
    const { code, of } = await examined({ cwd });
    expect(code).toBe(0);
    expect(of('permissions')).toMatchObject([{ status: 'warn', hint: `chmod 600 ${file}` }]);
    expect((await stat(file)).mode & 0o777).toBe(0o644);
  });

  it('reports a file that another program has locked', async () => {
    const { cwd, file } = await queued();
    await change(file, 'BEGIN IMMEDIATE', async () => {
      const { told } = await examined({ cwd });
      expect(told('store')).toEqual([expect.stringMatching(/^warn: .*another program holds it/)]);
    });
  });

  it('reports a path that cannot be read', async () => {
    const { code, told } = await examined({ args: ['--store', '.hooksrc.json/hooks.db'] });
    expect(code).toBe(1);
    expect(told('store')).toEqual([expect.stringMatching(/^fail: .*a part of its path is not a folder/)]);
  });

  it('reports a damaged file, a file that is not a database, and one of another version', async () => {
    const damaged = await queued(30);
    const { size } = await stat(damaged.file);
    await writeFile(damaged.file, Buffer.alloc(2_048, 0xff), { flag: 'r+', flush: true });
    expect(size).toBeGreaterThan(4_096);
    expect(await examined({ cwd: damaged.cwd })).toMatchObject({ code: 1 });

    const other = await queued();
    await writeFile(other.file, 'not a database, but long enough to look like something'.repeat(50));
    const { code, of } = await examined({ cwd: other.cwd });
    expect(code).toBe(1);
    expect(of('store')[0]?.said).toContain('is not a SQLite database');

    const otherVersion = await queued();
    await change(otherVersion.file, 'PRAGMA user_version = 99');
    expect((await examined({ cwd: otherVersion.cwd })).of('store')[0]?.said).toContain(
      'another version of hooks',
    );
  });
});
