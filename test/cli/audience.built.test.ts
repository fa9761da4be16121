import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { errorOf, expectRejected } from './expect-rejected.ts';
import { argv } from '../end-to-end/argv.ts';
import { lastValues, type LastValues } from '../audience/last-values.ts';
import { startHooks } from '../end-to-end/hooks.ts';
import { jsonLines } from '../end-to-end/receiving.ts';
import { hooks, type HooksOptions, type HooksResult } from './run-in-process.ts';
import { ask } from '../stores/sqlite/ask.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { until } from '../until.ts';

let folder: string;
let receiver: LastValues;
beforeEach(async () => {
  folder = temporaryFolder();
  receiver = await lastValues();
  writeFileSync(join(folder, '.hooksrc.json'), JSON.stringify({ webhooks: [receiver.url] }));
});
afterEach(async () => {
  await receiver.close();
});

function options(more: HooksOptions = {}): HooksOptions {
  return { cwd: folder, ...more, env: { HOOKS_DATA_DIR: folder, ...more.env } };
}

interface Synced extends HooksResult {
  readonly summary: Readonly<Record<string, unknown>>;
  readonly lines: readonly Readonly<Record<string, unknown>>[];
}

/** Runs a sync of these members with `-o json`. */
async function sync(
  members: readonly string[],
  flags: readonly string[] = [],
  name = 'VIP',
): Promise<Synced> {
  writeFileSync(join(folder, 'members.txt'), members.map((id) => `${id}\n`).join(''));
  return parsed(await hooks(argv`audience sync ${name} members.txt -o json ${flags}`, options()));
}

function parsed(result: HooksResult): Synced {
  const lines = jsonLines(result.stdout);
  const { summary = {} } = (lines.at(-1) ?? {}) as { summary?: Record<string, unknown> };
  return { ...result, lines, summary };
}

/** The values that these result lines sent, by user. */
function told({ lines }: Synced): readonly string[] {
  return lines
    .filter(({ userId }) => userId !== undefined)
    .map(({ userId, value }) => `${String(userId)} ${JSON.stringify(value)}`)
    .toSorted();
}

/** The process that began the last sync. */
async function syncPid(): Promise<string | undefined> {
  const rows = await ask(join(folder, 'hooks.db'), 'SELECT sync_pid FROM audiences').catch(() => []);
  return rows[0];
}

function heard(): readonly string[] {
  return [...receiver.values].map(([userId, value]) => `${userId} ${JSON.stringify(value)}`).toSorted();
}

describe('hooks audience sync', () => {
  it('sends every member first, then nothing, then exactly who joined and who left', async () => {
    const first = await sync(['a', 'b', 'c', 'd', 'e'], [], 'High-Value Users (US)');
    expect(first).toMatchObject({ code: 0, stderr: '' });
    expect(told(first)).toEqual(['a true', 'b true', 'c true', 'd true', 'e true']);
    expect(first.lines[0]).toMatchObject({ type: 'identify', outcome: 'delivered', status: 200 });
    expect(first.summary).toMatchObject({
      kind: 'audience',
      name: 'High-Value Users (US)',
      trait: 'high_value_users_us',
      place: 'source default',
      members: 5,
      added: 5,
      read: 5,
      delivered: 5,
    });

    const second = await sync(['e', 'd', 'c', 'b', 'a'], [], 'High-Value Users (US)');
    expect(second).toMatchObject({ code: 0, summary: { unchanged: 5, added: 0, removed: 0, read: 0 } });
    expect(receiver.requests()).toBe(5);

    const third = await sync(['a', 'c', 'd', 'f', 'g', 'f'], [], 'High-Value Users (US)');
    expect(told(third)).toEqual(['b false', 'e false', 'f true', 'g true']);
    expect(third.summary).toMatchObject({ added: 2, removed: 2, unchanged: 3, duplicates: 1, delivered: 4 });
    expect(heard()).toEqual(['a true', 'b false', 'c true', 'd true', 'e false', 'f true', 'g true']);
  });

  it('sends a change for a member who left and came back', async () => {
    await sync(['a', 'b']);
    expect(told(await sync(['a']))).toEqual(['b false']);
    expect(told(await sync(['a', 'b']))).toEqual(['b true']);
    expect(heard()).toEqual(['a true', 'b true']);
  });

  it('sends a failed change again at the next sync, with the value of that time', async () => {
    receiver.answer((userId) => (userId === 'b' || userId === 'c' ? 400 : 200));
    const failed = await sync(['a', 'b', 'c']);
    expect(failed).toMatchObject({ code: 1, summary: { delivered: 1, failed: 2 } });
    receiver.answer(() => 200);
    // The receiver can have stored that c is a member, although it responded with an error.
    const next = await sync(['a', 'b']);
    expect(told(next)).toEqual(['b true', 'c false']);
    expect(next).toMatchObject({ code: 0, summary: { added: 1, repeated: 1, unchanged: 1 } });
    expect(heard()).toEqual(['a true', 'b true', 'c false']);
    expect(told(await sync(['a', 'b']))).toEqual([]);
  });

  it('counts a change once it is queued, for a worker to deliver', async () => {
    const queued = await sync(['a', 'b'], ['--queue']);
    expect(queued).toMatchObject({ code: 0, summary: { queued: 2, delivered: 0 } });
    expect(queued.stderr).toMatch(/^note: no process delivers from this queue now: .*\n$/);
    expect(told(await sync(['b'], ['--queue']))).toEqual(['a false']);
    expect(receiver.requests()).toBe(0);
    const worker = startHooks(['worker', '--allow-private', '-q'], options());
    await until(() => receiver.requests() >= 3, 'three requests');
    await worker.stop('SIGTERM');
    // The messages are in the order of the syncs.
    expect(heard()).toEqual(['a false', 'b true']);
    // A source is the same place with and without the queue.
    expect(told(await sync(['b']))).toEqual([]);
  });

  it('keeps a separate state for each place', async () => {
    await sync(['a']);
    const other = await lastValues();
    try {
      const there = await sync(['a'], ['--url', other.url]);
      expect(told(there)).toEqual(['a true']);
      expect(there.summary).toMatchObject({ place: other.url });
      expect(told(await sync(['a'], ['--url', other.url]))).toEqual([]);
    } finally {
      await other.close();
    }
    const { stdout } = await hooks(argv`audience list -o json`, options());
    expect(stdout.trim().split('\n')).toHaveLength(2);
  });

  it('keeps its state where --store says, without --queue too', async () => {
    await sync(['a'], ['--store', 'sqlite:./elsewhere.db']);
    expect(readdirSync(folder)).toContain('elsewhere.db');
    expect(await ask(join(folder, 'elsewhere.db'), 'SELECT entries FROM audience_partitions')).toEqual([
      'a\n',
    ]);
    expect(told(await sync(['a']))).toEqual(['a true']);
  });

  it('prints counts and examples with --dry-run, without sending or storing', async () => {
    await sync(['a', 'b', 'c']);
    const dry = await sync(['a', 'b', 'd'], ['--dry-run']);
    expect(dry).toMatchObject({ code: 0, stderr: '' });
    expect(dry.lines).toEqual([
      {
        dryRun: true,
        kind: 'audience',
        name: 'VIP',
        trait: 'vip',
        place: 'source default',
        before: 3,
        members: 3,
        duplicates: 0,
        added: 1,
        removed: 1,
        changed: 0,
        unchanged: 2,
        repeated: 0,
        examples: expect.arrayContaining([
          { change: 'added', userId: 'd', value: true },
          { change: 'removed', userId: 'c', value: false },
        ]) as unknown,
      },
    ]);
    expect(receiver.requests()).toBe(3);
    const text = await hooks(argv`audience sync VIP members.txt --dry-run`, options());
    expect(text.stdout).toMatch(/added +1\nremoved +1\nunchanged +2\n\nfor example\n/);
    const [never] = (await sync(['a'], ['--dry-run'], 'Never Synced')).lines;
    expect(never).toMatchObject({ added: 1, before: 0 });
    expect((await hooks(['audience', 'show', 'Never Synced'], options())).code).toBe(2);
  });

  it('rejects a file that is empty or has lost most of its members, unless --force is given', async () => {
    expect(errorOf(await sync([]))).toContain('members.txt: has no members in it');
    expect(await sync([], ['--dry-run', '--max-change', '100%'])).toMatchObject({
      code: 0,
      lines: [{ refusal: 'members.txt has no members in it' }],
      stderr: expect.stringContaining('would be rejected without --force: members.txt has no members in it'),
    });
    const many = Array.from({ length: 10 }, (_, index) => `u${index}`);
    await sync(many);
    expect((await sync([])).stderr).toContain('--force removes all 10 from the audience');
    const shrunken = await sync(many.slice(0, 4));
    expect(shrunken).toMatchObject({ code: 2, lines: [] });
    expect(shrunken.stderr).toContain('suspicious change: 10 members would become 4');
    expect(receiver.requests()).toBe(10);
    expect(told(await sync(many.slice(0, 4), ['--force']))).toHaveLength(6);
    expect(told(await sync([], ['--force']))).toHaveLength(4);
    expect(new Set(receiver.values.values())).toEqual(new Set([false]));
  });

  it('rejects what --max-change does not allow', async () => {
    const ids = Array.from({ length: 200 }, (_, index) => `u${index}`);
    await sync(ids, ['-q']);
    const changed = [...ids.slice(2), 'x'];
    const refused = await sync(changed, ['--max-change', '1%']);
    expect(errorOf(refused)).toContain('3 of 200 members would change (--max-change)');
    const dry = await sync(changed, ['--max-change', '1%', '--dry-run']);
    expect(dry.stderr).toContain('rejected without --force');
    expect((await sync(changed, ['--max-change', '1.5%'])).code).toBe(0);
  });

  it('does not count the rest of an interrupted first sync as changes', async () => {
    receiver.answer((userId) => (userId === 'a' ? 200 : 400));
    await sync(['a', 'b', 'c', 'd'], ['-q']);
    receiver.answer(() => 200);
    expect(await sync(['a', 'b', 'c', 'd'], ['--max-change', '10%'])).toMatchObject({ code: 0 });
  });

  it('rejects a truncated file even if no sync was complete yet', async () => {
    receiver.answer((userId) => (userId === 'bad' ? 400 : 200));
    await sync(['a', 'b', 'c', 'bad'], ['-q']);
    const cut = await sync(['a']);
    expect(cut).toMatchObject({ code: 2, stderr: expect.stringContaining('3 members would become 1') });
    expect((await sync(['a', 'b'], ['--max-change', '10%'])).stderr).toContain('1 of 3 members would change');
    expect(receiver.requests()).toBe(4);
  });

  it('rejects a name whose trait another name uses, unless that name was never synced', async () => {
    await sync(['a']);
    const same = 'sent as `vip`, which is the audience "VIP" already';
    expect(await sync(['a'], [], 'vip')).toMatchObject({ code: 2, stderr: expect.stringContaining(same) });
    writeFileSync(join(folder, 'values.csv'), 'userId,value\na,1\n');
    expect((await hooks(argv`trait sync VIP values.csv`, options())).stderr).toContain(same);
    // A rejected file does not reserve its name.
    errorOf(await sync([], [], 'Gold!'));
    expect((await sync(['a'], [], 'Gold')).code).toBe(0);
    const nameless = errorOf(await sync(['a'], [], '!!!'));
    expect(nameless).toContain('Expected a name with at least one letter or digit');
  });

  it('rejects a second concurrent sync of the same audience, but not of another', async () => {
    const args = ['audience', 'sync', 'VIP', '-', '-o', 'json'];
    const first = startHooks(args, { ...options(), keepsStdinOpen: true, stdin: 'a\n' });
    await until(async () => (await syncPid()) === String(first.child.pid), 'the sync to begin');
    const second = await sync(['a']);
    const error = `The audience "VIP" is being synced already, by the process ${first.child.pid}`;
    expect([errorOf(second), second.lines]).toEqual([expect.stringContaining(error), []]);
    expect((await hooks(['audience', 'forget', 'VIP'], options())).stderr).toContain('is being synced');
    expect((await sync(['a'], [], 'Other')).code).toBe(0);
    // A killed sync does not block the next one.
    await first.stop('SIGKILL');
    expect((await sync(['a'])).code).toBe(0);
  });

  it('reads CSV, NDJSON and ids, gzipped or not, from a file or standard input', async () => {
    const all = ['a', 'b'];
    const inputs = {
      'members.csv': 'plan,userId\npro,a\nfree,b\n',
      'members.ndjson': '{"userId":"a"}\n{"userId":"b"}\n',
      'ids.gz': gzipSync('a\nb\n'),
    };
    await sync(all);
    for (const [name, content] of Object.entries(inputs)) {
      writeFileSync(join(folder, name), content);
      const result = parsed(await hooks(argv`audience sync VIP ${name} -o json`, options()));
      expect(result).toMatchObject({ code: 0, summary: { unchanged: 2, read: 0 } });
    }
    const piped = await hooks(argv`audience sync VIP - -o json`, options({ stdin: gzipSync('a\nb\n') }));
    expect(parsed(piped)).toMatchObject({ code: 0, summary: { unchanged: 2 } });
  });

  it('sends nothing if a line is invalid, and names the line', async () => {
    writeFileSync(join(folder, 'members.csv'), 'userId,plan\na,pro\nb\n');
    const error = 'members.csv:3: expected 2 columns as in the header, got 1';
    await expectRejected(argv`audience sync VIP members.csv`, error, options());
    expect(receiver.requests()).toBe(0);
    await expectRejected(argv`audience sync VIP missing.csv`, 'missing.csv: no such file', options());
  });

  it('prints the state after Ctrl-C, and continues with the next sync', async () => {
    const ids = Array.from({ length: 1_000 }, (_, index) => `u${index}`);
    writeFileSync(join(folder, 'members.txt'), ids.join('\n'));
    const running = startHooks(argv`audience sync VIP members.txt -o json`, options());
    await running.lines.next();
    const stopped = parsed(await running.stop());
    expect(stopped.code).toBe(130);
    const { delivered, unsent } = stopped.summary as { delivered: number; unsent: number };
    expect(delivered).toBeGreaterThan(0);
    expect(delivered + unsent).toBe(1_000);
    expect(await sync(ids, ['-q'])).toMatchObject({ code: 0, stderr: '' });
    expect(receiver.values.size).toBe(1_000);
  });

  it('stores no name if it is interrupted before anything was sent', async () => {
    const open = { ...options(), keepsStdinOpen: true, stdin: 'a\n' };
    const reading = startHooks(argv`audience sync VIP -`, open);
    await until(async () => (await syncPid()) !== undefined, 'the sync to begin');
    expect(await reading.stop()).toMatchObject({
      code: 130,
      stderr: expect.stringContaining('nothing was sent'),
    });
    expect((await hooks(['audience', 'list', '-o', 'json'], options())).stdout).toBe('');
  });

  it('delivers to its own loopback receiver and to a tracking API', async () => {
    const api = await sync(['a', 'b'], ['--endpoint', receiver.url, '--write-key', 'k1']);
    expect(api).toMatchObject({ code: 0, summary: { delivered: 2 } });
    expect(heard()).toEqual(['a true', 'b true']);
    // Each write key is a separate place.
    expect(told(await sync(['a'], ['--endpoint', receiver.url, '--write-key', 'k2']))).toEqual(['a true']);
    expect(await sync(['a', 'b'], ['--loopback'])).toMatchObject({
      code: 0,
      summary: { place: 'loopback', delivered: 2 },
    });
    const none = await hooks(argv`audience sync VIP members.txt --no-config`, options());
    expect(none).toMatchObject({ code: 2, stderr: expect.stringContaining('There is no destination') });
  });

  it('never writes a secret into the store', async () => {
    const url = receiver.url.replace('http://', 'http://someone:canary1@');
    await sync(['a'], ['--url', `${url}?token=canary2`, '--secret', 'canary3']);
    await sync(['a'], ['--endpoint', receiver.url, '--write-key', 'canary4', '--retry-for', '0']);
    const places = await ask(join(folder, 'hooks.db'), 'SELECT place FROM audiences ORDER BY place');
    expect(places).toHaveLength(2);
    expect(places.join(' ')).not.toContain('canary');
  });
});

describe('hooks audience list, show and forget', () => {
  it.each(['list', 'show VIP', 'forget VIP'])('create no store: %s', async (line) => {
    const args = ['audience', ...line.split(' '), '--store', 'sqlite:typo/x.db'];
    const stderr = await expectRejected(args, `There is no queue at ${join(folder, 'typo/x.db')}`, options());
    expect(stderr).toContain('audience sync');
    expect(existsSync(join(folder, 'typo'))).toBe(false);
  });

  it('find nothing in the data folder before the first sync', async () => {
    const { code, stderr } = await hooks(['audience', 'list'], options());
    expect([code, stderr]).toEqual([0, 'note: no audience was synced yet (hooks audience sync)\n']);
  });

  it('show the last values, and forget them', async () => {
    await sync(['a', 'b']);
    const shown = await hooks(argv`audience show vip -o json`, options());
    expect(JSON.parse(shown.stdout)).toMatchObject({ name: 'VIP', trait: 'vip', members: 2, inDoubt: 0 });
    const members = await hooks(argv`audience show VIP --members`, options());
    expect(members.stdout.trim().split('\n').toSorted()).toEqual(['{"userId":"a"}', '{"userId":"b"}']);
    expect((await hooks(['audience', 'list'], options())).stdout).toContain('VIP (vip) to source default: 2');
    expect((await hooks(['trait', 'list'], options())).stderr).toContain('no trait was synced yet');
    expect((await hooks(['audience', 'forget', 'VIP'], options())).code).toBe(0);
    expect((await hooks(['audience', 'list'], options())).stdout).toBe('');
    expect(told(await sync(['a', 'b']))).toEqual(['a true', 'b true']);
    const nobody = await hooks(['audience', 'show', 'nobody'], options());
    expect(nobody.stderr).toContain('There is no audience "nobody"');
  });

  it('ask for one of several places', async () => {
    await sync(['a']);
    await sync(['a'], ['--loopback']);
    const refused = await hooks(['audience', 'forget', 'VIP'], options());
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('Expected `--place`') });
    expect((await hooks(argv`audience forget VIP --place loopback`, options())).code).toBe(0);
    expect((await hooks(['audience', 'forget', 'VIP'], options())).code).toBe(0);
  });
});

async function syncValues(csv: string, flags: readonly string[] = []): Promise<Synced> {
  writeFileSync(join(folder, 'values.csv'), csv);
  return parsed(await hooks(argv`trait sync ${'Lifetime Value'} values.csv -o json ${flags}`, options()));
}

describe('hooks trait sync', () => {
  it('sends typed values, then the changed ones, and null for users who are gone', async () => {
    const first = await syncValues('userId,value\na,27.5\nb,gold\nc,true\nd,\n');
    expect(told(first)).toEqual(['a 27.5', 'b "gold"', 'c true', 'd null']);
    expect(first.summary).toMatchObject({ kind: 'trait', trait: 'lifetime_value', added: 4 });
    const second = await syncValues('userId,value\na,27.50\nb,silver\nc,true\n');
    expect(told(second)).toEqual(['b "silver"', 'd null']);
    expect(second.summary).toMatchObject({ changed: 1, removed: 1, unchanged: 2 });
    expect(told(await syncValues('userId,value\na,27.5\nb,silver\nc,true\n', ['--text']))).toEqual([
      'a "27.5"',
      'c "true"',
    ]);
    const members = await hooks(argv`trait show lifetime_value --members`, options());
    expect(members.stdout.trim().split('\n').toSorted()).toEqual([
      '{"userId":"a","value":"27.5"}',
      '{"userId":"b","value":"silver"}',
      '{"userId":"c","value":"true"}',
    ]);
  });
});
