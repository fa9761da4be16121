import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { hooks, startHooks, type RunningHooks } from '../cli/run-in-process.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { basic } from '../service/serving.ts';
import { until } from '../until.ts';
import { argv } from './argv.ts';
import { headerOf, receiving, type Receiving } from './receiving.ts';
import { nextJson, nextUrl } from './running-command.ts';

/** Returns the idempotency key and the body of each request. */
function arrivals({ requests, bodies }: Receiving): unknown[] {
  const texts = bodies();
  return requests.map((request, index) => [headerOf(request, 'idempotency-key'), texts[index]]);
}

function destinationOf({ url }: Receiving): object {
  return { webhooks: [url], delivery: { allowPrivate: true, retryFor: '1h' } };
}

it('an imported message arrives only at the destination that lacks it, with the same key and body', async () => {
  const [one, other] = [await receiving(), await receiving({ respond: '503x1,200' })];
  const destinations = { One: destinationOf(one), Other: destinationOf(other) };
  const cwd = temporaryFolder({
    '.hooksrc.json': JSON.stringify({ sources: { web: { writeKey: 'wk', destinations } } }),
  });
  const start = (line: readonly string[]): RunningHooks => {
    const running = startHooks([...line, '-o', 'json'], { cwd });
    onTestFinished(async () => void (await running.stop('SIGTERM')));
    return running;
  };
  const serve = start(argv`serve --port 0 --store old.db`);
  const response = await fetch(`${await nextUrl(serve)}/v1/track`, {
    method: 'POST',
    headers: basic('wk'),
    body: '{"event":"Signup","userId":"u1"}',
  });
  expect(response.status).toBe(200);
  await until(() => one.requests.length + other.requests.length === 2, 'both destinations to get a request');
  expect((await serve.stop('SIGTERM')).code).toBe(0);

  const exported = await hooks(argv`queue export --deliveries --store old.db`, { cwd });
  expect(exported).toMatchObject({ code: 0, stderr: '' });
  await writeFile(join(cwd, 'all.ndjson'), exported.stdout);
  expect(await hooks(argv`queue import all.ndjson --store new.db`, { cwd })).toMatchObject({ code: 0 });
  const worker = start(argv`worker --store new.db`);
  expect(await nextJson(worker)).toMatchObject({ ready: true });
  expect(await nextJson(worker)).toMatchObject({ outcome: 'delivered' });
  expect((await worker.stop('SIGTERM')).code).toBe(0);

  const [first] = arrivals(one);
  expect(arrivals(one)).toHaveLength(1);
  expect(arrivals(other)).toEqual([first, first]);
});
