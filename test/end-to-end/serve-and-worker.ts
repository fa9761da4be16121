import { onTestFinished } from 'vitest';
import { ask } from '../stores/sqlite/ask.ts';
import { until } from '../until.ts';
import { startHooks, type RunningHooks } from './hooks.ts';
import { SECRET } from './receiving.ts';

export const WRITE_KEY = 'wk-of-the-web';

export interface Place {
  /** The URL of the receiver. */
  readonly url: string;
  readonly dataDir: string;
}

/** Returns the variables of all commands of a test. */
export function settings({ url, dataDir }: Place): Record<string, string> {
  return { HOOKS_URL: url, HOOKS_SECRET: SECRET, HOOKS_WRITE_KEY: WRITE_KEY, HOOKS_DATA_DIR: dataDir };
}

/** Starts `hooks serve` (on a free port) or `hooks worker`. It is killed when the test ends. */
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

/** Waits for the line of readiness, which of `serve` has the URL. Undefined if the command has ended. Can be called once. */
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

/** Waits until no delivery of a queue waits any more. */
export async function untilSettled(file: string): Promise<void> {
  const unsettled = "SELECT count(*) FROM queue WHERE state NOT IN ('delivered', 'dead')";
  await until(async () => (await ask(file, unsettled))[0] === '0', 'the queue to be settled', {
    seconds: 120,
  });
}
