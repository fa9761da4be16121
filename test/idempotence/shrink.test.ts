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

interface Failing {
  readonly isWrong?: (smaller: Schedule) => boolean;
  readonly likely?: readonly (readonly number[])[];
  readonly hasTime?: boolean;
}

/** Shrinks a schedule that fails if `isWrong`, by default always; returns the smallest schedule and the number of runs. */
async function shrinking(
  whole: Schedule,
  { isWrong = () => true, likely = [], hasTime = true }: Failing = {},
): Promise<{ readonly schedule: Schedule; readonly runs: number }> {
  let runs = 0;
  const run = async (smaller: Schedule): Promise<true | undefined> => {
    runs++;
    return isWrong(smaller) || undefined;
  };
  const { schedule } = await shrink({ schedule: whole, seen: true }, { run, likely, hasTime: () => hasTime });
  return { schedule, runs };
}

async function shrunk(
  sent: readonly number[],
  isWrong: (sent: readonly number[]) => boolean,
  likely: readonly (readonly number[])[] = [],
): Promise<{ readonly left: readonly number[]; readonly runs: number }> {
  const failing = { isWrong: (smaller: Schedule) => isWrong(sentOf(smaller)), likely };
  const { schedule, runs } = await shrinking(scheduleOf(sent), failing);
  return { left: sentOf(schedule), runs };
}

function comesTwice(sent: readonly number[]): boolean {
  return sent.filter((each) => each === 5).length === 2;
}

/** Whether message 6 is sent between two requests of message 2. */
function comesBetween(sent: readonly number[]): boolean {
  const [first, last] = [sent.indexOf(2), sent.lastIndexOf(2)];
  return first !== last && sent.slice(first, last).includes(6);
}

function endsWith0(sent: readonly number[]): boolean {
  return sent.at(-1) === 0 && sent.includes(5);
}

async function shrunkWaves(waves: Schedule['waves']): Promise<Schedule['waves']> {
  return (await shrinking({ code: 'answer-lost', number: 2, waves })).schedule.waves;
}

const TWICE = [0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6];

describe('shrink', () => {
  it('finds the one message that fails alone, and tries the likely ones first', async () => {
    expect(await shrunk(TWICE, comesTwice, [[1], [5]])).toEqual({ left: [5, 5], runs: 2 });
    expect((await shrunk(TWICE, comesTwice)).left).toEqual([5, 5]);
  });

  it('finds three requests of two messages even if none of the likely groups fails', async () => {
    const all = [0, 1, 2, 3, 4, 5, 6, 6, 5, 4, 3, 2, 1, 0];
    expect((await shrunk(all, comesBetween, [[2], [6], [0, 1]])).left).toEqual([2, 6, 2]);
  });

  it('keeps a schedule that cannot be made smaller', async () => {
    expect(await shrunk([4, 4], () => true)).toEqual({ left: [4, 4], runs: 0 });
    expect((await shrunk([1, 2, 1], (sent) => sent.length === 3)).left).toEqual([1, 2, 1]);
  });

  it('keeps the pause before the remaining requests', async () => {
    const waves = [...referenceWaves([0, 1]), { messages: [0], pauseMs: 500 }, { messages: [1] }];
    const failing = { isWrong: (smaller: Schedule) => sentOf(smaller).length === 2, likely: [[1]] };
    const { schedule } = await shrinking({ code: 'late', number: 2, waves }, failing);
    expect(schedule.waves).toEqual([{ messages: [1] }, { messages: [1], pauseMs: 500 }]);
  });

  it('leaves out unnecessary kills, but keeps one', async () => {
    const kill = { when: 'after' } as const;
    const waves = [0, 1].flatMap((message) => [{ messages: [message], kill }, { messages: [message] }]);
    const shows = (isShown: (waves: Schedule['waves']) => boolean) =>
      shrinking(
        { code: 'killed', number: 3, waves },
        { isWrong: (smaller) => isShown(smaller.waves) && scheduledMessages(smaller).length === 2 },
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

  it('keeps a repeat of a repeated message, because another order is another mistake', async () => {
    const all = [0, 1, 2, 3, 4, 5, 5, 4, 3, 2, 1, 0];
    expect((await shrunk(all, endsWith0, [[0, 5]])).left).toEqual([0, 5, 0]);
    expect((await shrunk(all, endsWith0)).left).toEqual([0, 5, 0]);
  });

  it('keeps the repeat of a message whose connection was cut, and of one sent twice at the same moment', async () => {
    const cut = [0, 1].map((message) => ({ messages: [message], cut: true }) as const);
    expect(await shrunkWaves([...cut, ...referenceWaves([1, 0])])).toEqual([cut[1], { messages: [1] }]);
    expect(await shrunkWaves([{ messages: [0, 0, 0] }, { messages: [1, 1] }])).toEqual([
      { messages: [1, 1] },
    ]);
  });

  it('stops when the time is over', async () => {
    const { schedule } = await shrinking(scheduleOf(TWICE), { likely: [[0]], hasTime: false });
    expect(sentOf(schedule)).toEqual(TWICE);
  });
});
