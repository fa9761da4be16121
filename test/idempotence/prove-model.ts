import type { Clock } from '../../src/clock.ts';
import { sampleMessages } from '../../src/idempotence/messages.ts';
import type { ScheduleCode } from '../../src/idempotence/plan/schedule.ts';
import type { ProofResult } from '../../src/idempotence/proof-result.ts';
import { proveIdempotence } from '../../src/idempotence/prove.ts';
import type { ProofMessage, Subject } from '../../src/idempotence/subject.ts';
import { FakeClock } from '../fake-clock.ts';

interface Proved {
  readonly results: readonly ProofResult[];
  /** Progress lines, and `shrinking` for a deviation. */
  readonly progress: readonly string[];
}

/** Proves a model of a receiver with a fake clock, which never waits. */
export async function proved(
  subjectOf: (clock: Clock) => Subject,
  {
    codes,
    schedules,
    seed = 1,
    messages = sampleMessages({ now: 0, seed }),
  }: {
    readonly codes: readonly ScheduleCode[];
    readonly schedules: number;
    readonly seed?: number;
    readonly messages?: readonly ProofMessage[];
  },
): Promise<Proved> {
  const clock = new FakeClock();
  const results: ProofResult[] = [];
  const progress: string[] = [];
  const run = proveIdempotence({
    subject: subjectOf(clock),
    hasReset: true,
    isSigned: true,
    messages,
    codes,
    seed,
    schedules,
    lateMs: 10_000,
    stateTimeoutMs: 10_000,
    anyOrder: true,
    clock,
    signal: new AbortController().signal,
    onReference: () => {},
    onProgress: (done, total, code) => progress.push(`${done} of ${total}${code ? ` ${code}` : ''}`),
    onDeviation: () => progress.push('shrinking'),
    onResult: (result) => results.push(result),
  });
  const ended = run.then(() => true);
  ended.catch(() => {});
  while (!(await Promise.race([ended, clock.advanceToNext(60_000).then(() => false)])));
  return { results, progress };
}
