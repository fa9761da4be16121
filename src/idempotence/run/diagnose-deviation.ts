import { referenceWaves } from '../plan/plan-schedules.ts';
import { scheduledMessages, type Schedule, type Wave } from '../plan/schedule.ts';
import type { IdempotenceFaultCode } from '../faults.ts';
import { isSameState } from '../state-difference.ts';
import type { Deviation, ProofRunner } from './proof-runner.ts';

/** Finds the fault behind a schedule that ended in another state; runs a similar schedule where two faults look alike. */
export async function diagnoseDeviation(
  runner: ProofRunner,
  schedule: Schedule,
  deviation: Deviation,
): Promise<IdempotenceFaultCode> {
  switch (deviation.kind) {
    case 'gone':
      return 'died';
    case 'not-started':
      return 'does-not-restart';
    case 'unsettled':
      return 'never-settles';
    case 'not-taken':
      return notTakenFault(schedule, deviation);
    case 'state':
      return new Diagnosis(runner, schedule, deviation).find();
    default:
      return deviation.kind satisfies never;
  }
}

function notTakenFault({ code }: Schedule, { execution: { failure } }: Deviation): IdempotenceFaultCode {
  const response = failure?.kind === 'not-taken' ? failure.exchange.response : undefined;
  if (response?.kind === 'refused') return 'refuses-duplicates';
  if (response?.status === 409) return 'stays-busy';
  return code === 'twice-at-once' ? 'fails-at-once' : 'fails-on-duplicates';
}

class Diagnosis {
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
    const after: Wave = { messages: [message], kill: { when: 'after' } };
    const again = { messages: [message] };
    const isForgotten = await this.#runner.judge({ ...this.#schedule, waves: [after, again] });
    if (isForgotten?.kind === 'state') return 'dedupe-in-memory';
    const others = scheduledMessages(this.#schedule).filter((other) => other !== message);
    const without = others.length === 0 ? this.#runner.base : await this.#runner.referenceOf(others);
    return isSameState(this.#deviation.state, without) ? 'record-before-effect' : 'effect-and-record-apart';
  }

  async #ofOrder(): Promise<IdempotenceFaultCode> {
    const places = this.#schedule.waves.flatMap(({ messages }) => messages);
    if (places.length === this.#schedule.waves.length) return 'depends-on-other-users';
    const inTurn = await this.#runner.judge({ ...this.#schedule, waves: referenceWaves(places) });
    return inTurn === undefined ? 'loses-updates' : 'depends-on-other-users';
  }
}
