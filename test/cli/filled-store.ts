import { expect } from 'vitest';
import { jsonLines } from '../end-to-end/receiving.ts';
import type { HooksResult } from '../end-to-end/running-command.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { hooks } from './run-in-process.ts';

const CONFIG = { '.hooksrc.yaml': 'webhooks: [http://127.0.0.1:9/]\nsharedSecret: s\n' };

/** Hands a store some messages. The function moves them between two stores. */
export async function filled(store: string): Promise<(from: string, to: string) => Promise<HooksResult>> {
  const cwd = temporaryFolder(CONFIG);
  const stdin = ['a', 'b'].map((event) => JSON.stringify({ type: 'track', event, userId: 'u' })).join('\n');
  const run = (...args: readonly string[]): Promise<HooksResult> => hooks(args, { cwd, stdin });
  expect(await run('replay', '-', '--queue', '-q', '--store', store)).toMatchObject({ code: 0 });
  return (from, to) => run('queue', 'move', '--store', from, '--to', to);
}

export async function expectKept(store: string, { code, stderr }: HooksResult): Promise<void> {
  expect([code, stderr]).toEqual([2, expect.stringContaining('Expected `--to` to be another store')]);
  expect(await pendingIn(store)).toBe(2);
}

export async function pendingIn(store: string): Promise<unknown> {
  const { stdout } = await hooks(['queue', 'stats', '-o', 'json', '--store', store], {
    cwd: temporaryFolder(),
  });
  return jsonLines<{ total: { pending: unknown } }>(stdout).at(-1)?.total.pending;
}
