import { lookup } from 'node:dns/promises';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { expectRejected } from './expect-rejected.ts';
import { jsonLines, receiving } from '../end-to-end/receiving.ts';
import { nextJson } from '../end-to-end/running-command.ts';
import { hooks, startHooks } from './run-in-process.ts';
import { basic, bodyOf, track, until } from '../service/serving.ts';
import { temporaryFolder } from '../temporary-folder.ts';

const WRITE_KEY = 'wk-canary-of-the-command';
const SECRET = 's3cret-canary-of-the-command';

async function startServe(url: string, args: readonly string[] = [], given?: Record<string, string>) {
  const env = given ?? {
    HOOKS_URL: url,
    HOOKS_SECRET: SECRET,
    HOOKS_WRITE_KEY: WRITE_KEY,
    HOOKS_DATA_DIR: temporaryFolder(),
  };
  const running = startHooks(['serve', '--port', '0', '-o', 'json', '--allow-private', ...args], { env });
  return { running, env, ready: await nextJson<{ url: string }>(running) };
}

async function send({ url }: { readonly url?: string }, userId: string): Promise<number> {
  const { status } = await fetch(`${url}/v1/batch`, {
    method: 'POST',
    headers: basic(WRITE_KEY),
    body: JSON.stringify({ batch: [track(userId)] }),
  });
  return status;
}

describe('hooks serve', () => {
  it('prints its URL, delivers messages, exits with 0 on SIGTERM, and never prints a secret', async () => {
    const to = await receiving({ secret: SECRET });
    const { running, ready } = await startServe(`${to.url}/hook`, ['-v']);
    expect(ready).toEqual({ ready: true, url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/) });
    expect(await send(ready, 'u1')).toBe(200);
    await until(() => to.requests.length === 1, 'the delivery');
    expect(to.requests).toMatchObject([{ verdict: 'valid' }]);
    expect(to.requests.map(bodyOf)).toMatchObject([{ type: 'track', userId: 'u1' }]);
    const { code, stdout, stderr } = await running.stop('SIGTERM');
    expect(code).toBe(0);
    expect(jsonLines(stderr.replace('config: no file\n', '')).map(({ msg }) => msg)).toEqual(
      expect.arrayContaining(['listening', 'responded', 'delivered', 'stopped']),
    );
    for (const secret of [WRITE_KEY, SECRET]) expect(stdout + stderr).not.toContain(secret);
  });

  it('only queues with --no-deliver, and exits with 0 on Ctrl-C', async () => {
    const to = await receiving({ secret: SECRET });
    const { running, ready } = await startServe(to.url, ['--no-deliver', '-q']);
    expect(await send(ready, 'u1')).toBe(200);
    const metrics = await (await fetch(`${ready.url}/metrics`)).text();
    expect(metrics).toContain(
      'hooks_queue_deliveries{source="default",destination="Webhooks",state="pending"} 1',
    );
    expect(await running.stop('SIGINT')).toMatchObject({ code: 0, stderr: '' });
    expect(to.requests).toEqual([]);
  });

  it('reports the progress of a deletion request that a worker delivers, also after a restart', async () => {
    const to = await receiving({ secret: SECRET });
    const first = await startServe(to.url, ['--no-deliver', '-q']);
    const response = await fetch(`${first.ready.url}/v1/deletions`, {
      method: 'POST',
      headers: basic(WRITE_KEY),
      body: JSON.stringify({ userIds: ['u1', 'u2'] }),
    });
    const { id, sources } = (await response.json()) as { id: string; sources: object };
    expect(sources).toMatchObject({ default: { state: 'pending', deliveries: 2 } });
    await first.running.stop('SIGKILL');

    const worker = startHooks(['worker', '-o', 'json', '--allow-private'], { env: first.env });
    for (let line = 0; line < 3; line++) await worker.lines.next(); // ready, and two are settled
    expect((await worker.stop('SIGTERM')).code).toBe(0);
    expect(to.requests.map(bodyOf)).toMatchObject([{ type: 'delete' }, { type: 'delete' }]);

    const { ready } = await startServe(to.url, ['--no-deliver', '-q'], first.env);
    const found = await fetch(`${ready.url}/v1/deletions/${id}`, { headers: basic(WRITE_KEY) });
    expect(await found.json()).toMatchObject({
      id,
      sources: { default: { state: 'delivered', delivered: 2, failed: 0 } },
    });
  });

  it.each([
    [[], 403],
    [['--confine-deletions'], 403],
    [['--deletions', 'own'], 403],
    [['--deletions', 'all'], 200],
  ])('with %j responds to a deletion at another source with %d', async (args, expected) => {
    const destinations = { Webhooks: { webhooks: ['http://127.0.0.1:9'] } };
    const sources = { web: { writeKey: WRITE_KEY, destinations }, shop: { destinations } };
    const folder = temporaryFolder({ 'hooks.json': JSON.stringify({ sources }) });
    const env = { HOOKS_DATA_DIR: folder };
    const { ready } = await startServe('', ['--no-deliver', '-c', join(folder, 'hooks.json'), ...args], env);
    const { status } = await fetch(`${ready.url}/v1/deletions`, {
      method: 'POST',
      headers: basic(WRITE_KEY),
      body: JSON.stringify({ userIds: ['u1'], sources: ['shop'] }),
    });
    expect(status).toBe(expected);
  });

  it('rejects --deletions all with --confine-deletions', async () => {
    const env = { HOOKS_URL: 'http://127.0.0.1:9', HOOKS_WRITE_KEY: WRITE_KEY };
    const args = ['serve', '--port', '0', '--confine-deletions', '--deletions', 'all'];
    await expectRejected(args, 'Expected one of `--deletions all` and `--confine-deletions`, got both', {
      env,
    });
  });

  it('cannot start without a write key, or on a port in use', async () => {
    const unkeyed = 'No source has a write key, so no client could call the service';
    const env = { HOOKS_URL: 'http://127.0.0.1:9' };
    await expectRejected(['serve', '--port', '0', '--allow-private'], unkeyed, { env });
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    onTestFinished(() => void other.close());
    const { port } = other.address() as AddressInfo; // it listens on a port
    const taken = `Cannot listen on 127.0.0.1 port ${port}: something else is listening there`;
    const keyed = { env: { HOOKS_WRITE_KEY: WRITE_KEY } };
    const second = await hooks(['serve', '--no-deliver', '--port', String(port)], keyed);
    expect(second).toMatchObject({ code: 2, stderr: expect.stringContaining(taken) });
    expect(second.stderr).not.toContain('earlier');
    expect((await hooks(['serve', '--port', '70000'])).code).toBe(2);
  });

  it('says how to find and end the earlier service that holds the port', async () => {
    const { running, ready, env } = await startServe('http://127.0.0.1:9', ['--no-deliver', '-q']);
    const { port } = new URL(ready.url);
    const stderr = await expectRejected(
      ['serve', '--no-deliver', '--port', port],
      `Cannot listen on 127.0.0.1 port ${port}: something else is listening there`,
      { env },
    );
    expect(stderr).toMatch(
      /^hint: {2}an earlier hooks serve seems to hold it: run `.*; or choose another port/m,
    );
    expect(stderr).toContain(`:${port}`);
    await running.stop('SIGTERM');
  });

  it('needs --no-deliver to start without a destination, and then keeps the waiting deliveries', async () => {
    const env = { HOOKS_WRITE_KEY: WRITE_KEY, HOOKS_DATA_DIR: temporaryFolder() };
    const queued = await hooks(['send', 'track', '--event', 'A', '--queue'], {
      env: { ...env, HOOKS_URL: 'http://127.0.0.1:9' },
    });
    expect(queued.code).toBe(0);
    const { code, stderr } = await hooks(['serve', '--port', '0'], { env });
    expect(code).toBe(2);
    expect(stderr).toMatch(
      /No config was found, so there is no destination to deliver to[^]*hooks init --for service [^]*\.hooksrc\.yaml[^]*--no-deliver/,
    );
    const cwd = temporaryFolder({ '.hooksrc.yaml': `writeKey: ${WRITE_KEY}\n` });
    expect((await hooks(['serve', '--port', '0'], { cwd, env })).stderr).toMatch(
      /The config has no destination to deliver to[^]*put `webhooks` into \.hooksrc\.yaml/,
    );
    const { running } = await startServe('', ['--no-deliver'], env);
    expect((await running.stop('SIGTERM')).code).toBe(0);
    const stats = await hooks(['queue', 'stats', '-o', 'json'], { env });
    expect(jsonLines(stats.stdout).at(-1)).toMatchObject({ total: { pending: 1, dead: 0 } });
  });

  it('rejects an empty --host of an unset variable', async () => {
    const env = { HOOKS_WRITE_KEY: WRITE_KEY, HOOKS_DATA_DIR: temporaryFolder() };
    const args = ['serve', '--no-deliver', '--port', '0', '--host', ''];
    await expectRejected(args, 'expected an address, got an empty text', { env });
  });

  const PRIVATE = { HOOKS_WRITE_KEY: WRITE_KEY, HOOKS_ALLOW_PRIVATE: '' };

  it.each([
    ['serve', 'http://127.0.0.1:9/hook', 'loopback'],
    ['serve', 'http://localhost:9/hook', 'loopback'],
    ['serve', 'http://[fd00::1]/hook', 'unique-local'],
    ['worker', 'http://169.254.169.254/latest', 'cloud metadata'],
    ['worker', 'http://10.1.2.3/hook', 'private'],
  ])('%s cannot start with a webhook at %s', async (command, url, reason) => {
    const env = { ...PRIVATE, HOOKS_URL: url, HOOKS_DATA_DIR: temporaryFolder() };
    const port = command === 'serve' ? ['--port', '0'] : [];
    const stderr = await expectRejected(
      [command, ...port],
      `Expected the webhook ${url} to be at a public address, got ${reason} (`,
      { env },
    );
    expect(stderr).toMatch(/delivery\.allowPrivate[^]*hint: {2}set `delivery\.allowPrivate: true`/);
  });

  it.each([
    ['the setting of the destination', { allowPrivate: true }, {}],
    ['HOOKS_ALLOW_PRIVATE', {}, { HOOKS_ALLOW_PRIVATE: '1' }],
  ])('delivers to this machine if %s allows it', async (_, delivery, variables) => {
    const to = await receiving({ secret: SECRET });
    const destinations = { Webhooks: { webhooks: [to.url], sharedSecret: SECRET, delivery } };
    const sources = { web: { writeKey: WRITE_KEY, destinations } };
    const folder = temporaryFolder({ 'hooks.json': JSON.stringify({ sources }) });
    const env = { HOOKS_DATA_DIR: folder, ...variables };
    const args = ['serve', '--port', '0', '-o', 'json', '-c', join(folder, 'hooks.json')];
    const running = startHooks(args, { env });
    expect(await send(await nextJson(running), 'u1')).toBe(200);
    await until(() => to.requests.length === 1, 'the delivery');
  });

  it('starts with a warning for a name with a private address, and with --no-deliver also for an address', async () => {
    // The name of this machine has an address of this machine.
    const { address } = await lookup(hostname()).catch(() => ({ address: '' }));
    const names = isPrivate(address) ? [[`http://${hostname()}:9/hook`, []] as const] : [];
    for (const [url, args] of [...names, ['http://10.1.2.3/hook', ['--no-deliver']] as const]) {
      const env = { ...PRIVATE, HOOKS_URL: url, HOOKS_DATA_DIR: temporaryFolder() };
      const running = startHooks(['serve', '--port', '0', '-o', 'json', ...args], { env });
      await running.lines.next();
      await until(() => running.stderr().includes('gets no messages'), 'the warning');
      expect(running.stderr()).toContain('"level":"warn"');
    }
  });

  it('stops on SIGHUP like on SIGTERM', async () => {
    const to = await receiving();
    const { running } = await startServe(to.url);
    const { code, stderr } = await running.stop('SIGHUP');
    expect(code).toBe(0);
    expect(stderr).toContain('"msg":"stopped"');
  });

  it('serves /metrics only on --metrics-port at 127.0.0.1', async () => {
    const to = await receiving();
    const { ready } = await startServe(to.url, ['--metrics-port', '0', '--host', '0.0.0.0']);
    const { url, metrics } = ready as { url: string; metrics?: string };
    expect(metrics).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect((await fetch(`${url}/metrics`)).status).toBe(404);
    expect(await (await fetch(`${metrics}/metrics`)).text()).toContain('hooks_build_info{');
  });
});

function isPrivate(address: string): boolean {
  return /^(127|10|192\.168|172\.(1[6-9]|2\d|3[01]))\./.test(address);
}
