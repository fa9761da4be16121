import type { Kill, PlannedCode, Schedule, ScheduleCode, Wave } from './schedule.ts';
import { SeededRandom } from './seeded-random.ts';

/** The properties of a message that the plan depends on. */
export interface PlannedMessage {
  /** Messages that share a key belong to one user: only `shuffled` changes their order. */
  readonly orderKeys: readonly string[];
  /** Whether the message changes the state. Kills and bursts at other messages show nothing. */
  readonly isEffective: boolean;
}

export interface PlanOptions {
  readonly seed: number;
  readonly schedules: number;
  readonly codes: readonly ScheduleCode[];
  readonly messages: readonly PlannedMessage[];
  /** Number of simultaneous requests of one message in a burst. */
  readonly burst: number;
  /** Milliseconds after which `late` sends a message again. */
  readonly lateMs: number;
}

/**
 * Order of the codes: the codes that find most mistakes in the least time come first. `late` waits, so it comes after the
 * second `twice` and two more `killed`, which find mistakes that the first `twice` and `killed` cannot find. `killed` needs
 * many schedules, because each kill hits one moment.
 */
const ROUND: readonly PlannedCode[] = [
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

/**
 * From this number of schedules on, the last schedule is a second `late`, which sends all messages again. The first `late`
 * sends only one message again, because waiting takes most of the time.
 */
const SCHEDULES_WITH_TWO_LATE = 25;

/**
 * Plans the schedules of a run. The same options give the same schedules, and the schedules of a code do not depend on the
 * other chosen codes.
 */
export function planSchedules(options: PlanOptions): readonly Schedule[] {
  const numbers = new Map<PlannedCode, number>();
  return orderOfCodes(options).map((code) => {
    const number = (numbers.get(code) ?? 0) + 1;
    numbers.set(code, number);
    const random = new SeededRandom(`${options.seed} ${code} ${number}`);
    return { code, number, waves: WAVES[code]({ number, random, ...options }) };
  });
}

function orderOfCodes({ schedules, codes }: PlanOptions): readonly PlannedCode[] {
  const order = ROUND.filter((code) => codes.includes(code));
  const quick = order.filter((code) => code !== 'late');
  if (quick.length === 0) return [...order, ...order].slice(0, schedules);
  while (order.length < schedules) order.push(...quick);
  const isLateTwice = codes.includes('late') && schedules >= SCHEDULES_WITH_TWO_LATE;
  return isLateTwice ? [...order.slice(0, schedules - 1), 'late'] : order.slice(0, schedules);
}

/** Waves that send each message alone, in the given order. */
export function referenceWaves(messages: readonly number[]): readonly Wave[] {
  return messages.map((message) => ({ messages: [message] }));
}

interface WaveOptions extends PlanOptions {
  readonly number: number;
  readonly random: SeededRandom;
}

const WAVES = {
  twice: twiceWaves,
  'twice-at-once': twiceAtOnceWaves,
  'answer-lost': responseLostWaves,
  interleaved: interleavedWaves,
  late: lateWaves,
  killed: killedWaves,
  shuffled: shuffledWaves,
} as const satisfies Readonly<Record<PlannedCode, (options: WaveOptions) => readonly Wave[]>>;

/**
 * First schedule: each message twice in a row. Second: all, then all in reverse. Further: each message again at a random
 * later place.
 */
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

/** Adds a repeat of each message at a random place after its first request; the first requests stay in order. */
function withRepeats(all: readonly number[], random: SeededRandom): readonly SendingTurn[] {
  const sent: SendingTurn[] = all.map((message) => ({ message, isRepeat: false }));
  for (const message of all) {
    const first = sent.findIndex((each) => each.message === message);
    const at = first + 1 + random.below(sent.length - first);
    sent.splice(at, 0, { message, isRepeat: true });
  }
  return sent;
}

/**
 * First schedule: each message twice without a gap. Every third: with a gap. Others: bursts, which show a race of
 * microseconds.
 */
function twiceAtOnceWaves({ messages, burst, number, random }: WaveOptions): readonly Wave[] {
  if (number > 1 && number % 3 > 0) {
    return effectiveOf(messages).map((place) => ({ messages: Array<number>(burst).fill(place) }));
  }
  return [...messages.keys()].map((message): Wave => {
    const both = { messages: [message, message] };
    return number === 1 ? both : { ...both, gapShare: random.next() * 0.8 };
  });
}

/** First schedule: each message again immediately. Further: after other messages, as a sender with a retry delay does. */
function responseLostWaves({ messages, number, random }: WaveOptions): readonly Wave[] {
  const all = [...messages.keys()];
  if (number === 1) return all.flatMap((message) => [cutOff(message), { messages: [message] }]);
  return withRepeats(all, random).map(({ message, isRepeat }) =>
    isRepeat ? { messages: [message] } : cutOff(message),
  );
}

/** First schedule: in reverse, which swaps every two messages. Further: in random order. */
function shuffledWaves({ messages, number, random }: WaveOptions): readonly Wave[] {
  const all = [...messages.keys()];
  return referenceWaves(number === 1 ? all.toReversed() : random.shuffled(all));
}

function cutOff(message: number): Wave {
  return { messages: [message], cut: true };
}

/** Random order that keeps the order of each user. Odd schedules send messages of different users at the same moment. */
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

/** Whether every two messages share a user, so that no messages can be sent in another order. */
export function areAllOfOneUser(messages: readonly PlannedMessage[]): boolean {
  const places = [...messages.keys()];
  return places.every((one) => places.every((other) => one === other || areOfOneUser(messages, one, other)));
}

function areOfOneUser(messages: readonly PlannedMessage[], one: number, other: number): boolean {
  const keys = messages[other]?.orderKeys ?? [];
  return (messages[one]?.orderKeys ?? []).some((key) => keys.includes(key));
}

/** Chooses messages so that no two belong to the same user. */
function spread(places: readonly number[], messages: readonly PlannedMessage[]): readonly number[] {
  const chosen: number[] = [];
  for (const place of places) {
    if (chosen.every((other) => !areOfOneUser(messages, other, place))) chosen.push(place);
  }
  return chosen;
}

/**
 * First schedule: only one message, so that its counterexample needs no shrinking, which would wait again at each step.
 * Further schedules: all messages.
 */
function lateWaves({ messages, number, random, lateMs }: WaveOptions): readonly Wave[] {
  if (number === 1) {
    const message = effectiveOne(messages, random);
    return [{ messages: [message] }, { messages: [message], pauseMs: lateMs }];
  }
  const again = referenceWaves([...messages.keys()]);
  return [...again, ...again.map((wave, place) => (place === 0 ? { ...wave, pauseMs: lateMs } : wave))];
}

/** Multiples of this fraction of the golden ratio, modulo 1, are spread evenly from 0 to 1, however many there are. */
const GOLDEN = 0.618_033_988_75;
/** Latest kill as a share of the latency: more than 1, because a receiver that has just started is slower. */
const LATEST_SHARE = 1.2;

/**
 * The first two schedules kill after the response. Every third schedule kills at every message that changes the state. The
 * others kill at one message, because each kill costs a restart.
 */
function killedWaves({ messages, number, random, seed }: WaveOptions): readonly Wave[] {
  const effective = effectiveOf(messages);
  // Every schedule of a run uses the same offset, so that the kills of all schedules together cover the whole latency.
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

/**
 * Picks an effective message at random. The pick does not depend on the other effective messages, which vary on a busy
 * machine.
 */
function effectiveOne(messages: readonly PlannedMessage[], random: SeededRandom): number {
  const effective = effectiveOf(messages);
  return random.shuffled([...messages.keys()]).find((place) => effective.includes(place)) ?? 0;
}
