import { describe, expect, it } from 'vitest';
import { InputError } from '../../src/errors.ts';
import { sampleMessages } from '../../src/idempotence/messages.ts';
import { SCHEDULE_CODES, type ScheduleCode } from '../../src/idempotence/plan/schedule.ts';
import type { ProofResult } from '../../src/idempotence/proof-result.ts';
import { proveIdempotence } from '../../src/idempotence/prove.ts';
import type { Subject } from '../../src/idempotence/subject.ts';
import { sleep, type Clock } from '../../src/clock.ts';
import { FakeClock } from '../fake-clock.ts';

/** A receiver in memory. Its effects outlive a kill; what it works on does not. */
class ModelReceiver implements Subject {
  readonly #clock: Clock;
  /** Whether a kill while a message is at work leaves a lock that stops the next start. */
  readonly #leavesLock: boolean;
  #effects: string[] = [];
  #atWork = 0;
  #isLocked = false;
  /** Counts kills. What was at work before one has no effect. */
  #life = 0;

  constructor(clock: Clock, { leavesLock = false } = {}) {
    this.#clock = clock;
    this.#leavesLock = leavesLock;
  }

  /** Needs the running receiver, as `curl -X POST …/reset` does. */
  readonly reset = async (): Promise<void> => {
    if (this.#isLocked) throw new InputError('The receiver ended before it listened', { hint: 'look' });
    this.#effects = [];
  };

  readonly kill = async (): Promise<void> => {
    this.#life++;
    if (this.#leavesLock && this.#atWork > 0) this.#isLocked = true;
    this.#atWork = 0;
  };

  readonly revive = async (): Promise<string | undefined> =>
    this.#isLocked ? 'The receiver ended before it listened' : undefined;

  readonly gone = (): string | undefined => undefined;

  readonly readState = async (): Promise<string> => this.#effects.join('\n');

  readonly send: Subject['send'] = async ({ messageId }) => {
    const life = this.#life;
    this.#atWork++;
    await sleep(this.#clock, 25);
    if (life !== this.#life) return { kind: 'none', error: 'reset', ms: 25 };
    this.#atWork--;
    if (!this.#effects.includes(messageId)) this.#effects.push(messageId);
    return { kind: 'taken', status: 200, ms: 25 };
  };
}

interface Proved {
  readonly results: readonly ProofResult[];
  /** What the progress was told, `shrinking` where a deviation was found. */
  readonly progress: readonly string[];
}

async function proved(
  subjectOf: (clock: Clock) => Subject,
  { codes, schedules }: { codes: readonly ScheduleCode[]; schedules: number },
): Promise<Proved> {
  const clock = new FakeClock();
  const results: ProofResult[] = [];
  const progress: string[] = [];
  const run = proveIdempotence({
    subject: subjectOf(clock),
    hasReset: true,
    messages: sampleMessages({ now: 0, seed: 1 }),
    codes,
    seed: 1,
    schedules,
    lateMs: 10_000,
    stateTimeoutMs: 10_000,
    skipped: new Map(),
    clock,
    signal: new AbortController().signal,
    onReference: () => {},
    onProgress: (done, total) => progress.push(`${done} of ${total}`),
    onDeviation: () => progress.push('shrinking'),
    onResult: (result) => results.push(result),
  });
  const ended = run.then(() => true);
  while (!(await Promise.race([ended, clock.advanceToNext(60_000).then(() => false)])));
  return { results, progress };
}

describe('proveIdempotence', () => {
  it('passes a receiver that is right, and tells how many schedules are done', async () => {
    const { results, progress } = await proved((clock) => new ModelReceiver(clock), {
      codes: SCHEDULE_CODES.filter((code) => code !== 'after-5xx'),
      schedules: 14,
    });
    expect(results.map(({ outcome }) => outcome)).toEqual(results.map(() => 'passed'));
    expect(results.length).toBe(SCHEDULE_CODES.length - 1);
    expect(progress).toEqual(Array.from({ length: 15 }, (_, done) => `${done} of 14`));
  });

  it('has a verdict on a receiver that a kill leaves unable to start, though then no reset works', async () => {
    const { results, progress } = await proved((clock) => new ModelReceiver(clock, { leavesLock: true }), {
      codes: ['killed'],
      schedules: 14,
    });
    expect(results).toMatchObject([
      { check: 'killed', outcome: 'failed', fault: { code: 'does-not-restart' } },
    ]);
    expect(results[0]?.counterexample?.requests.at(-1)).toMatchObject({ error: 'reset' });
    expect(progress.at(-1)).toBe('shrinking');
  });
});
