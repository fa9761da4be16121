import { describe, expect, it } from 'vitest';
import { InputError } from '../../src/errors.ts';
import { SCHEDULE_CODES, type ScheduleCode } from '../../src/idempotence/plan/schedule.ts';
import type { ProofResult } from '../../src/idempotence/proof-result.ts';
import type { Subject } from '../../src/idempotence/subject.ts';
import { sleep, type Clock } from '../../src/clock.ts';
import { proved } from './prove-model.ts';

/** A receiver in memory. Its effects survive a kill; unfinished work does not. */
class ModelReceiver implements Subject {
  readonly #clock: Clock;
  /** Whether a kill during work leaves a lock that prevents the next start. */
  readonly #leavesLock: boolean;
  #effects: string[] = [];
  #atWork = 0;
  #isLocked = false;
  /** Number of kills. Work from before a kill has no effect. */
  #life = 0;

  constructor(clock: Clock, { leavesLock = false } = {}) {
    this.#clock = clock;
    this.#leavesLock = leavesLock;
  }

  /** Works only while the receiver runs, like `curl -X POST …/reset`. */
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

interface RequestInfo {
  /** Number of earlier requests. */
  readonly count: number;
  /** Number of earlier requests with this message. */
  readonly before: number;
  readonly clock: Clock;
  /** Applies the effect of the message, once. */
  readonly work: () => void;
}

type Respond = (info: RequestInfo) => Promise<{ status: number }>;

/** A correct receiver that cannot be killed, with a given behavior per request. */
class ToldReceiver implements Subject {
  readonly #clock: Clock;
  readonly #respond: Respond;
  #effects = new Set<string>();
  readonly #sent = new Map<string, number>();
  #count = 0;
  /** Ids of all requests in order. */
  readonly requests: string[] = [];
  readonly kill = undefined;

  constructor(clock: Clock, respond: Respond) {
    this.#clock = clock;
    this.#respond = respond;
  }

  readonly reset = async (): Promise<void> => {
    this.#effects = new Set();
    this.#sent.clear();
  };

  readonly revive = async (): Promise<undefined> => undefined;
  readonly gone = (): undefined => undefined;
  readonly readState = async (): Promise<string> => [...this.#effects].join('\n');

  readonly send: Subject['send'] = async ({ messageId }) => {
    const before = this.#sent.get(messageId) ?? 0;
    this.#sent.set(messageId, before + 1);
    this.requests.push(messageId);
    const effects = this.#effects;
    const work = (): void => void effects.add(messageId);
    const { status } = await this.#respond({ count: this.#count++, before, clock: this.#clock, work });
    return { kind: status < 300 ? 'taken' : 'failing', status, ms: 5 };
  };
}

/** Number of requests of the reference run and its repetition. */
const LEARNED = 18;

const respondAtOnce: Respond = async ({ work, clock }) => {
  work();
  await sleep(clock, 5);
  return { status: 200 };
};

/** Works after the response; 3 s later for both requests of the first message of the first schedule. */
const respondFirst: Respond = async ({ count, clock, work }) => {
  const isSlow = count === LEARNED || count === LEARNED + 1;
  clock.after(isSlow ? 3_000 : 0, work);
  await sleep(clock, 5);
  return { status: 200 };
};

/** Ids of all requests of a run. */
async function requestsOf(seed: number): Promise<readonly string[]> {
  let receiver: ToldReceiver | undefined;
  const codes = SCHEDULE_CODES.filter((code) => code !== 'killed');
  const subjectOf = (clock: Clock): Subject => (receiver = new ToldReceiver(clock, respondAtOnce));
  await proved(subjectOf, { codes, schedules: 30, seed });
  return receiver?.requests ?? [];
}

async function resultsOf(respond: Respond, code: ScheduleCode): Promise<readonly ProofResult[]> {
  const subjectOf = (clock: Clock): Subject => new ToldReceiver(clock, respond);
  return (await proved(subjectOf, { codes: [code], schedules: 2 })).results;
}

describe('proveIdempotence', () => {
  it('passes a correct receiver, and reports the progress', async () => {
    const { results, progress } = await proved((clock) => new ModelReceiver(clock), {
      codes: SCHEDULE_CODES.filter((code) => code !== 'after-5xx'),
      schedules: 14,
    });
    expect(results.map(({ outcome }) => outcome)).toEqual(results.map(() => 'passed'));
    expect(results.length).toBe(SCHEDULE_CODES.length - 1);
    expect(progress.map((line) => line.replace(/ [a-z-]+$/, ''))).toEqual(
      Array.from({ length: 15 }, (_, done) => `${done} of 14`),
    );
    expect([progress[0], progress.at(-1)]).toEqual(['0 of 14 twice', '14 of 14']);
  });

  it('names a receiver that cannot start after a kill, although its reset then fails too', async () => {
    const { results, progress } = await proved((clock) => new ModelReceiver(clock, { leavesLock: true }), {
      codes: ['killed'],
      schedules: 14,
    });
    expect(results).toMatchObject([
      { check: 'killed', outcome: 'failed', mistake: { code: 'does-not-restart' } },
    ]);
    expect(results[0]?.counterexample?.requests.at(-1)).toMatchObject({ error: 'reset' });
    expect(progress.at(-1)).toBe('shrinking');
  });

  it('sends the same requests in the same order for the same seed', async () => {
    const first = await requestsOf(3);
    expect(first.length).toBeGreaterThan(300);
    expect(await requestsOf(3)).toEqual(first);
    expect(await requestsOf(4)).not.toEqual(first);
  });

  it('waits for a receiver that works after its response and is slow once', async () => {
    const results = await resultsOf(respondFirst, 'twice');
    expect(results).toMatchObject([{ check: 'twice', outcome: 'passed' }]);
  });

  it.each([
    {
      title: '1 s if the state only has too much',
      change: (effects: readonly string[], id: string) => [...effects, id],
      atLeast: 1_000,
      below: 2_000,
    },
    {
      title: '4 s if something is missing',
      change: (effects: readonly string[], id: string) =>
        effects.includes(id) ? effects.filter((each) => each !== id) : [...effects, id],
      atLeast: 4_000,
      below: 5_000,
    },
  ])('waits before a verdict: $title', async ({ change, atLeast, below }) => {
    let effects: readonly string[] = [];
    const subject: Subject = {
      reset: async () => void (effects = []),
      kill: undefined,
      revive: async () => undefined,
      gone: () => undefined,
      readState: async () => effects.join('\n'),
      send: async ({ messageId }) => {
        effects = change(effects, messageId);
        return { kind: 'taken', status: 200, ms: 0 };
      },
    };
    const { results } = await proved(() => subject, { codes: ['twice'], schedules: 1 });
    expect(results).toMatchObject([{ check: 'twice', outcome: 'failed' }]);
    expect(results[0]?.ms).toBeGreaterThanOrEqual(atLeast);
    expect(results[0]?.ms).toBeLessThan(below);
  });

  it('retries a message while the receiver is still working on the first request', async () => {
    let atWork = 0;
    const respond: Respond = async ({ count, clock, work }) => {
      if (atWork > 0) return { status: 409 };
      atWork++;
      await sleep(clock, count === LEARNED ? 6_000 : 5);
      atWork--;
      work();
      return { status: 200 };
    };
    const results = await resultsOf(respond, 'twice-at-once');
    expect(results).toMatchObject([{ check: 'twice-at-once', outcome: 'passed' }]);
  });

  const AFTER_5XX = [
    {
      title: 'passes after-5xx if messages that got a 5xx get one again, and count once',
      fails: () => true,
      result: { outcome: 'passed', schedules: 3 },
    },
    {
      title: 'skips after-5xx with a reason if no message gets a 5xx again',
      fails: (count: number) => count < 2,
      result: { outcome: 'skipped', reason: expect.stringContaining('not to the same message again') },
    },
  ] as const;

  it.each(AFTER_5XX)('$title', async ({ fails, result }) => {
    const respond: Respond = async ({ count, before, clock, work }) => {
      await sleep(clock, 5);
      if (before === 0 && fails(count)) return { status: 500 };
      work();
      return { status: 200 };
    };
    const results = await resultsOf(respond, 'after-5xx');
    expect(results).toMatchObject([{ check: 'after-5xx', ...result }]);
  });
});
