import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { argv } from './argv.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { until } from '../until.ts';
import { hooks, startHooks } from '../cli/run-in-process.ts';
import { nextJson } from './running-command.ts';
import { jsonLines, receiving, SECRET, tracks } from './receiving.ts';
import { startReady } from './serve-and-worker.ts';
import { waitingQueue } from './waiting-queue.ts';

/** Returns every time in ms in a JSON text, as written. */
function millisecondsIn(text: string): string[] {
  return [...text.matchAll(/"(?:ms|p50|p95|p99)":([\d.e+-]+)/g)].map(([, number = '']) => number);
}

function expectShort(text: string): void {
  const times = millisecondsIn(text);
  expect(times).not.toEqual([]);
  expect(times.filter((time) => !/^\d+(?:\.\d{1,3})?$/.test(time))).toEqual([]);
}

describe('a time in ms has at most three decimals', () => {
  it('in result lines, the summary and the report of a replay, and in lines of a receiver', async () => {
    const listening = startHooks(argv`listen --port 0 -o json --respond 503x3,200`);
    const { url } = await nextJson<{ url: string }>(listening);
    const cwd = temporaryFolder({ 'day.ndjson': tracks(20) });
    const { code, stdout } = await hooks(
      argv`replay day.ndjson --url ${url} --order none --report r.json -o json`,
      { cwd },
    );
    expect(code).toBe(0);
    expectShort(stdout);
    expectShort(readFileSync(join(cwd, 'r.json'), 'utf8'));
    expectShort((await listening.stop()).stdout);
  });

  it('in checks of a receiver', async () => {
    const { url } = await receiving({ secret: SECRET });
    const { stdout } = await hooks(argv`test ${url} --secret ${SECRET} -o json`);
    expectShort(stdout);
  });

  it('in deliveries of the queue and in the log of the service', async () => {
    const queue = await waitingQueue();
    await queue.add(0, 10);
    const serve = await startReady('serve', queue.env, { log: '-v' });
    await until(() => serve.stderr().split('an attempt failed').length > 10, 'the first round');
    expectShort((await serve.stop()).stderr);
    const list = await hooks(argv`queue list -o json`, { env: queue.env });
    expectShort(list.stdout);
    const [{ id } = {}] = jsonLines(list.stdout);
    expectShort((await hooks(argv`queue show ${String(id)} -o json`, { env: queue.env })).stdout);
  });
});
