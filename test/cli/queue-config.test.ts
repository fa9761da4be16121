import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { jsonLines, receiving } from '../end-to-end/receiving.ts';
import { nextJson } from '../end-to-end/running-command.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { hooks, startHooks, type HooksResult } from './run-in-process.ts';

function configOf(url: string): string {
  return JSON.stringify({ webhooks: [`${url}/hook`], sharedSecret: 's', writeKey: 'k' });
}

const SEND = 'send track --event A --user-id u1 --queue -q';

describe('the queue of the data folder', () => {
  let folder: string;
  let bodies: { readonly a: () => number; readonly b: () => number };

  beforeEach(async () => {
    const [a, b] = await Promise.all([receiving({ secret: 's' }), receiving({ secret: 's' })]);
    bodies = { a: () => a.requests.length, b: () => b.requests.length };
    folder = temporaryFolder({
      'a/.hooksrc.json': configOf(a.url),
      'b/.hooksrc.json': configOf(b.url),
      'b/day.ndjson': '{"type":"track","event":"B","userId":"u1"}\n',
      'none/empty': '',
    });
  });

  const run = (project: string, line: string, env: Record<string, string> = {}): Promise<HooksResult> =>
    hooks(line.split(' '), {
      cwd: join(folder, project),
      env: { HOOKS_DATA_DIR: join(folder, 'data'), ...env },
    });
  const path = (project: string): string => join(folder, project, '.hooksrc.json');
  /** Runs a worker until it has settled a delivery. */
  const work = async (project: string): Promise<Record<string, unknown>> => {
    const place = { cwd: join(folder, project), env: { HOOKS_DATA_DIR: join(folder, 'data') } };
    const worker = startHooks(['worker', '-o', 'json', '--allow-private'], { ...place, timeoutMs: 60_000 });
    await nextJson(worker);
    const settled = await nextJson(worker);
    expect((await worker.stop('SIGTERM')).code).toBe(0);
    return settled;
  };

  it('rejects another config, which would deliver to its own webhooks', async () => {
    expect((await run('a', SEND)).code).toBe(0);
    const lines = [
      'serve --port 0 --allow-private',
      'worker --allow-private',
      SEND,
      'replay day.ndjson --queue',
      'delete u1',
    ];
    for (const line of lines) {
      const { code, stderr } = await run('b', line);
      expect([line, code]).toEqual([line, 2]);
      expect(stderr).toContain(`belongs to the config ${path('a')}, and this command uses ${path('b')}\n`);
      expect(stderr).toContain('put `store: sqlite:./hooks.db` into the config, or pass --store\n');
    }
    expect(await work('a')).toMatchObject({ outcome: 'delivered' });
    expect([bodies.a(), bodies.b()]).toEqual([1, 0]);
  });

  it('keeps its deliveries when another config would change them', async () => {
    await run('a', SEND);
    const lines = [
      'queue drop --all --yes',
      'queue drop --all --dry-run',
      'queue purge --state pending --yes',
      'queue retry --now',
      'queue retry --all --yes',
      'queue move --to sqlite:own.db',
    ];
    for (const line of lines) {
      const { code, stderr } = await run('b', line);
      expect([line, code]).toEqual([line, 2]);
      expect(stderr).toContain(`belongs to the config ${path('a')}, and this command uses ${path('b')}\n`);
      expect(stderr).toContain('hint: ');
    }
    // An operator without a config looks after the only queue that there is.
    expect(await run('none', 'queue retry --now')).toMatchObject({ code: 0 });
    expect((await run('a', 'queue drop --all --yes')).stdout).toBe('dropped 1\n');
  });

  it('can be read with any config, with one note, and named with --store', async () => {
    await run('a', SEND);
    for (const line of ['list', 'stats', 'export', 'export --deliveries', 'backup copy.db', 'vacuum']) {
      const { code, stderr } = await run('b', `queue ${line}`);
      expect([line, code]).toEqual([line, 0]);
      expect(stderr.match(/note: The queue \S+ belongs to the config/g)).toHaveLength(1);
      expect((await run('b', `queue list -q`)).stderr).toBe('');
      expect((await run('a', `queue list`)).stderr).toBe('');
    }
    const store = join(folder, 'data/hooks.db');
    expect((await run('b', `queue retry --now --store ${store}`)).code).toBe(0);
    expect((await run('b', `${SEND} --store ${join(folder, 'data/hooks.db')}`)).code).toBe(0);
    expect((await run('b', `${SEND} --store own.db`)).code).toBe(0);
  });

  it('is announced when a command makes it at a place that was named', async () => {
    const store = join(folder, 'no/such/dir/h.db');
    const note = `made a new queue at ${store}`;
    expect((await run('a', `queue list --store ${store}`)).code).toBe(2);
    expect((await run('a', `send track --event A --user-id u1 --queue --store ${store}`)).stderr).toContain(
      note,
    );
    expect(
      (await run('a', `send track --event A --user-id u1 --queue --store ${store}`)).stderr,
    ).not.toContain(note);
    expect((await run('a', `${SEND} --store ${join(folder, 'quiet.db')}`)).stderr).toBe('');
    const served = join(folder, 'served.db');
    for (const expected of [[{ level: 'info', file: served }], []]) {
      const args = ['worker', '-o', 'json', '--allow-private', '--store', served];
      const worker = startHooks(args, { cwd: join(folder, 'a') });
      await nextJson(worker);
      const { stderr } = await worker.stop('SIGTERM');
      expect(jsonLines(stderr).filter(({ msg }) => msg === 'made a new queue')).toMatchObject(expected);
    }
  });

  it('belongs to a config that was moved after hooks queue adopt', async () => {
    await run('a', SEND);
    await rename(join(folder, 'a'), join(folder, 'moved'));
    const rejected = await run('moved', SEND);
    expect(rejected.code).toBe(2);
    expect(rejected.stderr).toContain('run `hooks queue adopt`');
    const { code, stdout } = await run('moved', 'queue adopt -o json');
    expect(code).toBe(0);
    expect(jsonLines(stdout)).toEqual([
      { store: join(folder, 'data/hooks.db'), config: path('moved'), before: path('a') },
    ]);
    expect(await work('moved')).toMatchObject({ outcome: 'delivered' });
    expect([bodies.a(), bodies.b()]).toEqual([1, 0]);
  });

  it('is not adopted while a process delivers from it', async () => {
    await run('a', SEND);
    const place = { cwd: join(folder, 'a'), env: { HOOKS_DATA_DIR: join(folder, 'data') } };
    const worker = startHooks(['worker', '-o', 'json', '--allow-private'], { ...place, timeoutMs: 60_000 });
    await nextJson(worker);
    await nextJson(worker);
    const { code, stderr } = await run('b', 'queue adopt');
    await worker.stop('SIGTERM');
    expect(code).toBe(2);
    expect(stderr).toContain('A process delivers from the queue');
    expect((await run('a', SEND)).code).toBe(0);
  });

  it('belongs to commands without a config, if one of them writes first', async () => {
    const env = { HOOKS_URL: 'http://127.0.0.1:9/' };
    expect((await run('none', SEND, env)).code).toBe(0);
    expect((await run('none', SEND, env)).code).toBe(0);
    const { code, stderr } = await run('a', SEND);
    expect(code).toBe(2);
    expect(stderr).toContain(`belongs to commands without a config, and this command uses ${path('a')}\n`);
    expect((await run('a', 'queue adopt')).code).toBe(0);
    expect((await run('a', SEND)).code).toBe(0);
    expect((await run('none', SEND, env)).stderr).toContain(
      `and this command has none\nhint:  pass -c ${path('a')}`,
    );
  });

  it('is reported by hooks doctor if it belongs to another config', async () => {
    await run('a', SEND);
    expect((await run('b', 'doctor --allow-private')).stdout).toContain(`belongs to the config ${path('a')}`);
    expect((await run('a', 'doctor --allow-private')).stdout).not.toContain('belongs to');
  });
});
