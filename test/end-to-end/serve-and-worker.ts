import { onTestFinished } from 'vitest';
import { ask } from '../stores/sqlite/ask.ts';
import { until } from '../until.ts';
import { startHooks, type RunningHooks } from './hooks.ts';
import { SECRET } from './receiving.ts';

export const WRITE_KEY = 'wk-of-the-web';

export interface Place {
  /** Of the receiver. */
  readonly url: string;
  readonly dataDir: string;
}

/** The settings of all commands of a test, but what its config file says. */
export function settings({ url, dataDir }: Place): Record<string, string> {
  return { HOOKS_URL: url, HOOKS_SECRET: SECRET, HOOKS_WRITE_KEY: WRITE_KEY, HOOKS_DATA_DIR: dataDir };
}

/** `hooks serve` (on a free port) or `hooks worker`. It outlives no test. */
export function start(
  command: 'serve' | 'worker',
  env: Readonly<Record<string, string>>,
  { log = '-q' } = {},
): RunningHooks {
  const port = command === 'serve' ? ['--port', '0'] : [];
  const flags = ['-o', 'json', '--allow-private', log];
  const running = startHooks([command, ...port, ...flags], { env, timeoutMs: 600_000 });
  onTestFinished(async () => {
    await running.stop('SIGKILL');
  });
  return running;
}

/** What it says once it is ready: `serve` its URL. Undefined: it has ended. To be asked once. */
export async function readiness({ lines }: RunningHooks): Promise<{ readonly url: string } | undefined> {
  const { value } = await lines.next();
  return value === undefined ? undefined : (JSON.parse(value) as { url: string });
}

export async function startReady(
  command: 'serve' | 'worker',
  env: Readonly<Record<string, string>>,
  options: { readonly log?: '-q' | '-v' } = {},
): Promise<RunningHooks & { readonly url: string }> {
  const running = start(command, env, options);
  const ready = await readiness(running);
  if (ready === undefined) throw new Error(`hooks ${command} ended: ${running.stderr()}`);
  return { ...running, url: ready.url };
}

/** Until nothing waits any more in the queue of a file. */
export async function untilSettled(file: string): Promise<void> {
  const unsettled = "SELECT count(*) FROM queue WHERE state NOT IN ('delivered', 'dead')";
  await until(async () => (await ask(file, unsettled))[0] === '0', 'the queue to be settled', {
    seconds: 120,
  });
}
