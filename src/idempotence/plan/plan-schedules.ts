import type { Kill, Schedule, ScheduleCode, Wave } from './schedule.ts';
import { SeededRandom } from './seeded-random.ts';

/** A message as far as the plan depends on it. */
export interface PlannedMessage {
  /** Messages that share a key are one user's: only `shuffled` changes their order. */
  readonly orderKeys: readonly string[];
  /** Whether it changes the state. A message that does not shows no fault, so that it need not be killed at. */
  readonly isEffective: boolean;
}

export interface PlanOptions {
  readonly seed: number;
  /** How many schedules to plan. */
  readonly schedules: number;
  readonly codes: readonly ScheduleCode[];
  readonly messages: readonly PlannedMessage[];
  /** How often a message is sent at the same moment in a burst. */
  readonly burst: number;
  /** How long after it `late` sends a message again. */
  readonly lateMs: number;
}

/**
 * The order of the codes: one schedule of each, what finds most in the least time first, before the next of any. Only the second of `twice` and
 * two more of `killed`, which find what the first cannot, come before `late`, which waits. A kill needs many tries, since each hits one moment.
 */
const ROUND: readonly ScheduleCode[] = [
  'twice',
  'twice-at-once',
  'answer-lost',
  'interleaved',
  'shuffled',
  'twice',
  'killed',
  'killed',
  'killed',
  'late',
  'answer-lost',
  'twice-at-once',
  'killed',
  'killed',
];

/** From this many schedules on, the last one sends everything again late; below, `late` sends a single message: it takes most of the time. */
const SCHEDULES_WITH_TWO_LATE = 25;

/** Plans the schedules of a run. Pure: the same options give the same schedules, and a code's schedules do not depend on which other codes are chosen. */
export function planSchedules(options: PlanOptions): readonly Schedule[] {
  const numbers = new Map<ScheduleCode, number>();
  return orderOfCodes(options).map((code) => {
    const number = (numbers.get(code) ?? 0) + 1;
    numbers.set(code, number);
    return planSchedule(code, number, options);
  });
}

function orderOfCodes({ schedules, codes }: PlanOptions): readonly ScheduleCode[] {
  const order = ROUND.filter((code) => codes.includes(code));
  const quick = order.filter((code) => code !== 'late');
  if (quick.length === 0) return [...order, ...order].slice(0, schedules);
  while (order.length < schedules) order.push(...quick);
  const isLateTwice = codes.includes('late') && schedules >= SCHEDULES_WITH_TWO_LATE;
  return isLateTwice ? [...order.slice(0, schedules - 1), 'late'] : order.slice(0, schedules);
}

/** One after the other, in the order given. */
export function referenceWaves(messages: readonly number[]): readonly Wave[] {
  return messages.map((message) => ({ messages: [message] }));
}

function planSchedule(code: ScheduleCode, number: number, options: PlanOptions): Schedule {
  const random = new SeededRandom(`${options.seed} ${code} ${number}`);
  return { code, number, waves: WAVES[code]({ number, random, ...options }) };
}

interface WaveOptions extends PlanOptions {
  readonly number: number;
  readonly random: SeededRandom;
}

const WAVES = {
  once: ({ messages }) => referenceWaves([...messages.keys()]),
  'after-5xx': ({ messages }) => referenceWaves([...messages.keys()]),
  twice: twiceWaves,
  'twice-at-once': twiceAtOnceWaves,
  'answer-lost': responseLostWaves,
  interleaved: interleavedWaves,
  late: lateWaves,
  killed: killedWaves,
  shuffled: shuffledWaves,
} as const satisfies Readonly<Record<ScheduleCode, (options: WaveOptions) => readonly Wave[]>>;

/** First each twice in a row, then all and all again from the last to the first, then each again at some later time. */
function twiceWaves({ messages, number, random }: WaveOptions): readonly Wave[] {
  const all = [...messages.keys()];
  if (number === 1) return referenceWaves(all.flatMap((message) => [message, message]));
  if (number === 2) return referenceWaves([...all, ...all.toReversed()]);
  return referenceWaves(withRepeats(all, random).map(({ message }) => message));
}

interface SendingTurn {
  readonly message: number;
  readonly isRepeat: boolean;
}

/** Puts each message a second time behind its first; the first times stay in order. */
function withRepeats(all: readonly number[], random: SeededRandom): readonly SendingTurn[] {
  const sent: SendingTurn[] = all.map((message) => ({ message, isRepeat: false }));
  for (const message of all) {
    const first = sent.findIndex((each) => each.message === message);
    const at = first + 1 + random.below(sent.length - first);
    sent.splice(at, 0, { message, isRepeat: true });
  }
  return sent;
}

/** First each two times without a gap. Every third schedule has gaps; the others are bursts, which show a race of microseconds. */
function twiceAtOnceWaves({ messages, burst, number, random }: WaveOptions): readonly Wave[] {
  if (number > 1 && number % 3 > 0) {
    return effectiveOf(messages).map((place) => ({ messages: Array<number>(burst).fill(place) }));
  }
  return [...messages.keys()].map((message): Wave => {
    const both = { messages: [message, message] };
    return number === 1 ? both : { ...both, gapShare: random.next() * 0.8 };
  });
}

/** First each again at once, then each again some time after others, as a sender that waits before it tries again. */
function responseLostWaves({ messages, number, random }: WaveOptions): readonly Wave[] {
  const all = [...messages.keys()];
  if (number === 1) return all.flatMap((message) => [cutOff(message), { messages: [message] }]);
  return withRepeats(all, random).map(({ message, isRepeat }) =>
    isRepeat ? { messages: [message] } : cutOff(message),
  );
}

/** First from the last to the first, which turns every two messages round, then at random. */
function shuffledWaves({ messages, number, random }: WaveOptions): readonly Wave[] {
  const all = [...messages.keys()];
  return referenceWaves(number === 1 ? all.toReversed() : random.shuffled(all));
}

function cutOff(message: number): Wave {
  return { messages: [message], cut: true };
}

/** In an order that keeps that of each user; the first schedule and every second sends messages of different users at the same moment. */
function interleavedWaves({ messages, number, random }: WaveOptions): readonly Wave[] {
  const waves: Wave[] = [];
  const left = new Set(messages.keys());
  while (left.size > 0) {
    const ready = random.shuffled([...left].filter((place) => isReady(place, left, messages)));
    const sent = number % 2 === 1 ? spread(ready, messages) : ready.slice(0, 1);
    waves.push({ messages: sent });
    for (const place of sent) left.delete(place);
  }
  return waves;
}

function isReady(place: number, left: ReadonlySet<number>, messages: readonly PlannedMessage[]): boolean {
  return [...left].every((earlier) => earlier >= place || !areOfOneUser(messages, earlier, place));
}

function areOfOneUser(messages: readonly PlannedMessage[], one: number, other: number): boolean {
  const keys = messages[other]?.orderKeys ?? [];
  return (messages[one]?.orderKeys ?? []).some((key) => keys.includes(key));
}

/** Of messages, those of different users. */
function spread(places: readonly number[], messages: readonly PlannedMessage[]): readonly number[] {
  const chosen: number[] = [];
  for (const place of places) {
    if (chosen.every((other) => !areOfOneUser(messages, other, place))) chosen.push(place);
  }
  return chosen;
}

/** One message first: what it shows needs no shrinking, each step of which would wait again. Then all. */
function lateWaves({ messages, number, random, lateMs }: WaveOptions): readonly Wave[] {
  if (number === 1) {
    const message = effectiveOne(messages, random);
    return [{ messages: [message] }, { messages: [message], pauseMs: lateMs }];
  }
  const again = referenceWaves([...messages.keys()]);
  return [...again, ...again.map((wave, place) => (place === 0 ? { ...wave, pauseMs: lateMs } : wave))];
}

/** The golden section spreads any number of shares evenly. */
const GOLDEN = 0.618_033_988_75;
/** A receiver that has just been started takes longer than one that is warm. */
const LATEST_SHARE = 1.2;

/** The first two kill when a message is taken. Every third kills at every message; the others at one, since each kill costs a start. */
function killedWaves({ messages, number, random, seed }: WaveOptions): readonly Wave[] {
  const effective = effectiveOf(messages);
  // The same for all schedules of a run, so that together they sweep the time.
  const offset = new SeededRandom(`${seed} kill times`).next();
  const killAt = (turn: number): Kill => ({
    when: 'during',
    share: ((offset + turn * GOLDEN) % 1) * LATEST_SHARE,
  });
  const one = effectiveOne(messages, random);
  if (number === 1) return killedAndAgain(one, { when: 'after' });
  if (number === 2) return [{ messages: [one], kill: { when: 'after' } }];
  if (number % 3 !== 0) return killedAndAgain(one, killAt(number));
  return [...messages.keys()].flatMap((message): readonly Wave[] =>
    effective.includes(message)
      ? killedAndAgain(message, killAt(number + 100 * (message + 1)))
      : [{ messages: [message] }],
  );
}

function killedAndAgain(message: number, kill: Kill): readonly Wave[] {
  return [{ messages: [message], kill }, { messages: [message] }];
}

function effectiveOf(messages: readonly PlannedMessage[]): readonly number[] {
  const all = [...messages.keys()];
  const effective = all.filter((place) => messages[place]?.isEffective === true);
  return effective.length > 0 ? effective : all;
}

/** One at random, the same whichever others have an effect: what a busy machine shows of that differs. */
function effectiveOne(messages: readonly PlannedMessage[], random: SeededRandom): number {
  const effective = effectiveOf(messages);
  return random.shuffled([...messages.keys()]).find((place) => effective.includes(place)) ?? 0;
}
