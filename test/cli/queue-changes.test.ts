import { stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/clock.ts';
import { openDurableQueue } from '../../src/stores/open.ts';
import { jsonLines } from '../end-to-end/receiving.ts';
import { filledQueue } from './filled-queue.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { hooks, type HooksResult, type InProcessOptions } from './run-in-process.ts';

let cwd: string;
let env: Record<string, string>;

beforeEach(() => {
  cwd = temporaryFolder();
  env = { HOOKS_DATA_DIR: cwd };
});

function run(line: string, options: InProcessOptions = {}): Promise<HooksResult> {
  return hooks(['queue', ...line.split(' ')], { cwd, env, ...options });
}

async function states(): Promise<Record<string, unknown>> {
  const { stdout } = await run('stats -o json');
  return jsonLines<{ total: Record<string, unknown> }>(stdout).at(-1)?.total ?? {};
}

describe('hooks queue', () => {
  beforeEach(() => filledQueue(cwd));

  it('retry --now makes deliveries that wait for a retry due, and skips dead letters', async () => {
    expect(await run('retry --now')).toMatchObject({ code: 0, stdout: 'due 2\n' });
    const { stdout } = await run('show ab12-later -o json');
    const shown = JSON.parse(stdout) as { state: string; dueAt: string };
    expect(shown.state).toBe('retrying');
    expect(Date.parse(shown.dueAt)).toBeLessThanOrEqual(systemClock.now());
    expect(await states()).toMatchObject({ dead: 2 });
    const both = await run('retry --now --all');
    expect(both).toMatchObject({ code: 0, stdout: 'due 2\n' });
    expect(both.stderr).toMatch(/^note: --now skips dead letters; hooks queue retry --all/);
    const named = await run('retry --now ab12-later cd34-dead');
    expect(named.code).toBe(1);
    expect(named.stdout).toBe('due ab12-later\n');
    expect(named.stderr).toContain('cd34-dead: it is a dead letter: hooks queue retry without --now');
  });

  it('list --limit prints at most that many with a note, and without --limit a pipe gets all', async () => {
    const few = await run('list --limit 2');
    expect(few.stdout.match(/^.*(ab12|cd34|ef56).*$/gm)).toHaveLength(2);
    expect(few.stderr).toContain('showing 2 of 4; --limit N shows more');
    const all = await run('list -o json');
    expect(all.stdout.trimEnd().split('\n')).toHaveLength(4);
    expect(all.stderr).toBe('');
  });

  it('accepts a unique beginning or end of an id', async () => {
    expect((await run('show ef5')).stdout).toContain('ef56-pending');
    expect((await run('show 4-dead')).stdout).toContain('cd34-dead');
    expect((await run('show dead')).stderr).toContain('got dead, with which 2 ids begin or end');
    expect(await run('retry cd')).toMatchObject({ code: 0, stdout: 'retried cd34-dead\n' });
    const several = await run('show ab12');
    expect(several.code).toBe(2);
    expect(several.stderr).toMatch(
      /Expected a unique id, got ab12, with which 2 ids begin or end\nhint: {2}give more of the id: ab12-/,
    );
    expect((await run('show zz')).stderr).toContain('There is no delivery zz');
  });

  it('show names the deliveries of a message if its id is given', async () => {
    const { code, stderr } = await run('show message-cd34-dead');
    expect(code).toBe(2);
    expect(stderr).toContain('hint:  this is the id of a message: run hooks queue show cd34-dead\n');
    expect((await run('show message-none')).stderr).toContain('hint:  run hooks queue list to see the ids');
  });

  it.each([
    ['retry --all --dry-run', '2 would be retried\n'],
    ['purge --dry-run', '2 would be removed\n'],
    ['drop --all --dry-run', '4 would be dropped (2 of them still waiting to be delivered)\n'],
    [
      'drop --all --state pending --dry-run',
      '1 would be dropped (1 of them still waiting to be delivered)\n',
    ],
    ['drop cd34 --dry-run', '1 would be dropped\n'],
  ])('%s prints how many deliveries would change, and changes none', async (line, stdout) => {
    const before = await states();
    expect(await run(line)).toMatchObject({ code: 0, stdout });
    expect(await states()).toEqual(before);
  });

  it('drop --all drops waiting deliveries and dead letters', async () => {
    expect(await run('drop --all --yes')).toMatchObject({ code: 0, stdout: 'dropped 4\n' });
    expect(await states()).toMatchObject({ pending: 0, retrying: 0, dead: 0 });
  });

  it.each(['drop', 'drop cd34 --all', 'retry', 'drop cd34 --filter state=dead'])(
    '%s exits with 2 and asks for either ids or --all',
    async (line) => {
      const { code, stderr } = await run(line);
      expect(code).toBe(2);
      expect(stderr).toContain('Expected the ids of deliveries, or `--all`');
    },
  );

  it('backup copies a file in use, readable by its owner only, and overwrites no other file', async () => {
    const open = await openDurableQueue({ store: undefined, dataDir: cwd, clock: systemClock });
    expect(await run('backup copy.db')).toMatchObject({ code: 0 });
    await open.close();
    expect((await stat(join(cwd, 'copy.db'))).mode & 0o777).toBe(0o600);
    const copied = await run('list -o json --store sqlite:copy.db');
    expect(copied.stdout.trimEnd().split('\n')).toHaveLength(4);
    await writeFile(join(cwd, 'other.db'), 'the last good copy');
    const over = await run('backup other.db');
    expect(over.code).toBe(2);
    expect(over.stderr).toContain('Expected a new file for the backup, but there is other.db already');
  });

  it('every verb has an example', async () => {
    const { stdout } = await hooks(['queue', '--help'], { cwd, env });
    const verbs = [...stdout.matchAll(/^ {2}([a-z]+) \[options\]/gm)].map(([, verb = '']) => verb);
    expect(verbs).toHaveLength(13);
    for (const verb of verbs) expect(stdout).toContain(`$ hooks queue ${verb}`);
  });
});
