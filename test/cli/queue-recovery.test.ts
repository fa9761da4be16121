import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/clock.ts';
import { openDurableQueue } from '../../src/stores/open.ts';
import { jsonLines, receiving, sorted, track, type Receiving } from '../end-to-end/receiving.ts';
import { nextJson } from '../end-to-end/running-command.ts';
import { newDelivery } from '../queue/new-delivery.ts';
import { basic } from '../service/serving.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { until } from '../until.ts';
import { hooks, startHooks, type HooksResult, type RunningHooks } from './run-in-process.ts';

describe('a queue that is moved, or whose config has changed', () => {
  let cwd: string;
  let receiver: Receiving;

  beforeEach(async () => {
    cwd = temporaryFolder();
    receiver = await receiving({});
    await configure('Old');
  });

  const configure = (...destinations: readonly string[]): Promise<void> => {
    const to = { webhooks: [receiver.url], delivery: { allowPrivate: true } };
    const web = { writeKey: 'k', destinations: Object.fromEntries(destinations.map((name) => [name, to])) };
    return writeFile(join(cwd, '.hooksrc.json'), JSON.stringify({ sources: { web } }));
  };
  const place = (): { cwd: string; env: { HOOKS_DATA_DIR: string } } => ({
    cwd,
    env: { HOOKS_DATA_DIR: join(cwd, 'data') },
  });
  const run = (line: string): Promise<HooksResult> => hooks(line.split(' '), place());
  const list = async (flags = ''): Promise<Record<string, unknown>[]> =>
    jsonLines((await run(`queue list -o json ${flags}`.trim())).stdout);
  const serving = async (...flags: readonly string[]): Promise<RunningHooks & { post: Post }> => {
    const args = ['serve', '--port', '0', '-o', 'json', ...flags];
    const serve = startHooks(args, { ...place(), timeoutMs: 60_000 });
    const { url } = await nextJson<{ url: string }>(serve);
    const post: Post = async (body) => {
      const sent = { method: 'POST', headers: basic('k'), body };
      return (await fetch(`${url}/v1/track`, sent)).status;
    };
    return Object.assign(serve, { post });
  };
  type Post = (body: string) => Promise<number>;

  it.each(['export', 'move'])('recognizes a message that is sent again after %s', async (way) => {
    const first = await serving();
    expect(await first.post(track(1))).toBe(200);
    await until(() => receiver.requests.length === 1, 'the delivery');
    await first.stop('SIGTERM');
    const queueing = await serving('--no-deliver');
    expect(await queueing.post(track(2))).toBe(200);
    await queueing.stop('SIGTERM');
    if (way === 'move') await run('queue move --to sqlite:new.db');
    else {
      const { stdout } = await run('queue export --deliveries');
      await writeFile(join(cwd, 'all.ndjson'), stdout);
      expect((await run('queue import all.ndjson --store new.db')).stdout).toContain(
        'imported 1 waiting and 0 dead',
      );
    }
    const second = await serving('--store', 'new.db');
    for (const id of [1, 2, 3]) expect(await second.post(track(id))).toBe(200);
    await until(() => receiver.requests.length >= 3, 'the other deliveries');
    await second.stop('SIGTERM');
    expect(sorted(receiver.field('messageId'))).toEqual(['m1', 'm2', 'm3']);
  });

  it('exports no messages seen with a selection', async () => {
    const serve = await serving('--no-deliver');
    await serve.post(track(1));
    await serve.stop('SIGTERM');
    expect((await run('queue export --deliveries')).stdout).toContain(
      '{"seen":{"source":"web","messageId":"m1"',
    );
    expect((await run('queue export --deliveries --newer-than 1h')).stdout).not.toContain('"seen"');
  });

  it('names queue import when a deliveries export is replayed', async () => {
    await run('send track --event A --user-id u1 --queue');
    const { stdout } = await run('queue export --deliveries');
    await writeFile(join(cwd, 'all.ndjson'), `${stdout}{"seen":{"messageId":"a","acceptedAt":""}}\n`);
    const { code, stdout: results } = await run('replay all.ndjson --dry-run');
    expect(code).toBe(1);
    const reason = 'this is a line of hooks queue export --deliveries';
    expect(results.match(new RegExp(reason, 'g'))).toHaveLength(2);
    expect(results).toContain('hooks queue import FILE');
  });

  it('logs deliveries whose destination is gone in one line, and delivers them with retry --to', async () => {
    for (const id of [1, 2, 3, 4, 5, 6]) {
      await run(`send track --event A --user-id u${id} --message-id m${id} --queue -q`);
    }
    await configure('New');
    const serve = await serving();
    const cancelled = async (): Promise<number> => (await list('--filter reason=cancelled')).length;
    await until(async () => (await cancelled()) === 6, 'the dead letters');
    const { stderr } = await serve.stop('SIGTERM');
    const lines = jsonLines(stderr).filter(({ destination }) => destination === 'Old');
    expect(lines).toMatchObject([
      {
        level: 'warn',
        source: 'web',
        deliveries: 6,
        msg: expect.stringContaining('the config has no such destination'),
      },
      {
        level: 'warn',
        source: 'web',
        deliveries: 6,
        msg: expect.stringContaining('deliveries were cancelled'),
      },
    ]);
    const [first] = await list();
    const shown = (await run(`queue show ${String(first?.['id'])}`)).stdout;
    expect(shown).toContain('No destination Old of source web was enabled in the config');
    expect(shown).toContain('with --to NAME');

    const same = 'queue retry --all --filter reason=cancelled';
    const dry = await run(`${same} --dry-run`);
    expect([dry.code, dry.stdout]).toEqual([0, '0 would be retried\n']);
    const retried = await run(`${same} --yes`);
    expect([retried.code, retried.stdout]).toEqual([1, 'retried 0, gone 6\n']);
    const named = await run(`queue retry ${String(first?.['id'])}`);
    expect([named.code, named.stdout]).toEqual([1, '']);
    for (const { stderr: note } of [dry, retried, named]) {
      expect(note).toContain(
        'this config has no such destination, or it is disabled: hooks queue retry --to NAME',
      );
    }
    expect(await list('--filter reason=cancelled')).toHaveLength(6);

    const typo = await run('queue retry --all --to Nwe --yes');
    expect([typo.code, typo.stderr]).toEqual([2, expect.stringContaining('did you mean New?')]);
    const all = 'queue retry --all --filter reason=cancelled --to New';
    expect((await run(`${all} --dry-run`)).stdout).toBe('6 would be retried\n');
    expect(await run(`${all} --yes`)).toMatchObject({ code: 0, stdout: 'retried 6\n' });
    expect((await list()).map(({ destination, state }) => `${String(destination)} ${String(state)}`)).toEqual(
      Array.from({ length: 6 }, () => 'New pending'),
    );
    const again = await serving();
    await until(() => receiver.requests.length === 6, 'the deliveries');
    await again.stop('SIGTERM');
    expect(sorted(receiver.field('messageId'))).toEqual(['m1', 'm2', 'm3', 'm4', 'm5', 'm6']);
  });

  it('warns on import about destinations that the config does not have', async () => {
    await run('send track --event A --user-id u1 --queue -q');
    await writeFile(join(cwd, 'all.ndjson'), (await run('queue export --deliveries')).stdout);
    const known = await run('queue import all.ndjson --store known.db');
    expect(known.stderr).not.toContain('warning:');
    await configure('New');
    const { code, stderr } = await run('queue import all.ndjson --store new.db');
    expect(code).toBe(0);
    expect(stderr).toContain('warning: 1 delivery for web → Old: the config has no such destination');
  });

  it('is predicted by --dry-run as the change would be', async () => {
    const durable = await openDurableQueue({
      store: undefined,
      dataDir: join(cwd, 'data'),
      clock: systemClock,
    });
    const dead = { state: 'dead', source: 'web' } as const;
    await durable.queue.add([
      newDelivery('a-invalid', { ...dead, destination: '', reason: 'invalid' }),
      newDelivery('b-exhausted', { ...dead, destination: 'Old', reason: 'exhausted' }),
      newDelivery('c-delete', { ...dead, destination: 'Old', type: 'delete', reason: 'cancelled' }),
    ]);
    await durable.close();
    const all = await run('queue retry --all --dry-run');
    expect([all.code, all.stdout]).toEqual([0, '2 would be retried\n']);
    expect(all.stderr).toContain('1 dead letter: the message is invalid');
    expect(jsonLines((await run('queue retry --all --dry-run -o json')).stdout)).toEqual([
      { retried: 0, selected: 2, invalid: 1 },
    ]);
    const named = await run('queue retry a-invalid b-exhausted none --dry-run');
    expect([named.code, named.stdout]).toEqual([0, '1 would be retried\n']);
    expect(named.stderr).toContain('none: there is no such delivery');
    expect((await run('queue drop b-exhausted none --dry-run')).stdout).toBe('1 would be dropped\n');
    expect((await run('queue retry c-delete --to Old')).stderr).toContain('it belongs to a deletion request');
    expect(await list()).toHaveLength(3);
  });
});
