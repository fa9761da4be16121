import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { planSchedules, type PlanOptions } from '../../src/idempotence/plan/plan-schedules.ts';
import { scheduledMessages, SCHEDULE_CODES, type Schedule } from '../../src/idempotence/plan/schedule.ts';

const CODES = SCHEDULE_CODES.filter((code) => code !== 'once' && code !== 'after-5xx');
const USERS = ['a', 'a', 'b', 'a', 'b', 'c'];
const messages = USERS.map((user) => ({ orderKeys: [user], isEffective: true }));

function planned(options: Partial<PlanOptions> = {}): readonly Schedule[] {
  return planSchedules({
    seed: 7,
    schedules: 50,
    codes: CODES,
    messages,
    lateMs: 10_000,
    burst: 6,
    ...options,
  });
}

function sentOf({ waves }: Schedule): readonly number[] {
  return waves.flatMap((wave) => wave.messages);
}

function inOrder(places: readonly number[]): readonly number[] {
  return places.toSorted((one, other) => one - other);
}

describe('planSchedules', () => {
  it('plans the same schedules for the same seed, and different ones for another seed', () => {
    expect(planned()).toEqual(planned());
    expect(planned({ seed: 8 })).not.toEqual(planned());
    expect(planned()).toHaveLength(50);
  });

  it('plans the same schedules with every version of Node', () => {
    // The hash with Node 20, 22 and 24.
    expect(createHash('sha256').update(JSON.stringify(planned())).digest('hex')).toBe(
      '93d2c153791cc5aeff5be5125c8cf81f2424299ce1feb586a884c74f33940984',
    );
  });

  it.each(['killed', 'late'] as const)(
    'chooses the same message in the first %s if a busy machine shows fewer effects',
    (code) => {
      const firstOf = (options: Partial<PlanOptions> = {}) => planned({ codes: [code], ...options })[0];
      const [chosen] = firstOf()?.waves[0]?.messages ?? [];
      const fewer = messages.map((message, place) => ({
        ...message,
        isEffective: place === chosen || place === 1,
      }));
      expect(firstOf({ messages: fewer })).toEqual(firstOf());
    },
  );

  it.each(CODES)('plans the same schedules of %s if no other code is chosen', (code) => {
    const ofAll = planned().filter((schedule) => schedule.code === code);
    expect(planned({ codes: [code] }).slice(0, ofAll.length)).toEqual(ofAll);
  });

  it('has every code among the first 14, a second `late` at the end of 50, and pauses only in `late`', () => {
    expect(new Set(planned({ schedules: 14 }).map(({ code }) => code))).toEqual(new Set(CODES));
    expect(planned().at(-1)?.code).toBe('late');
    expect(planned().filter(({ code }) => code === 'late')).toHaveLength(2);
    const paused = planned().filter(({ waves }) => waves.some(({ pauseMs }) => pauseMs === 10_000));
    expect(new Set(paused.map(({ code }) => code))).toEqual(new Set(['late']));
  });

  it('starts with one of each code, `late` among the first ten, and first kills after the response', () => {
    const codes = planned().map(({ code }) => code);
    expect(codes.slice(0, 5)).toEqual(['twice', 'twice-at-once', 'answer-lost', 'interleaved', 'shuffled']);
    expect(new Set(codes.slice(0, 10))).toEqual(new Set(CODES));
    const [again, once] = planned({ codes: ['killed'] });
    const kill = { when: 'after' };
    expect(again?.waves).toMatchObject([{ kill }, {}]);
    expect(once?.waves).toMatchObject([{ kill }]);
  });

  it.each(['twice', 'answer-lost'] as const)(
    'sends each message twice in %s, with the first requests in order',
    (code) => {
      for (const schedule of planned({ codes: [code], schedules: 20 })) {
        const sent = sentOf(schedule);
        expect(sent).toHaveLength(2 * messages.length);
        expect(scheduledMessages(schedule)).toEqual([...messages.keys()]);
      }
    },
  );

  it('cuts only the first of two requests', () => {
    for (const { waves } of planned({ codes: ['answer-lost'], schedules: 20 })) {
      const seen = new Set<number>();
      for (const wave of waves) {
        const [message = -1] = wave.messages;
        expect(wave.cut).toBe(seen.has(message) ? undefined : true);
        seen.add(message);
      }
    }
  });

  it('keeps the order of each user when interleaving, and sends no two messages of one user at once', () => {
    for (const schedule of planned({ codes: ['interleaved'], schedules: 20 })) {
      const sent = sentOf(schedule);
      expect(inOrder(sent)).toEqual([...messages.keys()]);
      for (const user of new Set(USERS)) {
        const ofUser = sent.filter((place) => USERS[place] === user);
        expect(ofUser).toEqual(inOrder(ofUser));
      }
      for (const wave of schedule.waves) {
        const users = wave.messages.map((place) => USERS[place]);
        expect(new Set(users).size).toBe(users.length);
      }
    }
  });

  it('sends effective messages in bursts without a gap, except in the first and every third schedule', () => {
    const some = messages.map((message, place) => ({ ...message, isEffective: place > 3 }));
    const all = planned({ codes: ['twice-at-once'], messages: some, schedules: 5 });
    expect(all.map(({ waves }) => waves.length)).toEqual([6, 2, 6, 2, 2]);
    const bursts = all.filter(({ waves }) => waves.length === 2).flatMap(({ waves }) => waves);
    expect(bursts.map((wave) => wave.messages.length)).toEqual([6, 6, 6, 6, 6, 6]);
    expect(bursts.filter(({ gapShare }) => gapShare !== undefined)).toEqual([]);
  });

  it('shuffles first into reverse order, which swaps every two messages', () => {
    const [first, second] = planned({ codes: ['shuffled'] }).map(sentOf);
    expect(first).toEqual([5, 4, 3, 2, 1, 0]);
    expect(inOrder(second ?? [])).toEqual([...messages.keys()]);
  });

  it('spreads the kills at one message over its whole latency', () => {
    const one = messages.slice(0, 1);
    const shares = planned({ codes: ['killed'], messages: one, schedules: 40 })
      .flatMap(({ waves }) => waves.flatMap(({ kill }) => kill ?? []))
      .flatMap((kill) => (kill.when === 'during' ? kill.share : []));
    for (let from = 0; from < 1.2; from += 0.1) {
      expect(
        shares.some((share) => share >= from && share < from + 0.1),
        `from ${from}`,
      ).toBe(true);
    }
  });

  it('kills only at messages that have an effect', () => {
    const some = messages.map((message, place) => ({ ...message, isEffective: place === 2 }));
    const killed = planned({ codes: ['killed'], messages: some, schedules: 20 })
      .flatMap(({ waves }) => waves)
      .filter(({ kill }) => kill !== undefined);
    expect(new Set(killed.flatMap((wave) => wave.messages))).toEqual(new Set([2]));
  });

  it.each([1, 3, 50])('plans %i schedules of one code', (schedules) => {
    for (const code of CODES.filter((each) => each !== 'late')) {
      expect(planned({ codes: [code], schedules })).toHaveLength(schedules);
    }
  });
});
