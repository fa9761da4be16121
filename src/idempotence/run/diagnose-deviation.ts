import { referenceWaves } from '../plan/plan-schedules.ts';
import { scheduledMessages, type Schedule, type Wave } from '../plan/schedule.ts';
import type { IdempotenceFaultCode } from '../faults.ts';
import { differingLines, hasMore, isSameState, skipsNumbers } from '../state-difference.ts';
import type { Deviation, ProofRunner } from './proof-runner.ts';

/** Finds the fault behind a schedule that ended in another state; runs a similar schedule where two faults look alike. */
export async function diagnoseDeviation(
  runner: ProofRunner,
  schedule: Schedule,
  deviation: Deviation,
): Promise<IdempotenceFaultCode> {
  switch (deviation.kind) {
    case 'gone':
      return isRepeat(deviation) ? 'dies-on-duplicates' : 'died';
    case 'not-started':
      return 'does-not-restart';
    case 'unsettled':
      return 'never-settles';
    case 'not-taken':
      return notTakenFault(schedule, deviation);
    case 'state':
      return new DeviationDiagnosis(runner, schedule, deviation).find();
    default:
      return deviation.kind satisfies never;
  }
}

function notTakenFault({ code }: Schedule, deviation: Deviation): IdempotenceFaultCode {
  const { failure } = deviation.execution;
  const response = failure?.kind === 'not-taken' ? failure.exchange.response : undefined;
  if (response?.kind === 'refused') return 'refuses-duplicates';
  if (response?.status === 409) {
    return code === 'killed' && lacks(deviation) ? 'keeps-lock' : 'stays-busy';
  }
  if (response?.error === 'timeout' && isRepeat(deviation)) return 'hangs-on-duplicates';
  return code === 'twice-at-once' ? 'fails-at-once' : 'fails-on-duplicates';
}

function lacks({ expected, state }: Deviation): boolean {
  return differingLines(expected, state).missing.length > 0;
}

/** Whether the last message had been taken before. */
function isRepeat({ execution: { exchanges } }: Deviation): boolean {
  const last = exchanges.at(-1);
  return exchanges
    .slice(0, -1)
    .some(({ message, response }) => message === last?.message && response.kind === 'taken');
}

/** How many others came before a message that was forgotten came again. */
export function countBetween({ waves }: Schedule): number {
  const sent = waves.flatMap(({ messages }) => messages);
  const again = sent.findIndex((place, at) => sent.indexOf(place) < at);
  return new Set(sent.slice(sent.indexOf(sent[again] ?? -1) + 1, again)).size;
}

/** More than most receivers have processes: one of them gets the message twice. */
const REPEATS = 9;

class DeviationDiagnosis {
  readonly #runner: ProofRunner;
  readonly #schedule: Schedule;
  readonly #deviation: Deviation;
  /** Whether a message that comes again and again, each time when its work is done, is worked on again. */
  #worksAgain: 'never' | 'sometimes' | 'always' = 'never';

  constructor(runner: ProofRunner, schedule: Schedule, deviation: Deviation) {
    this.#runner = runner;
    this.#schedule = schedule;
    this.#deviation = deviation;
  }

  async find(): Promise<IdempotenceFaultCode> {
    const { code } = this.#schedule;
    const { expected, state } = this.#deviation;
    if (code !== 'shuffled' && skipsNumbers(expected, state)) return 'skips-numbers';
    if (code !== 'killed' && (await this.#isLostAfterFailure())) return 'keeps-id-after-failure';
    this.#worksAgain = await this.#repeatSlowly();
    if (code !== 'late' && this.#worksAgain === 'sometimes') return 'dedupe-per-process';
    switch (code) {
      case 'once':
      case 'twice':
        return this.#ofRepeats();
      case 'twice-at-once':
        return (await this.#ofPlainRepeats()) ?? 'check-then-act';
      case 'answer-lost':
        return (await this.#ofPlainRepeats()) ?? 'records-after-response';
      case 'late':
        return (await this.#ofPlainRepeats()) ?? 'window-too-short';
      case 'killed':
        return (await this.#ofPlainRepeats()) ?? this.#ofKill();
      case 'after-5xx':
        return 'effect-despite-5xx';
      case 'interleaved':
        return this.#ofOrder();
      case 'shuffled':
        return 'goes-by-arrival';
      default:
        return code satisfies never;
    }
  }

  /** Whether the messages that asked to be sent again are missing, and no others. */
  async #isLostAfterFailure(): Promise<boolean> {
    const { state, execution } = this.#deviation;
    const again = execution.exchanges.filter(({ tries }) => tries > 1).map(({ message }) => message);
    return again.length > 0 && isSameState(state, await this.#stateWithout(again));
  }

  async #repeatSlowly(): Promise<'never' | 'sometimes' | 'always'> {
    const sent = this.#schedule.waves.flatMap(({ messages }) => messages);
    const again = sent.filter((place, at) => sent.indexOf(place) < at).slice(0, 1);
    const repeats = this.#runner.messagesAt(Array.from({ length: REPEATS }, () => again).flat());
    const states = await this.#runner.statesAfterEach(repeats);
    const changes = states.slice(1).filter((state, at) => !isSameState(state, states[at] ?? ''));
    if (changes.length === 0) return 'never';
    return changes.length < REPEATS - 1 ? 'sometimes' : 'always';
  }

  /** The fault that shows without what is special in the schedule: its messages in the same order, each request after the other. */
  async #ofPlainRepeats(): Promise<IdempotenceFaultCode | undefined> {
    const places = this.#schedule.waves.flatMap(({ messages }) => messages);
    if (new Set(places).size === places.length) return undefined;
    const deviation = await this.#runner.judge({ ...this.#schedule, waves: referenceWaves(places) });
    if (deviation === undefined) return undefined;
    return deviation.kind === 'state' ? this.#ofRepeats() : notTakenFault(this.#schedule, deviation);
  }

  async #ofRepeats(): Promise<IdempotenceFaultCode> {
    const sent = this.#schedule.waves.flatMap(({ messages }) => messages);
    const isInARow = sent.every((place, at) => sent.indexOf(place) === at || sent[at - 1] === place);
    if (isInARow) return this.#worksAgain === 'never' ? 'works-after-response' : 'no-dedupe';
    const places = scheduledMessages(this.#schedule);
    const adjacent = referenceWaves(places.flatMap((place) => [place, place]));
    const plain = await this.#runner.judge({ ...this.#schedule, waves: adjacent });
    if (plain?.kind === 'state') return 'no-dedupe';
    // In the order of the last time: a receiver that takes the last for the newest ends there.
    const last = [...new Set(sent.toReversed())];
    const asArrived = { ...this.#schedule, waves: referenceWaves(last.toReversed()) };
    const state = (await this.#runner.judge(asArrived))?.state;
    const overwrites = state !== undefined && isSameState(state, this.#deviation.state);
    return overwrites ? 'overwrites-newer' : 'remembers-last';
  }

  async #ofKill(): Promise<IdempotenceFaultCode> {
    const { waves } = this.#schedule;
    const killed = waves.find(({ kill }) => kill !== undefined);
    const [message = 0] = killed?.messages ?? [];
    const requests = waves.flatMap(({ messages }) => messages).filter((each) => each === message);
    if (requests.length === 1) return 'responds-before-storing';
    const without = await this.#stateWithout([message]);
    if (isSameState(this.#deviation.state, without)) return 'record-before-effect';
    const after: Wave = { messages: [message], kill: { when: 'after' } };
    const again = { messages: [message] };
    const isForgotten = await this.#runner.judge({ ...this.#schedule, waves: [after, again] });
    return isForgotten?.kind === 'state' && !isSameState(isForgotten.state, this.#runner.base)
      ? 'dedupe-in-memory'
      : 'effect-and-record-apart';
  }

  /** The state after the messages of the schedule without some of them. */
  async #stateWithout(leftOut: readonly number[]): Promise<string> {
    const others = scheduledMessages(this.#schedule).filter((place) => !leftOut.includes(place));
    return others.length === 0 ? this.#runner.base : this.#runner.referenceOf(others);
  }

  async #ofOrder(): Promise<IdempotenceFaultCode> {
    const { expected, state, execution } = this.#deviation;
    const hasFailed = execution.exchanges.some(({ failedWith = 0 }) => failedWith >= 500);
    if (hasFailed && hasMore(expected, state)) return 'effect-despite-5xx';
    const places = this.#schedule.waves.flatMap(({ messages }) => messages);
    if (places.length === this.#schedule.waves.length) return 'depends-on-other-users';
    const inTurn = await this.#runner.judge({ ...this.#schedule, waves: referenceWaves(places) });
    return inTurn === undefined ? 'loses-updates' : 'depends-on-other-users';
  }
}
