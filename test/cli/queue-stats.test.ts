import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { jsonLines, receiving } from '../end-to-end/receiving.ts';
import { nextJson } from '../end-to-end/running-command.ts';
import { basic } from '../service/serving.ts';
import { filledQueue } from './filled-queue.ts';
import { hooks, startHooks } from './run-in-process.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { until } from '../until.ts';

it('prints the same table with heads in a pipe and on a terminal', async () => {
  const cwd = temporaryFolder();
  await filledQueue(cwd);
  const env = { HOOKS_DATA_DIR: cwd };
  const { stdout } = await hooks(['queue', 'stats'], { cwd, env });
  expect(stdout).toBe(
    'SOURCE → DESTINATION  PENDING  SENDING  RETRYING  DELIVERED  DEAD  NEXT DUE\n' +
      'web → Webhooks              1        0         1          0     2  now\n',
  );
  expect(await hooks(['queue', 'stats'], { cwd, env, terminalColumns: 80 })).toMatchObject({ stdout });
});

it('prints the webhook of a broadcast that fails while another webhook succeeds', async () => {
  const [up, down] = [await receiving({}), await receiving({ respond: '500' })];
  const cwd = temporaryFolder();
  const env = { HOOKS_DATA_DIR: join(cwd, 'data') };
  const delivery = { strategy: 'broadcast', allowPrivate: true };
  const Webhooks = { webhooks: [up.url, down.url], delivery };
  const config = { sources: { web: { writeKey: 'k', destinations: { Webhooks } } } };
  await writeFile(join(cwd, '.hooksrc.json'), JSON.stringify(config));
  const serve = startHooks(['serve', '--port', '0', '-o', 'json'], { cwd, env, timeoutMs: 60_000 });
  const { url } = await nextJson<{ url: string }>(serve);
  for (const event of ['a', 'b', 'c']) {
    const body = JSON.stringify({ type: 'track', event, userId: event });
    await fetch(`${url}/v1/track`, { method: 'POST', headers: basic('k'), body });
  }
  const lane = 'source="web",destination="Webhooks"';
  const metrics = (): Promise<string> => fetch(`${url}/metrics`).then((response) => response.text());
  const failed = `hooks_attempts_total{${lane},result="retryable"} 3`;
  await until(async () => (await metrics()).includes(failed), 'the failed attempts to be counted');
  await until(
    async () => (await metrics()).includes(`hooks_queue_deliveries{${lane},state="delivered"} 3`),
    'the deliveries',
  );
  expect(await metrics()).toContain(`hooks_attempts_total{${lane},result="delivered"} 3`);
  expect(await metrics()).toMatch(new RegExp(`hooks_webhook_up\\{${lane},url="${down.url}/?"\\} 0`));
  await serve.stop();

  for (const narrowed of [[], ['--since', '1h']]) {
    const { stdout, stderr } = await hooks(['queue', 'stats', ...narrowed], { cwd, env });
    expect(stdout).toContain('web → Webhooks              0        0         0          3     0');
    expect(stdout).toMatch(/\n\nFAILED {2}BESIDE A SUCCESS {2}AT\n {5}3 {2}web → Webhooks {4}http:\S+\n$/);
    expect(stdout).toContain(down.url);
    expect(stdout).not.toContain(up.url);
    expect(stderr).toMatch(/^note: a webhook failed where another succeeded/);
  }
  const { stdout } = await hooks(['queue', 'stats', '-o', 'json'], { cwd, env });
  expect(jsonLines(stdout)[0]).toMatchObject({ delivered: 3, missed: { [down.url]: 3 } });
});

it('counts no failure of a webhook that accepts the delivery after its URL is corrected', async () => {
  const receiver = await receiving({});
  const cwd = temporaryFolder();
  const env = { HOOKS_DATA_DIR: join(cwd, 'data') };
  const delivery = { allowPrivate: true, strategy: 'broadcast' };
  const writeConfig = (...webhooks: readonly string[]): Promise<void> =>
    writeFile(join(cwd, '.hooksrc.json'), JSON.stringify({ webhooks, delivery }));
  const work = async (state: string): Promise<void> => {
    const worker = startHooks(['worker'], { cwd, env, timeoutMs: 60_000 });
    await until(async () => (await total())[state] === 1, `the delivery to be ${state}`);
    await worker.stop();
  };
  const total = async (): Promise<Record<string, unknown>> => {
    const { stdout } = await hooks(['queue', 'stats', '-o', 'json'], { cwd, env });
    return jsonLines<{ total: Record<string, unknown> }>(stdout).at(-1)?.total ?? {};
  };
  const failing = await receiving({ respond: '500' });
  await writeConfig(failing.url, `${failing.url}/wrong`);
  await hooks(['send', 'track', '--event', 'a', '--user-id', 'u', '--queue'], { cwd, env });
  await work('retrying');
  await writeConfig(failing.url, receiver.url);
  await hooks(['queue', 'retry', '--now', '--yes'], { cwd, env });
  await work('delivered');
  const { stdout } = await hooks(['queue', 'stats', '-o', 'json'], { cwd, env });
  const [lane] = jsonLines<{ missed: Record<string, number> }>(stdout);
  expect(lane?.missed).toEqual({ [failing.url]: 2 });
});
