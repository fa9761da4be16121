import { expect, it } from 'vitest';
import { summaryLines } from '../../src/report/summary.ts';
import { summary } from './results.ts';

it('shows what happened in aligned lines', () => {
  const latencyMs = { p50: 3.14159, p95: 250.4, p99: 61_500 };
  const counts = { read: 12_345, delivered: 12_000, failed: 340, invalid: 5, skipped: 7 };
  expect(summaryLines(summary({ ...counts, ms: 83_000, perSecond: 148.7, latencyMs }))).toEqual([
    'read       12,345',
    'delivered  12,000',
    'failed        340',
    'invalid         5',
    'skipped         7',
    'in 1m 23s, 149 a second; latency p50 3.14ms, p95 250ms, p99 1m 2s',
  ]);
});

it('omits counts of zero, and the latency without deliveries', () => {
  const latencyMs = { p50: null, p95: null, p99: null };
  expect(summaryLines(summary({ delivered: 0, unsent: 1, perSecond: 0, latencyMs }))).toEqual([
    'read       1',
    'delivered  0',
    'unsent     1',
    'in 1.5s, 0 a second',
  ]);
});

it('reports how many skipped messages the earlier runs sent', () => {
  const resumed = { finished: false, delivered: 1_200, queued: 0 };
  expect(summaryLines(summary({ skipped: 1_207, resumed }))).toContain(
    'skipped    1,207 (1,200 delivered before)',
  );
});

it('reports how far an input was read that cannot be resumed, and the offsets that continue', () => {
  const counts = { read: 779, unreadFrom: 789, unsentFrom: 740 };
  expect(summaryLines(summary({ ...counts, unsent: 0 }))).toContain(
    'unread     after message 789: --offset 789 continues',
  );
  expect(summaryLines(summary({ ...counts, unsent: 49 }))).toContain(
    'unread     after message 789: --offset 789 continues (740 repeats what follows the first unsent one)',
  );
});
