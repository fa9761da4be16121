import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { expectRejected } from '../cli/expect-rejected.ts';
import { hooks, startHooks } from './hooks.ts';
import { receiving, summaryOf, tracks } from './receiving.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { until } from '../until.ts';

const COUNT = 200;

it('a replay of the same input to the same place is rejected while another process runs it', async () => {
  const cwd = temporaryFolder({ 'day.ndjson': tracks(COUNT), 'other.ndjson': tracks(2) });
  const options = { cwd, env: { HOOKS_DATA_DIR: join(cwd, 'data') } };
  const to = await receiving({ respond: '200@delay=50ms' });
  const words = ['--url', to.url, '--concurrency', '1', '-o', 'json'];
  const first = startHooks(['replay', 'day.ndjson', ...words], options);
  await until(() => to.requests.length > 0, 'the first replay to send');

  for (const flags of [[], ['--resume'], ['--again']]) {
    const stderr = await expectRejected(
      ['replay', 'day.ndjson', ...words, ...flags],
      'day.ndjson: already being replayed to the same destination by process ',
      { run: hooks, ...options },
    );
    expect(stderr).toContain(`process ${first.child.pid}\n`);
    expect(stderr).toContain('hint:  wait until that replay ends, or stop it');
  }
  expect((await hooks(['replay', 'other.ndjson', ...words], options)).code).toBe(0);
  expect(first.child.exitCode).toBeNull();

  await first.stop('SIGKILL');
  const last = await hooks(['replay', 'day.ndjson', ...words, '--resume', '--concurrency', '50'], options);
  expect(last.code).toBe(0);
  expect(summaryOf(last.stdout)).toMatchObject({ delivered: expect.any(Number), failed: 0, unsent: 0 });
  const locks = readdirSync(join(cwd, 'data', 'replays')).filter((name) => name.endsWith('.lock'));
  expect(locks).toEqual([]);
});
