import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { receiver } from '../raw-receiver.ts';
import { ask } from '../stores/sqlite/ask.ts';
import { until } from '../until.ts';
import { answer } from './failing-receiver.ts';
import { hooks, type RunningHooks } from './hooks.ts';
import { tracks } from './receiving.ts';
import { settings } from './serve-and-worker.ts';
import { temporaryFolder } from '../temporary-folder.ts';

/** A queue whose deliveries wait, because their receiver fails. */
export interface WaitingQueue {
  readonly folder: string;
  readonly file: string;
  /** The variables of the commands that use the queue. */
  readonly env: Record<string, string>;
  /** Number of requests with each message. */
  readonly requests: ReadonlyMap<string, number>;
  /** How the receiver responds to further requests. */
  answering: 'with 503' | 'with 200' | 'never';
  /** Adds messages by another process, which ends. Each message has a different user. */
  add(from: number, to: number): Promise<void>;
}

export async function waitingQueue(delivery: Readonly<Record<string, unknown>> = {}): Promise<WaitingQueue> {
  const folder = temporaryFolder();
  const requests = new Map<string, number>();
  const failing = await receiver((socket, { body }) => {
    const { messageId } = JSON.parse(body.toString()) as { messageId: string };
    requests.set(messageId, (requests.get(messageId) ?? 0) + 1);
    if (queue.answering !== 'never') socket.write(answer(queue.answering === 'with 503' ? 503 : 200));
  });
  onTestFinished(() => failing.close());
  const config = join(folder, 'config.json');
  writeFileSync(config, JSON.stringify({ delivery }));
  const env = { ...settings({ url: failing.url, dataDir: folder }), HOOKS_CONFIG: config };
  const queue: WaitingQueue = {
    folder,
    file: join(folder, 'hooks.db'),
    env,
    requests,
    answering: 'with 503',
    add: async (from, to) => {
      const stdin = tracks(to).split('\n').slice(from).join('\n');
      // The config gives the destination; a URL in the environment would be another.
      const args = ['replay', '-', '--queue', '--order', 'none', '-q'];
      const { code, stderr } = await hooks(args, { env, stdin });
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    },
  };
  return queue;
}

/** Waits for this many requests with each message. Most waits between rounds are below four seconds then. */
export async function untilEachCame({ requests }: WaitingQueue, times: number, count: number): Promise<void> {
  const isSo = (): boolean => requests.size >= count && [...requests.values()].every((each) => each >= times);
  await until(isSo, `${times} requests for each of ${count} messages`, { seconds: 30 });
}

/** Returns the messages in the queue, each with its state and the number of recorded attempts. */
export async function recorded({ file }: WaitingQueue): Promise<readonly string[]> {
  return ask(file, 'SELECT message_id, state, json_array_length(attempts) FROM queue ORDER BY seq');
}

/** Returns the processor time of a process, in seconds. */
function processorSeconds({ child }: RunningHooks): number {
  const stat = readFileSync(`/proc/${child.pid}/stat`, 'latin1');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  // proc(5): utime and stime, in ticks of which Linux has 100 a second.
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

/** Expects that a process waits for most of the time of `during` and does not loop. */
export async function expectAtRest(running: RunningHooks, during: () => Promise<void>): Promise<void> {
  const [worked, began] = [processorSeconds(running), performance.now()];
  await during();
  await until(() => performance.now() - began > 2_000, 'long enough to tell');
  const share = (processorSeconds(running) - worked) / ((performance.now() - began) / 1_000);
  expect(share).toBeLessThan(0.3);
}
