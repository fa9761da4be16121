import { describe, expect, it } from 'vitest';
import { referenceWaves } from '../../src/idempotence/plan/plan-schedules.ts';
import { scheduledMessages, type Schedule } from '../../src/idempotence/plan/schedule.ts';
import { shrink } from '../../src/idempotence/plan/shrink.ts';

function scheduleOf(sent: readonly number[]): Schedule {
  return { code: 'twice', number: 3, waves: referenceWaves(sent) };
}

function sentOf({ waves }: Schedule): readonly number[] {
  return waves.flatMap((wave) => wave.messages);
}

/** Shrinks a schedule that fails when `isWrong` says so; returns what is left and how many runs it took. */
async function shrunk(
  sent: readonly number[],
  isWrong: (sent: readonly number[]) => boolean,
  likely: readonly (readonly number[])[] = [],
): Promise<{ readonly left: readonly number[]; readonly runs: number }> {
  let runs = 0;
  const { schedule } = await shrink(
    { schedule: scheduleOf(sent), seen: true },
    {
      run: async (smaller) => {
        runs++;
        return isWrong(sentOf(smaller)) ? true : undefined;
      },
      likely,
      hasTime: () => true,
    },
  );
  return { left: sentOf(schedule), runs };
}

function comesTwice(sent: readonly number[]): boolean {
  return sent.filter((each) => each === 5).length === 2;
}

/** Whether 6 comes between two of 2. */
function comesBetween(sent: readonly number[]): boolean {
  const [first, last] = [sent.indexOf(2), sent.lastIndexOf(2)];
  return first !== last && sent.slice(first, last).includes(6);
}

function endsWith0(sent: readonly number[]): boolean {
  return sent.at(-1) === 0 && sent.includes(5);
}

/** Shrinks a schedule that fails however small it is. */
async function shrunkWaves(waves: Schedule['waves']): Promise<Schedule['waves']> {
  const whole = { schedule: { code: 'answer-lost', number: 2, waves } as const, seen: true };
  const { schedule } = await shrink(whole, { run: async () => true, likely: [], hasTime: () => true });
  return schedule.waves;
}

const TWICE = [0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6];

describe('shrink', () => {
  it('finds the one message that fails alone, first among the likely ones', async () => {
    expect(await shrunk(TWICE, comesTwice, [[1], [5]])).toEqual({ left: [5, 5], runs: 2 });
    expect((await shrunk(TWICE, comesTwice)).left).toEqual([5, 5]);
  });

  it('finds three requests of two messages, whatever was likely', async () => {
    const all = [0, 1, 2, 3, 4, 5, 6, 6, 5, 4, 3, 2, 1, 0];
    expect((await shrunk(all, comesBetween, [[2], [6], [0, 1]])).left).toEqual([2, 6, 2]);
  });

  it('leaves a schedule as it is that cannot be made smaller', async () => {
    expect(await shrunk([4, 4], () => true)).toEqual({ left: [4, 4], runs: 0 });
    expect((await shrunk([1, 2, 1], (sent) => sent.length === 3)).left).toEqual([1, 2, 1]);
  });

  it('keeps a pause before what is left', async () => {
    const waves = [...referenceWaves([0, 1]), { messages: [0], pauseMs: 500 }, { messages: [1] }];
    const { schedule } = await shrink(
      { schedule: { code: 'late', number: 2, waves }, seen: true },
      {
        run: async (smaller) => (sentOf(smaller).length === 2 ? true : undefined),
        likely: [[1]],
        hasTime: () => true,
      },
    );
    expect(schedule.waves).toEqual([{ messages: [1] }, { messages: [1], pauseMs: 500 }]);
  });

  it('leaves out kills that are not needed, and keeps one', async () => {
    const kill = { when: 'after' } as const;
    const waves = [0, 1].flatMap((message) => [{ messages: [message], kill }, { messages: [message] }]);
    const shows = (isShown: (waves: Schedule['waves']) => boolean) =>
      shrink(
        { schedule: { code: 'killed', number: 3, waves }, seen: true },
        {
          run: async (smaller) =>
            isShown(smaller.waves) && scheduledMessages(smaller).length === 2 ? true : undefined,
          likely: [],
          hasTime: () => true,
        },
      );
    const { schedule } = await shows((left) =>
      left.some((wave) => wave.kill !== undefined && wave.messages.includes(1)),
    );
    expect(schedule.waves).toEqual([{ messages: [0] }, { messages: [1], kill }, { messages: [1] }]);
    const { schedule: any } = await shows(() => true);
    expect(any.waves.filter((wave) => 'kill' in wave)).toHaveLength(1);
    const { schedule: both } = await shows((left) => left.filter((wave) => 'kill' in wave).length === 2);
    expect(both.waves.filter((wave) => 'kill' in wave)).toHaveLength(2);
  });

  it('lets a message that came again come again: another order is another story', async () => {
    const all = [0, 1, 2, 3, 4, 5, 5, 4, 3, 2, 1, 0];
    expect((await shrunk(all, endsWith0, [[0, 5]])).left).toEqual([0, 5, 0]);
    expect((await shrunk(all, endsWith0)).left).toEqual([0, 5, 0]);
  });

  it('lets a message come again whose connection was cut, and two at the same moment', async () => {
    const cut = [0, 1].map((message) => ({ messages: [message], cut: true }) as const);
    expect(await shrunkWaves([...cut, ...referenceWaves([1, 0])])).toEqual([cut[1], { messages: [1] }]);
    expect(await shrunkWaves([{ messages: [0, 0, 0] }, { messages: [1, 1] }])).toEqual([
      { messages: [1, 1] },
    ]);
  });

  it('stops when there is no time left', async () => {
    const { schedule } = await shrink(
      { schedule: scheduleOf(TWICE), seen: true },
      { run: async () => true, likely: [[0]], hasTime: () => false },
    );
    expect(sentOf(schedule)).toEqual(TWICE);
  });
});
