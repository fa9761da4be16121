import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { answers, answersOk, receiver } from '../hostile-receivers.ts';
import { started } from '../transport/sending.ts';
import {
  closedPort,
  messageIdsAt,
  replay,
  send,
  SEND,
  type AttemptLine,
  type ResultLine,
} from './delivering.ts';
import { hooks, startHooks } from '../cli/run-in-process.ts';
import { nextJson } from './running-command.ts';
import { jsonLines } from './receiving.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { until } from '../until.ts';

const WINDOW_MS = 3_000;

describe('a delivery that fails', () => {
  it('is retried in growing intervals until its window ends, with a line for each retry', async () => {
    const { url, requests } = await started(answers(503));
    const flags = ['--url', url, '--retry-for', '3s'];
    const [{ code, line, stderr }, text, quiet] = await Promise.all([
      send([url], ['--retry-for', '3s'], { run: hooks }),
      hooks([...SEND, ...flags]),
      hooks([...SEND, ...flags, '-q']),
    ]);

    expect(code).toBe(1);
    expect(line).toMatchObject({ outcome: 'failed', status: 503, error: 'http-5xx', reason: 'exhausted' });
    const { attempts } = line;
    expect(attempts.length).toBeGreaterThanOrEqual(2);
    const waits = waitsBetween(attempts);
    // Equal jitter: half of 1 s, 2 s … is fixed. The times are cut to whole milliseconds.
    waits.forEach((wait, index) => expect(wait).toBeGreaterThanOrEqual(500 * 2 ** index - 2));
    expect(startOf(attempts.at(-1)) - startOf(attempts[0])).toBeLessThanOrEqual(WINDOW_MS);
    expect(retriesIn(stderr)).toHaveLength(attempts.length - 1);

    expect(text.code).toBe(1);
    const [, rounds] =
      /Delivery failed after (\d+) rounds in \d\S*s: 503 \D+ from http:\S+$/m.exec(text.stdout) ?? [];
    expect(retriesIn(text.stderr)).toHaveLength(Number(rounds) - 1);
    for (const retry of retriesIn(text.stderr)) expect(retry).toMatch(/503 .* round \d in \S+s/);

    expect([quiet.code, retriesIn(quiet.stderr)]).toEqual([1, []]);
    expect(quiet.stdout).toContain('Delivery failed after');
    expect(requests.length).toBeGreaterThanOrEqual(attempts.length + Number(rounds) + 2);
  });

  it('is delivered when its receiver recovers', async () => {
    const listen = startHooks(['listen', '--port', '0', '-o', 'json', '--respond', '503x2,200']);
    const ready = await nextJson<{ url: string }>(listen);
    const { code, line, stderr } = await send([ready.url], [], { run: hooks });
    const { stdout } = await listen.stop();
    expect(code).toBe(0);
    expect(line).toMatchObject({ outcome: 'delivered', status: 200 });
    expect(line.attempts.map(({ status }) => status)).toEqual([503, 503, 200]);
    expect(retriesIn(stderr)).toHaveLength(2);
    const received = jsonLines(stdout).slice(1);
    expect(received.map(({ status }) => status)).toEqual([503, 503, 200]);
    expect(new Set(received.map(({ bytes }) => bytes)).size).toBe(1);
  });

  it('is delivered when its receiver starts', async () => {
    const url = await closedPort();
    const running = startHooks([...SEND, '--url', url, '-o', 'json']);
    await until(() => running.stderr() !== '', 'the first failure');
    await started(answersOk({ port: Number(new URL(url).port) }));
    const { code, stdout, stderr } = await running.exited;
    expect(code).toBe(0);
    const { outcome, attempts } = JSON.parse(stdout) as ResultLine;
    // There may be retries before the receiver listens.
    const [last, ...refused] = attempts.toReversed();
    expect([outcome, last?.status]).toEqual(['delivered', 200]);
    expect(new Set(refused.map(({ error }) => error))).toEqual(new Set(['refused']));
    expect(retriesIn(stderr)).toHaveLength(refused.length);
  });

  it('delays the later messages of its user only', async () => {
    let isFirst = true;
    const hostile = await started(
      receiver((socket, { body }) => {
        const status = isFirst && body.includes('"m0"') ? 503 : 200;
        if (status === 503) isFirst = false;
        // Long enough for all messages of the other user.
        const wait = status === 503 ? 'Retry-After: 3\r\n' : '';
        socket.write(`HTTP/1.1 ${status} Whatever\r\n${wait}Content-Length: 0\r\n\r\n`);
      }),
    );
    const users = ['late', 'late', 'other', 'late', 'other'];
    const lines = users.map((userId, index) =>
      JSON.stringify({ type: 'track', event: 'e', userId, messageId: `m${index}` }),
    );
    const file = join(temporaryFolder({ 'messages.ndjson': lines.join('\n') }), 'messages.ndjson');
    const { code, summary } = await replay(file, hostile.url, [], { run: hooks });
    expect([code, summary.delivered]).toEqual([0, 5]);
    const arrived = messageIdsAt(hostile);
    expect(arrived.filter((id) => ['m0', 'm1', 'm3'].includes(id))).toEqual(['m0', 'm0', 'm1', 'm3']);
    expect(arrived.indexOf('m4')).toBeLessThan(arrived.lastIndexOf('m0'));
  });
});

function startOf(attempt: AttemptLine | undefined): number {
  return Date.parse(attempt?.at ?? '');
}

/** Returns the times from the end of each attempt to the start of the next. */
function waitsBetween(attempts: readonly AttemptLine[]): number[] {
  return attempts.slice(1).map((attempt, index) => {
    const before = attempts[index];
    return startOf(attempt) - startOf(before) - (before?.ms ?? 0);
  });
}

function retriesIn(stderr: string): string[] {
  return stderr.split('\n').filter((line) => line.startsWith('retry: '));
}
