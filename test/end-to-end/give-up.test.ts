import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import { giveUpMs } from '../../src/cli/verbs/replay/options.ts';
import { hooks } from '../cli/run-in-process.ts';
import { freePort } from '../free-port.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { track } from './receiving.ts';

const SILENCE = /error: No response came for 1s: the rest is not sent\nhint: {2}check that the receiver/;
const MESSAGES = [1, 2, 3].map((index) => track(index)).join('\n');

function folder(): string {
  return temporaryFolder({ 'three.ndjson': MESSAGES });
}

describe.concurrent('replay --give-up-after', () => {
  it('ends when nothing listens, and --resume sends what is left', async () => {
    const cwd = folder();
    const env = { HOOKS_DATA_DIR: temporaryFolder() };
    const port = await freePort();
    const to = ['three.ndjson', '--url', `http://127.0.0.1:${port}/`];
    const first = await hooks(['replay', ...to, '--give-up-after', '1s'], { cwd, env });
    expect([first.code, first.stdout]).toEqual([1, expect.stringMatching(/unsent {5}3\n/)]);
    expect(first.stderr).toMatch(SILENCE);
    const server = createServer((request, response) => request.resume() && response.end()).listen(port);
    await once(server, 'listening');
    const second = await hooks(['replay', ...to, '--resume'], { cwd, env });
    server.close();
    expect([second.code, second.stdout]).toEqual([0, expect.stringMatching(/delivered {2}3\n/)]);
  });

  it('does not count the time before the last response, whatever its status', async () => {
    const server = createServer((request, response) => request.resume() && response.writeHead(503).end());
    server.listen(0);
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo; // it listens at a port
    const began = performance.now();
    // The second round comes within 1 s; the third may come too late.
    const to = ['three.ndjson', '--url', `http://127.0.0.1:${port}/`, '--give-up-after', '1500ms'];
    const run = await hooks(['replay', ...to], { cwd: folder() });
    server.close();
    expect([run.code, run.stdout]).toEqual([1, expect.stringMatching(/unsent {5}3\n/)]);
    expect(performance.now() - began).toBeGreaterThan(2_000);
  });

  it('cannot be given with --queue, which gets no response', async () => {
    const run = await hooks(['replay', 'three.ndjson', '--queue', '--give-up-after', '1s'], {
      cwd: folder(),
    });
    expect([run.code, run.stderr.split('\n')[0]]).toEqual([
      2,
      'error: `--give-up-after` and `--queue` cannot be given together',
    ]);
  });
});

describe('giveUpMs', () => {
  const ci = { env: { CI: 'true' } };
  const cases = [
    { title: 'as given', options: { giveUpAfter: 5 }, io: { env: {} }, ms: 5 },
    { title: 'never at the prompt', options: {}, io: { env: {} }, ms: undefined },
    { title: '30 s in a job', options: {}, io: ci, ms: 30_000 },
    {
      title: 'not in a job with a retry window of its own',
      options: { retryFor: '4h' },
      io: ci,
      ms: undefined,
    },
    { title: 'not for what is only queued', options: { queue: true as const }, io: ci, ms: undefined },
  ];
  it.each(cases)('$title', ({ options, io, ms }) => {
    expect(giveUpMs(options, io)).toBe(ms);
  });
});
