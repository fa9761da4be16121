import { referenceWaves } from '../plan/plan-schedules.ts';
import { scheduledMessages, scheduledRequests, type Schedule, type Wave } from '../plan/schedule.ts';
import type { IdempotenceMistakeCode } from '../mistakes.ts';
import { differingLines, hasMore, isSameState, skipsNumbers } from '../state-difference.ts';
import type { Deviation, ProofRunner } from './proof-runner.ts';

/** Finds the mistake that explains a deviation. If two mistakes look alike, runs similar schedules to tell them apart. */
export async function diagnoseDeviation(
  runner: ProofRunner,
  schedule: Schedule,
  deviation: Deviation,
): Promise<IdempotenceMistakeCode> {
  switch (deviation.kind) {
    case 'gone':
      return isRepeat(deviation) ? 'dies-on-duplicates' : 'died';
    case 'not-started':
      return 'does-not-restart';
    case 'unsettled':
      return 'never-settles';
    case 'not-taken':
      return mistakeOfNotTaken(schedule, deviation);
    case 'state':
      return new DeviationDiagnosis(runner, schedule, deviation).find();
    default:
      return deviation.kind satisfies never;
  }
}

function mistakeOfNotTaken({ code }: Schedule, deviation: Deviation): IdempotenceMistakeCode {
  const { failure } = deviation.execution;
  const response = failure?.kind === 'not-taken' ? failure.exchange.response : undefined;
  if (response?.kind === 'rejected') return 'refuses-duplicates';
  if (response?.status === 409) {
    const { missing } = differingLines(deviation.expected, deviation.state);
    return code === 'killed' && missing.length > 0 ? 'keeps-lock' : 'stays-busy';
  }
  if (response?.error === 'timeout' && isRepeat(deviation)) return 'hangs-on-duplicates';
  return code === 'twice-at-once' ? 'fails-at-once' : 'fails-on-duplicates';
}

/** Whether the last request of a run repeats a message that the receiver accepted earlier in that run. */
function isRepeat({ execution: { exchanges } }: Deviation): boolean {
  const last = exchanges.at(-1);
  return exchanges
    .slice(0, -1)
    .some(({ message, response }) => message === last?.message && response.kind === 'taken');
}

/** Number of other messages between the first request of the repeated message and its repeat. */
export function countBetween(schedule: Schedule): number {
  const sent = scheduledRequests(schedule);
  const again = sent.findIndex((place, at) => sent.indexOf(place) < at);
  return new Set(sent.slice(sent.indexOf(sent[again] ?? -1) + 1, again)).size;
}

/** Number of repeats: larger than the number of processes of most receivers, so that one process gets the message twice. */
const REPEATS = 9;

class DeviationDiagnosis {
  readonly #runner: ProofRunner;
  readonly #schedule: Schedule;
  readonly #deviation: Deviation;
  /** Message index of each request, in the order of the requests. */
  readonly #sent: readonly number[];
  /** How often the receiver repeats its work if it gets a message again after the work on that message is done. */
  #worksAgain: 'never' | 'sometimes' | 'always' = 'never';

  constructor(runner: ProofRunner, schedule: Schedule, deviation: Deviation) {
    this.#runner = runner;
    this.#schedule = schedule;
    this.#deviation = deviation;
    this.#sent = scheduledRequests(schedule);
  }

  async find(): Promise<IdempotenceMistakeCode> {
    const { code } = this.#schedule;
    const { expected, state } = this.#deviation;
    if (code !== 'shuffled' && skipsNumbers(expected, state)) return 'skips-numbers';
    if (code !== 'killed' && (await this.#isLostAfterFailure())) return 'keeps-id-after-failure';
    this.#worksAgain = await this.#repeatSlowly();
    if (code !== 'late' && this.#worksAgain === 'sometimes') return 'dedupe-per-process';
    switch (code) {
      case 'twice':
        return this.#findRepeatMistake();
      case 'twice-at-once':
        return (await this.#findPlainRepeatMistake()) ?? 'check-then-act';
      case 'answer-lost':
        return (await this.#findPlainRepeatMistake()) ?? 'records-after-response';
      case 'late':
        return (await this.#findPlainRepeatMistake()) ?? 'window-too-short';
      case 'killed':
        return (await this.#findPlainRepeatMistake()) ?? this.#findKillMistake();
      case 'interleaved':
        return this.#findOrderMistake();
      case 'shuffled':
        return 'goes-by-arrival';
      default:
        return code satisfies never;
    }
  }

  /** Whether the wrong state lacks exactly the messages that the receiver asked to send again. */
  async #isLostAfterFailure(): Promise<boolean> {
    const { state, execution } = this.#deviation;
    const again = execution.exchanges.filter(({ tries }) => tries > 1).map(({ message }) => message);
    return again.length > 0 && isSameState(state, await this.#stateWithout(again));
  }

  async #repeatSlowly(): Promise<'never' | 'sometimes' | 'always'> {
    const again = this.#sent.filter((place, at) => this.#sent.indexOf(place) < at).slice(0, 1);
    const repeats = this.#runner.messagesAt(Array.from({ length: REPEATS }, () => again).flat());
    const states = await this.#runner.statesAfterEach(repeats);
    const changes = states.slice(1).filter((state, at) => !isSameState(state, states[at] ?? ''));
    if (changes.length === 0) return 'never';
    return changes.length < REPEATS - 1 ? 'sometimes' : 'always';
  }

  /**
   * The mistake that shows if the same messages are sent in the same order one after another, without races, cuts and kills.
   */
  async #findPlainRepeatMistake(): Promise<IdempotenceMistakeCode | undefined> {
    if (new Set(this.#sent).size === this.#sent.length) return undefined;
    const deviation = await this.#judge(referenceWaves(this.#sent));
    if (deviation === undefined) return undefined;
    return deviation.kind === 'state'
      ? this.#findRepeatMistake()
      : mistakeOfNotTaken(this.#schedule, deviation);
  }

  async #findRepeatMistake(): Promise<IdempotenceMistakeCode> {
    const sent = this.#sent;
    const isInARow = sent.every((place, at) => sent.indexOf(place) === at || sent[at - 1] === place);
    if (isInARow) return this.#worksAgain === 'never' ? 'works-after-response' : 'no-dedupe';
    const places = scheduledMessages(this.#schedule);
    const plain = await this.#judge(referenceWaves(places.flatMap((place) => [place, place])));
    if (plain?.kind === 'state') return 'no-dedupe';
    // A receiver that always keeps the message that arrived last needs only the last request of each message for the same
    // state.
    const last = [...new Set(sent.toReversed())];
    const state = (await this.#judge(referenceWaves(last.toReversed())))?.state;
    const overwrites = state !== undefined && isSameState(state, this.#deviation.state);
    return overwrites ? 'overwrites-newer' : 'remembers-last';
  }

  async #findKillMistake(): Promise<IdempotenceMistakeCode> {
    const killed = this.#schedule.waves.find(({ kill }) => kill !== undefined);
    const [message = 0] = killed?.messages ?? [];
    if (this.#sent.filter((each) => each === message).length === 1) return 'responds-before-storing';
    const without = await this.#stateWithout([message]);
    if (isSameState(this.#deviation.state, without)) return 'record-before-effect';
    const after: Wave = { messages: [message], kill: { when: 'after' } };
    const isForgotten = await this.#judge([after, { messages: [message] }]);
    return isForgotten?.kind === 'state' && !isSameState(isForgotten.state, this.#runner.base)
      ? 'dedupe-in-memory'
      : 'effect-and-record-apart';
  }

  #judge(waves: readonly Wave[]): Promise<Deviation | undefined> {
    return this.#runner.judge({ ...this.#schedule, waves });
  }

  /** The state after the messages of the schedule except those that are left out. */
  async #stateWithout(leftOut: readonly number[]): Promise<string> {
    const others = scheduledMessages(this.#schedule).filter((place) => !leftOut.includes(place));
    return others.length === 0 ? this.#runner.base : this.#runner.referenceOf(others);
  }

  async #findOrderMistake(): Promise<IdempotenceMistakeCode> {
    const { expected, state, execution } = this.#deviation;
    const hasFailed = execution.exchanges.some(({ failedWith = 0 }) => failedWith >= 500);
    if (hasFailed && hasMore(expected, state)) return 'effect-despite-5xx';
    if (this.#sent.length === this.#schedule.waves.length) return 'depends-on-other-users';
    const inTurn = await this.#judge(referenceWaves(this.#sent));
    return inTurn === undefined ? 'loses-updates' : 'depends-on-other-users';
  }
}
