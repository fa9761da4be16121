import { describe, expect, it } from 'vitest';
import {
  answersOk,
  closesIdle,
  diesWhenReused,
  endlessBody,
  hugeBody,
  neverAnswers,
  type HostileReceiver,
} from '../hostile-receivers.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { started } from '../transport/sending.ts';
import { hooks } from '../cli/run-in-process.ts';
import { messageIdsAt, messagesFile, peakMemory, replay as replayBy, type Replayed } from './delivering.ts';
import { BUFFERS_BYTES, MEMORY_MB, ONCE, PATIENT } from './hostile-limits.ts';

/** Runs in this process. Only a test that measures memory needs a process of its own. */
function replay(file: string, url: string, flags?: readonly string[]): Promise<Replayed> {
  return replayBy(file, url, flags, { run: hooks, env: { HOOKS_DATA_DIR: temporaryFolder() } });
}

describe('hooks replay', () => {
  it.each(['1', '32'])(
    'delivers each of 1,000 messages once, at the first attempt, to a receiver that closes every idle connection (--concurrency %s)',
    async (concurrency) => {
      const hostile = await started(closesIdle());
      const { code, lines, summary } = await replay(await messagesFile(1_000), hostile.url, [
        '--concurrency',
        concurrency,
      ]);
      expect(code).toBe(0);
      expect(summary).toMatchObject({ read: 1_000, delivered: 1_000, failed: 0 });
      expect(lines.filter(({ attempts }) => attempts.length !== 1)).toEqual([]);
      const arrived = messageIdsAt(hostile);
      expect([arrived.length, new Set(arrived).size]).toEqual([1_000, 1_000]);
    },
  );

  it('repeats a request that failed with an idle connection, within the same attempt', async () => {
    const hostile = await started(diesWhenReused());
    const { code, lines } = await replay(await messagesFile(20), hostile.url, ['--concurrency', '1']);
    expect(code).toBe(0);
    expect(lines.filter(({ attempts }) => attempts.length !== 1)).toEqual([]);
    expect(lines.map(({ attempts }) => attempts[0]?.reconnected ?? false)).toEqual(
      lines.map((_, index) => index > 0),
    );
  });

  it('fails messages without a response, and keeps them in a file that replay reads', async () => {
    const hostile = await started(neverAnswers());
    const file = await messagesFile(40);
    const failed = `${file}.failed`;
    // All at once, with enough time for each to arrive.
    const flags = [...ONCE, '--concurrency', '40', '--timeout', '4s', '--failed', failed];
    const { code, lines, summary } = await replay(file, hostile.url, flags);
    expect(code).toBe(1);
    expect(summary).toMatchObject({ read: 40, delivered: 0, failed: 40 });
    expect(lines.filter(({ error }) => error !== 'timeout')).toEqual([]);
    expect(new Set(messageIdsAt(hostile)).size).toBe(40);
    const good = await started(answersOk());
    expect((await replay(failed, good.url)).summary).toMatchObject({ read: 40, delivered: 40 });
    expect(new Set(messageIdsAt(good))).toEqual(new Set(messageIdsAt(hostile)));
  });

  it.each<[string, () => Promise<HostileReceiver>, 'delivered' | 'failed']>([
    ['an endless body after each 200', () => endlessBody(200), 'delivered'],
    ['an endless body after each 500', () => endlessBody(500), 'failed'],
    ['300 MB of gzip each time', () => hugeBody(), 'delivered'],
  ])('reads little of %s, in little memory', async (_what, receiverOf, outcome) => {
    const hostile = await started(receiverOf());
    const peak = await peakMemory();
    // Slowly, so that a response that is not cut off has time to arrive.
    const flags = [...ONCE, ...PATIENT, '--rate', '20/s'];
    const { summary } = await replayBy(await messagesFile(20), hostile.url, flags, { env: peak.env });
    expect(summary[outcome]).toBe(20);
    expect(hostile.bytesWritten).toBeLessThan(20 * BUFFERS_BYTES);
    expect(await peak.mb()).toBeLessThan(MEMORY_MB);
  });
});
