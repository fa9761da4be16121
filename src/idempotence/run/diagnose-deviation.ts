import { referenceWaves } from '../plan/plan-schedules.ts';
import { scheduledMessages, type Schedule, type Wave } from '../plan/schedule.ts';
import type { IdempotenceFaultCode } from '../faults.ts';
import { differingLines, isSameState, skipsNumbers } from '../state-difference.ts';
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

class DeviationDiagnosis {
  readonly #runner: ProofRunner;
  readonly #schedule: Schedule;
  readonly #deviation: Deviation;

  constructor(runner: ProofRunner, schedule: Schedule, deviation: Deviation) {
    this.#runner = runner;
    this.#schedule = schedule;
    this.#deviation = deviation;
  }

  async find(): Promise<IdempotenceFaultCode> {
    const { code } = this.#schedule;
    const { expected, state } = this.#deviation;
    if (code !== 'shuffled' && skipsNumbers(expected, state)) return 'skips-numbers';
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

  /** The fault that shows without what is special in the schedule: its messages in the same order, each request after the other. */
  async #ofPlainRepeats(): Promise<IdempotenceFaultCode | undefined> {
    const places = this.#schedule.waves.flatMap(({ messages }) => messages);
    if (new Set(places).size === places.length) return undefined;
    const deviation = await this.#runner.judge({ ...this.#schedule, waves: referenceWaves(places) });
    if (deviation === undefined) return undefined;
    return deviation.kind === 'state' ? this.#ofRepeats() : notTakenFault(this.#schedule, deviation);
  }

  async #ofRepeats(): Promise<IdempotenceFaultCode> {
    const places = scheduledMessages(this.#schedule);
    const sent = this.#schedule.waves.flatMap(({ messages }) => messages);
    const isInARow = sent.every((place, at) => sent.indexOf(place) === at || sent[at - 1] === place);
    if (isInARow) return (await this.#isDoneLater(places)) ? 'works-after-response' : 'no-dedupe';
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

  /** Whether the receiver knows a message again that comes when the work on the first one is done, and not before. */
  async #isDoneLater(places: readonly number[]): Promise<boolean> {
    const pauseMs = this.#runner.workMs;
    const waves = places.flatMap((place): Wave[] => [{ messages: [place] }, { messages: [place], pauseMs }]);
    return (await this.#runner.judge({ ...this.#schedule, waves })) === undefined;
  }

  async #ofKill(): Promise<IdempotenceFaultCode> {
    const { waves } = this.#schedule;
    const killed = waves.find(({ kill }) => kill !== undefined);
    const [message = 0] = killed?.messages ?? [];
    const requests = waves.flatMap(({ messages }) => messages).filter((each) => each === message);
    if (requests.length === 1) return 'responds-before-storing';
    const others = scheduledMessages(this.#schedule).filter((other) => other !== message);
    const without = others.length === 0 ? this.#runner.base : await this.#runner.referenceOf(others);
    if (isSameState(this.#deviation.state, without)) return 'record-before-effect';
    const after: Wave = { messages: [message], kill: { when: 'after' } };
    const again = { messages: [message] };
    const isForgotten = await this.#runner.judge({ ...this.#schedule, waves: [after, again] });
    return isForgotten?.kind === 'state' && !isSameState(isForgotten.state, this.#runner.base)
      ? 'dedupe-in-memory'
      : 'effect-and-record-apart';
  }

  async #ofOrder(): Promise<IdempotenceFaultCode> {
    const places = this.#schedule.waves.flatMap(({ messages }) => messages);
    if (places.length === this.#schedule.waves.length) return 'depends-on-other-users';
    const inTurn = await this.#runner.judge({ ...this.#schedule, waves: referenceWaves(places) });
    return inTurn === undefined ? 'loses-updates' : 'depends-on-other-users';
  }
}
