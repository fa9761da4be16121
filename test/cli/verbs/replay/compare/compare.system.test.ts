// Takes half a minute: 40,000 requests between processes. compare.test.ts compares small inputs in one process.
import { describe, expect, it } from 'vitest';
import { argv } from '../../../../end-to-end/argv.ts';
import { hooks, startHooks } from '../../../../end-to-end/hooks.ts';
import { jsonLines, track } from '../../../../end-to-end/receiving.ts';
import { temporaryFolder } from '../../../../temporary-folder.ts';
import { changedShop, receiver, shop } from './compared-receivers.ts';

const MESSAGES = 10_000;
const USERS = 500;

function folderWithMessages(count: number): string {
  const lines = Array.from({ length: count }, (_, index) => {
    return `${track(index, { userId: `u${index % USERS}`, event: index % 100 === 35 ? 'Refund' : 'Order' })}\n`;
  });
  return temporaryFolder({ 'day.ndjson': lines.join('') });
}

const LIMIT = { timeoutMs: 150_000 };

describe('hooks replay --compare with 10,000 messages', () => {
  it('names seven planted differences, and no other', { timeout: 180_000 }, async () => {
    const [old, next] = [await receiver(shop(0)), await receiver(changedShop(70_000))];
    const cwd = folderWithMessages(MESSAGES);
    const args = argv`replay day.ndjson --url ${next.url} --compare ${old.url} -o json`;
    const { code, stdout, stderr } = await hooks(args, { cwd, ...LIMIT });
    expect(code, stderr).toBe(1);
    const lines = jsonLines(stdout);
    expect(lines.map(({ difference, path, from, to }) => [difference, path, from, to].slice(0, 4))).toEqual(
      [
        ['status', undefined, '200', '500'],
        ['connection', undefined, 'response', 'reset'],
        ['body', '$.user.plan', 'text', 'missing'],
        ['body', '$.total', 'number', 'text'],
        ['body', '$.items', 'order', 'other order'],
        ['header', 'cache-control', 'text', 'text'],
        ['latency', undefined, expect.any(Number), expect.any(Number)],
        [undefined, undefined, undefined, undefined],
      ].toSorted((one, other) => rank(one) - rank(other)),
    );
    expect(lines.at(-1)).toMatchObject({ summary: { compared: MESSAGES, differences: 7, invalid: 0 } });
    // The first 20 messages are sent twice, and a few with differences and slow responses again.
    expect(old.received.length).toBeGreaterThan(MESSAGES + 20);
    expect(old.received.length).toBeLessThanOrEqual(MESSAGES + 20 + 50 + 15);
  });

  it('finds nothing in equal receivers with random ids and clocks', { timeout: 180_000 }, async () => {
    const [old, next] = [await receiver(shop(0)), await receiver(shop(70_000))];
    const cwd = folderWithMessages(MESSAGES);
    const args = argv`replay day.ndjson --url ${next.url} --compare ${old.url}`;
    const { code, stdout, stderr } = await hooks(args, { cwd, ...LIMIT });
    expect(stdout + stderr).toContain('10,000 messages compared, no differences');
    expect(code).toBe(0);
    for (const path of ['$.id', '$.count', '$.items[*].id', '$.late.note', 'header x-request-id']) {
      expect(stdout).toContain(path);
    }
  });

  it('prints the comparison so far after Ctrl-C', async () => {
    const [old, next] = [await receiver(shop(0)), await receiver(changedShop(70_000))];
    const cwd = folderWithMessages(MESSAGES);
    const args = argv`replay day.ndjson --url ${next.url} --compare ${old.url} --rate 500/s`;
    const running = startHooks(args, { cwd });
    await expect.poll(() => next.received.length, { timeout: 30_000 }).toBeGreaterThan(60);
    const { code, stdout } = await running.stop('SIGINT');
    expect(code).toBe(130);
    expect(stdout).toMatch(
      /✗ status: 200 → 500 in 1 of \d+ messages, first day\.ndjson:32 \(track "Order"\)/,
    );
    expect(stdout).toMatch(/\d+ messages compared, \d+ kinds of differences, in .*, interrupted/);
  });
});

const ORDER = ['status', 'connection', 'header', 'body', 'latency'];

function rank([what]: readonly unknown[]): number {
  return what === undefined ? ORDER.length : ORDER.findIndex((each) => each === what);
}
