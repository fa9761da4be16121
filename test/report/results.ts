import type { ReportedResult, ReportedSummary } from '../../src/report/report.ts';

export function result(given: Partial<ReportedResult> = {}): ReportedResult {
  return {
    name: 'track "Signup"',
    origin: { file: 'in.ndjson', line: 3 },
    outcome: 'delivered',
    attempts: 1,
    ms: 12.4,
    ...given,
  };
}

export function summary(given: Partial<ReportedSummary> = {}): ReportedSummary {
  return {
    read: 1,
    delivered: 1,
    failed: 0,
    queued: 0,
    filtered: 0,
    invalid: 0,
    unsent: 0,
    skipped: 0,
    ms: 1_500,
    perSecond: 0.7,
    latencyMs: { p50: 12.4, p95: 12.4, p99: 12.4 },
    ...given,
  };
}
