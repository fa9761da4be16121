import { describe, expect, it } from 'vitest';
import { giveUpMs } from '../../src/cli/verbs/replay/options.ts';
import { hooks } from '../cli/run-in-process.ts';
import { expectRejected } from '../cli/expect-rejected.ts';
import { answers, answersOk } from '../hostile-receivers.ts';
import { freePort } from '../free-port.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { track } from './receiving.ts';

const SILENCE = /error: No response came for 1s: the rest is not sent\nhint: {2}check that the receiver/;
const MESSAGES = [1, 2, 3].map((index) => track(index)).join('\n');

function folder(): string {
  return temporaryFolder({ 'three.ndjson': MESSAGES });
}

describe.concurrent('replay --give-up-after', () => {
  it('ends when no receiver listens, and --resume sends the rest', async () => {
    const cwd = folder();
    const env = { HOOKS_DATA_DIR: temporaryFolder() };
    const port = await freePort();
    const to = ['three.ndjson', '--url', `http://127.0.0.1:${port}/`];
    const first = await hooks(['replay', ...to, '--give-up-after', '1s'], { cwd, env });
    expect([first.code, first.stdout]).toEqual([1, expect.stringMatching(/unsent {5}3\n/)]);
    expect(first.stderr).toMatch(SILENCE);
    const server = await answersOk({ port });
    const second = await hooks(['replay', ...to, '--resume'], { cwd, env });
    await server.close();
    expect([second.code, second.stdout]).toEqual([0, expect.stringMatching(/delivered {2}3\n/)]);
  });

  it('counts the time since the last response of any status', async () => {
    const server = await answers(503);
    const began = performance.now();
    // The second round comes within 1 s; the third may come too late.
    const args = ['replay', 'three.ndjson', '--url', server.url, '--give-up-after', '1500ms'];
    const run = await hooks(args, { cwd: folder() });
    await server.close();
    expect([run.code, run.stdout]).toEqual([1, expect.stringMatching(/unsent {5}3\n/)]);
    expect(performance.now() - began).toBeGreaterThan(2_000);
  });

  it('cannot be given with --queue, which gets no response', async () => {
    const args = ['replay', 'three.ndjson', '--queue', '--give-up-after', '1s'];
    const error = /^error: `--give-up-after` and `--queue` cannot be given together\n/;
    await expectRejected(args, error, { cwd: folder() });
  });
});

describe('giveUpMs', () => {
  const ci = { env: { CI: 'true' } };
  const cases = [
    { title: 'the given time', options: { giveUpAfter: 5 }, io: { env: {} }, ms: 5 },
    { title: 'undefined at a prompt', options: {}, io: { env: {} }, ms: undefined },
    { title: '30 s in CI', options: {}, io: ci, ms: 30_000 },
    { title: 'undefined in CI with --retry-for', options: { retryFor: '4h' }, io: ci, ms: undefined },
    { title: 'undefined in CI with --queue', options: { queue: true as const }, io: ci, ms: undefined },
  ];
  it.each(cases)('is $title', ({ options, io, ms }) => {
    expect(giveUpMs(options, io)).toBe(ms);
  });
});
