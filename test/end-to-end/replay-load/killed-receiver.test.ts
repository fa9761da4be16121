import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { afterEachFile } from '../../clean-ups.ts';
import { startHooks } from '../../cli/run-in-process.ts';
import { temporaryFolder } from '../../temporary-folder.ts';
import { until } from '../../until.ts';
import { argv } from '../argv.ts';
import { tracks } from '../receiving.ts';
import { loadOf } from './load-receiver.ts';

const RECEIVER = fileURLToPath(new URL('storing-receiver.js', import.meta.url));
const children: ChildProcess[] = [];
afterEachFile(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
});

async function storing(port: number, file: string): Promise<{ child: ChildProcess; port: number }> {
  const child = spawn(process.execPath, [RECEIVER, String(port), file], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children.push(child);
  const [line] = (await once(child.stdout, 'data')) as [Buffer]; // a stream without encoding has buffers
  return { child, port: Number(line.toString()) };
}

it('hooks replay --load accounts for each message when the receiver is killed and restarted', async () => {
  const cwd = temporaryFolder({ 'day.ndjson': tracks(5), stored: '' });
  const file = join(cwd, 'stored');
  const stored = (): number => statSync(file).size;
  const { child, port } = await storing(0, file);
  const flags = ['--received', 'wc -c < stored', '--slo', 'lost=0', '-o', 'json'];
  const running = startHooks(
    argv`replay day.ndjson --url http://127.0.0.1:${port} --load 100/s --for 4s --loop ${flags}`,
    { cwd },
  );
  await until(() => stored() > 50, 'messages');
  child.kill('SIGKILL');
  await once(child, 'exit');
  const before = stored();
  await storing(port, file);
  const { code, stdout } = await running.exited;
  const { summary, load } = loadOf(stdout);
  expect(summary.read).toBe(summary.delivered + summary.failed);
  expect(summary.unsent).toBe(0);
  // Connections are made again, and what was acknowledged is stored.
  expect(stored()).toBeGreaterThan(before);
  expect(load.received).toBe(stored());
  expect(stored()).toBeGreaterThanOrEqual(summary.delivered);
  expect(load).toMatchObject({ lost: 0, slo: [{ expr: 'lost=0', held: true, value: 0 }] });
  expect(code).toBe(load.verdict === 'sender-bottleneck' ? 2 : 0);
});
