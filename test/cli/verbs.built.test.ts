import { describe, expect, it } from 'vitest';
import { hooks as runBuilt, startHooks as startBuilt } from '../end-to-end/hooks.ts';
import { receiving, track } from '../end-to-end/receiving.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { hooks } from './run-in-process.ts';

const FILES = {
  '.hooksrc.json': JSON.stringify({
    webhooks: ['http://127.0.0.1:9/hook'],
    sharedSecret: 's3cret',
    writeKey: 'key',
  }),
  'day.ndjson': `${track(1)}\n`,
  'users.txt': 'u1\n',
};

/** A command line of each verb with reproducible output. */
const LINES: readonly (readonly string[])[] = [
  ['send', '--json', track(1), '--dry-run'],
  ['replay', 'day.ndjson', '--dry-run'],
  ['audience', 'sync', 'VIP', 'users.txt', '--dry-run', '-o', 'json'],
  ['trait', 'show', 'Plan'],
  ['delete', 'u1', '--dry-run'],
  ['verify', 'day.ndjson', '--signature', '00'],
  ['sign', 'day.ndjson'],
  ['test', 'ftp://a.example'],
  ['expect', '--count', '1', '--within', '10ms', '-q', '--', 'sleep', '20'],
  ['queue', 'list'],
  ['init', 'other.yaml', '--url', 'https://a.example/hook'],
  ['config'],
  ['completion', 'zsh'],
  ['complete', '--', 'se'],
];

describe('the built program', () => {
  it.concurrent.each(LINES.map((line) => [line]))('does the same for %j as the sources', async (line) => {
    const [one, other] = [temporaryFolder(FILES), temporaryFolder(FILES)];
    const built = await runBuilt(line, { cwd: one, env: { HOOKS_DATA_DIR: `${one}/data` } });
    const ofSources = await hooks(line, { cwd: other, env: { HOOKS_DATA_DIR: `${other}/data` } });
    const { code, stdout, stderr } = JSON.parse(
      JSON.stringify(ofSources).replaceAll(other, one),
    ) as typeof ofSources; // what was just written
    expect(built).toEqual({ code, stdout, stderr, signal: null });
    expect(stdout + stderr).not.toContain('Unexpected');
  });

  it('runs doctor', async () => {
    const cwd = temporaryFolder(FILES);
    const { code, stdout } = await runBuilt(['doctor'], { cwd, env: { HOOKS_DATA_DIR: `${cwd}/data` } });
    expect([code, stdout]).toEqual([1, expect.stringContaining('to fix')]);
  });

  it.each([
    ['listen', ['--port', '0']],
    ['serve', ['--port', '0', '--allow-private']],
    ['worker', ['--allow-private']],
  ])('runs %s until it is told to stop', async (verb, flags) => {
    const cwd = temporaryFolder(FILES);
    const env = { HOOKS_DATA_DIR: `${cwd}/data` };
    const running = startBuilt([verb, '-o', 'json', ...flags], { cwd, env });
    expect(String((await running.lines.next()).value)).toContain('{');
    expect(await running.stop()).toMatchObject({ signal: null, code: 0 });
  });

  it('delivers messages', async () => {
    const to = await receiving();
    const args = ['replay', 'day.ndjson', '--url', to.url];
    expect(await runBuilt(args, { cwd: temporaryFolder(FILES) })).toMatchObject({ code: 0, stderr: '' });
    expect(to.field('messageId')).toEqual(['m1']);
  });
});
