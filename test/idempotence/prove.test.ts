import { describe, expect, it } from 'vitest';
import { InputError } from '../../src/errors.ts';
import { SCHEDULE_CODES } from '../../src/idempotence/plan/schedule.ts';
import type { Subject } from '../../src/idempotence/subject.ts';
import { sleep, type Clock } from '../../src/clock.ts';
import { proved } from './prove-model.ts';

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

interface Life {
  /** How many messages it got before this one. */
  readonly count: number;
  /** How often it got this one before. */
  readonly before: number;
  readonly clock: Clock;
  /** Has the effect of the message, once. */
  readonly work: () => void;
}

type Respond = (life: Life) => Promise<{ status: number }>;

/** A receiver that is right, and does what it is told in between. It cannot be killed. */
class ToldReceiver implements Subject {
  readonly #clock: Clock;
  readonly #respond: Respond;
  #effects = new Set<string>();
  readonly #sent = new Map<string, number>();
  #count = 0;
  /** The ids of all requests in their order. */
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
    const life = { count: this.#count++, before, clock: this.#clock, work };
    const { status } = await this.#respond(life);
    return { kind: status < 300 ? 'taken' : 'failing', status, ms: 5 };
  };
}

/** The requests of the reference run and its repetition. */
const LEARNED = 18;

const respondAtOnce: Respond = async ({ work, clock }) => {
  work();
  await sleep(clock, 5);
  return { status: 200 };
};

/** Works later, on the first message of the first schedule much later, both times that it comes. */
const respondFirst: Respond = async ({ count, clock, work }) => {
  const isSlow = count === LEARNED || count === LEARNED + 1;
  clock.after(isSlow ? 3_000 : 0, work);
  await sleep(clock, 5);
  return { status: 200 };
};

/** Has the effect of the first message at once, and that of others after the response. */
function busyReceiver(clock: Clock): Subject {
  let effects: string[] = [];
  return {
    reset: async () => void (effects = []),
    kill: undefined,
    revive: async () => undefined,
    gone: () => undefined,
    readState: async () => effects.join('\n'),
    send: async ({ messageId }) => {
      const own = effects;
      if (own.length === 0) own.push(messageId);
      else if (!own.includes(messageId)) clock.after(50, () => own.push(messageId));
      return { kind: 'taken', status: 200, ms: 0 };
    },
  };
}

/** The ids of all requests of a run. */
async function requestsOf(seed: number): Promise<readonly string[]> {
  let receiver: ToldReceiver | undefined;
  const codes = SCHEDULE_CODES.filter((code) => code !== 'killed');
  const subjectOf = (clock: Clock): Subject => (receiver = new ToldReceiver(clock, respondAtOnce));
  await proved(subjectOf, { codes, schedules: 30, seed });
  return receiver?.requests ?? [];
}

describe('proveIdempotence', () => {
  it('passes a receiver that is right, and tells how many schedules are done', async () => {
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

  it('sends the same requests in the same order for the same seed', async () => {
    const first = await requestsOf(3);
    expect(first.length).toBeGreaterThan(300);
    expect(await requestsOf(3)).toEqual(first);
    expect(await requestsOf(4)).not.toEqual(first);
  });

  it('gives a receiver the time it needs that works after it responds and is slow for once', async () => {
    const { results } = await proved((clock) => new ToldReceiver(clock, respondFirst), {
      codes: ['twice'],
      schedules: 2,
    });
    expect(results).toMatchObject([{ check: 'twice', outcome: 'passed' }]);
  });

  it('names work after the response also where one message alone does not show it', async () => {
    const { results } = await proved(busyReceiver, { codes: ['twice'], schedules: 1 });
    expect(results).toMatchObject([{ outcome: 'failed', fault: { code: 'works-after-response' } }]);
    expect(results[0]?.counterexample?.requests).toHaveLength(3);
  });

  it.each([
    {
      title: '1 s where there is only too much',
      change: (effects: readonly string[], id: string) => [...effects, id],
      atLeast: 1_000,
      below: 2_000,
    },
    {
      title: '4 s where something is missing',
      change: (effects: readonly string[], id: string) =>
        effects.includes(id) ? effects.filter((each) => each !== id) : [...effects, id],
      atLeast: 4_000,
      below: 5_000,
    },
  ])('waits before it calls a receiver wrong: $title', async ({ change, atLeast, below }) => {
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

  it('sends a message again for as long as the receiver is at work on the first request, slow for once', async () => {
    let atWork = 0;
    const respond: Respond = async ({ count, clock, work }) => {
      if (atWork > 0) return { status: 409 };
      atWork++;
      await sleep(clock, count === LEARNED ? 6_000 : 5);
      atWork--;
      work();
      return { status: 200 };
    };
    const { results } = await proved((clock) => new ToldReceiver(clock, respond), {
      codes: ['twice-at-once'],
      schedules: 2,
    });
    expect(results).toMatchObject([{ check: 'twice-at-once', outcome: 'passed' }]);
  });

  const AFTER_5XX = [
    {
      title: 'passes after-5xx when messages that got a 5xx get one again, and count once',
      fails: () => true,
      result: { outcome: 'passed', schedules: 3 },
    },
    {
      title: 'skips after-5xx and says why when no message gets a 5xx again',
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
    const { results } = await proved((clock) => new ToldReceiver(clock, respond), {
      codes: ['after-5xx'],
      schedules: 2,
    });
    expect(results).toMatchObject([{ check: 'after-5xx', ...result }]);
  });
});
