// Takes minutes: it replays large files.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { startHooks } from './hooks.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { IS_LONG } from '../torture.ts';

const MESSAGES = IS_LONG ? 1_000_000 : 120_000;
/** Share of the file. Growth before it is read counts as warming up. */
const EARLY_SHARE = 0.5;
/** Growth after that, in MB. Without a leak 16 to 18 were measured; keeping each message would add 60. */
const MOST_GROWTH = 24;
const LONGEST_MS = 900_000;
const MEGABYTE = 1024 * 1024;

describe(`a replay of ${MESSAGES} messages`, () => {
  let folder: string;
  let file: string;
  beforeAll(async () => {
    folder = temporaryFolder();
    file = join(folder, 'messages.ndjson');
    await pipeline(Readable.from(chunks()), createWriteStream(file));
  }, LONGEST_MS);

  it(
    'delivers each in less than 150 MB without a leak, and reports their latency',
    async () => {
      const receiver = await leanReceiver();
      const args = ['replay', file, '--url', receiver.url, '--secret', 's3cret', '-o', 'json', '-q'];
      const running = startHooks(args, { timeoutMs: LONGEST_MS });
      const memory = watchMemory(running.child.pid ?? 0, EARLY_SHARE * statSync(file).size);
      const { code, stdout } = await running.exited;
      expect(code).toBe(0);
      const { summary } = JSON.parse(stdout.trim()) as { summary: Record<string, unknown> };
      expect(summary).toMatchObject({ read: MESSAGES, delivered: MESSAGES, failed: 0, unsent: 0 });
      const { p50, p95, p99 } = summary['latencyMs'] as Record<'p50' | 'p95' | 'p99', number>;
      expect(p50).toBeGreaterThan(0);
      expect(p95).toBeGreaterThanOrEqual(p50);
      expect(p99).toBeGreaterThanOrEqual(p95);
      expect(await receiver.end()).toBe(MESSAGES);
      const { peak, early } = memory.end();
      expect(early).toBeGreaterThan(20 * MEGABYTE);
      expect(peak).toBeLessThan(150 * MEGABYTE);
      if (!IS_LONG) expect(peak - early).toBeLessThan(MOST_GROWTH * MEGABYTE);
    },
    LONGEST_MS,
  );
});

/** Yields distinct messages of about 1 KB by ten thousand users, in chunks of two thousand. */
function* chunks(): Generator<string> {
  const note = 'x'.repeat(760);
  for (let first = 0; first < MESSAGES; first += 2_000) {
    yield Array.from({ length: 2_000 }, (_, index) => line(first + index, note)).join('');
  }
}

function line(number: number, note: string): string {
  const message = {
    type: 'track',
    userId: `user-${number % 10_000}`,
    event: 'Order Completed',
    messageId: `message-${number}`,
    properties: { orderId: number, total: 27.5, note },
    timestamp: '2026-11-20T21:10:05.123Z',
  };
  return `${JSON.stringify(message)}\n`;
}

/** Starts a receiver in a process of its own. */
async function leanReceiver() {
  const script = fileURLToPath(new URL('../bench/lean-receiver.js', import.meta.url));
  const child = spawn(process.execPath, [script], {
    stdio: ['pipe', 'pipe', 'inherit'],
    timeout: LONGEST_MS,
  });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (part: string) => (output += part));
  await once(child.stdout, 'data');
  return {
    url: `http://127.0.0.1:${output.trim()}/webhook`,
    /** Ends the receiver. Returns the number of requests. */
    end: async () => {
      child.stdin.end();
      await once(child, 'close');
      return Number(output.trim().split('\n').at(-1));
    },
  };
}

/** Watches the peak memory of a process (VmHWM of the kernel) until it ends, and when it has read `earlyBytes`. */
function watchMemory(pid: number, earlyBytes: number) {
  let [peak, early] = [0, 0];
  const look = (): void => {
    try {
      const status = readFileSync(`/proc/${pid}/status`, 'utf8');
      peak = Math.max(peak, Number(/^VmHWM:\s+(\d+) kB/m.exec(status)?.[1] ?? 0) * 1024);
      const read = Number(/^rchar: (\d+)$/m.exec(readFileSync(`/proc/${pid}/io`, 'utf8'))?.[1] ?? 0);
      if (read < earlyBytes) early = peak;
    } catch {
      clearInterval(timer);
    }
  };
  const timer = setInterval(look, 200);
  return {
    end: () => {
      clearInterval(timer);
      return { peak, early };
    },
  };
}
