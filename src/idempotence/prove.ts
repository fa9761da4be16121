import type { Clock } from '../clock.ts';
import { orderKeysOf } from '../message/outgoing-message.ts';
import { IDEMPOTENCE_FAULTS, type IdempotenceFaultCode } from './faults.ts';
import { planSchedules } from './plan/plan-schedules.ts';
import { SCHEDULE_TITLES, type Schedule, type ScheduleCode } from './plan/schedule.ts';
import type { Counterexample, ProofResult, ShownRequest } from './proof-result.ts';
import { diagnoseDeviation } from './run/diagnose-deviation.ts';
import { findLostMessage, type LostMessage } from './run/each-counts.ts';
import {
  learnReference,
  repeatAfter5xx,
  repeatReference,
  type After5xx,
  type Reference,
} from './run/learn-reference.ts';
import { ProofRunner, type Deviation } from './run/proof-runner.ts';
import { shrinkDeviation } from './run/shrink-deviation.ts';
import type { ProofMessage, Subject } from './subject.ts';

export interface ProveOptions {
  readonly subject: Subject;
  /** False: to bring the subject back to the start, it is only started again. */
  readonly hasReset: boolean;
  /** Whether requests carry a signature. */
  readonly isSigned: boolean;
  readonly messages: readonly ProofMessage[];
  /** In the order of SCHEDULE_CODES. */
  readonly codes: readonly ScheduleCode[];
  readonly seed: number;
  readonly schedules: number;
  readonly lateMs: number;
  readonly stateTimeoutMs: number;
  /** Why a code cannot be tried. */
  readonly skipped: ReadonlyMap<ScheduleCode, string>;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly onReference: (reference: Reference) => void;
  /** `code` is that of the next schedule. */
  readonly onProgress: (done: number, total: number, code?: ScheduleCode) => void;
  /** Called when a schedule has ended in another state: what follows are smaller ones. */
  readonly onDeviation: () => void;
  /** Called for each code as soon as its result is known. */
  readonly onResult: (result: ProofResult) => void;
}

/** Schedules that find more than a look at messages that are alike, which takes the time of four: they run before it. */
const LIKELIER = 2;
/** Messages that failed with 5xx in the reference run and are tried alone. */
const MOST_AFTER_5XX = 3;
const NO_5XX = 'the receiver responded to none of the messages with 5xx, so that none was sent again';
const NO_5XX_AGAIN =
  'the receiver responded with 5xx in the reference run, and not to the same message again';
const FIX_FIRST = 'a run ends with the first counterexample: fix that, then run this again';
/**
 * Sends the messages in many ways, each from the start, and compares the states in which they end. Stops at the first counterexample:
 * what follows mostly has the same cause. Throws InputError when there is nothing to compare with.
 */
export function proveIdempotence(options: ProveOptions): Promise<void> {
  return new Proof(options).run();
}

class Proof {
  readonly #options: ProveOptions;
  readonly #runner: ProofRunner;
  readonly #ran = new Map<ScheduleCode, { schedules: number; ms: number }>();
  readonly #reported = new Set<ScheduleCode>();
  /** The messages of the run, without those that the receiver does not take. */
  #messages: readonly ProofMessage[] = [];
  #effective: ReadonlySet<ProofMessage> = new Set();

  constructor(options: ProveOptions) {
    this.#options = options;
    this.#runner = new ProofRunner(options);
  }

  async run(): Promise<void> {
    const { messages, onReference } = this.#options;
    const reference = await this.#timed('once', () => learnReference(this.#runner, messages));
    this.#messages = reference.messages;
    this.#effective = reference.effective;
    onReference(reference);
    const isSound = (await this.#proveAfter5xx(reference)) && (await this.#proveSchedules());
    if (!isSound) this.#reportRest('unsent', FIX_FIRST);
  }

  #isLeft(code: ScheduleCode): boolean {
    const { codes, skipped } = this.#options;
    return codes.includes(code) && !skipped.has(code) && !this.#reported.has(code);
  }

  async #proveOnce(): Promise<boolean> {
    if (!this.#isLeft('once')) return true;
    const lost = await this.#timed('once', () =>
      findLostMessage(this.#runner, this.#messages, this.#effective),
    );
    if (lost === undefined) return this.#pass('once');
    return this.#fail('once', lost.code, lostExample(lost));
  }

  async #proveAfter5xx({ failed, effectDespite5xx, reference }: Reference): Promise<boolean> {
    if (!this.#isLeft('after-5xx')) return true;
    if (failed.length === 0) return this.#skip('after-5xx', NO_5XX);
    const suspects = new Set([...(effectDespite5xx === undefined ? [] : [effectDespite5xx]), ...failed]);
    let hasRun = false;
    for (const message of [...suspects].slice(0, MOST_AFTER_5XX)) {
      const seen = await this.#timed('after-5xx', () => repeatAfter5xx(this.#runner, message));
      if (seen?.isRepeated === true) return this.#failAfter5xx(message, seen);
      hasRun ||= seen !== undefined;
    }
    // The state of the reference has an effect twice, unless what was seen there was another message's late effect.
    if (effectDespite5xx !== undefined) await repeatReference(this.#runner, this.#messages, reference);
    return hasRun ? this.#pass('after-5xx') : this.#skip('after-5xx', NO_5XX_AGAIN);
  }

  #failAfter5xx({ label, messageId }: ProofMessage, seen: After5xx): boolean {
    const { status = 500, expected, state } = seen;
    const requests = [status, 200].map((each, place): ShownRequest => {
      return { message: label, messageId, atMs: place, status: each };
    });
    return this.#fail('after-5xx', 'effect-despite-5xx', { schedule: 1, requests, expected, state });
  }

  async #proveSchedules(): Promise<boolean> {
    const { seed, schedules, lateMs, codes, onProgress, signal } = this.#options;
    const messages = this.#messages.map((message) => ({
      orderKeys: orderKeysOf(message.message),
      isEffective: this.#effective.has(message),
    }));
    const left = codes.filter((code) => this.#isLeft(code));
    const plan = planSchedules({ seed, schedules, lateMs, codes: left, messages });
    for (const [index, schedule] of plan.entries()) {
      signal.throwIfAborted();
      if (index === LIKELIER && !(await this.#proveOnce())) return false;
      onProgress(index, plan.length, schedule.code);
      const deviation = await this.#timed(schedule.code, () =>
        this.#runner.judge(schedule, { isCareful: true }),
      );
      if (deviation !== undefined) return this.#explain(schedule, deviation);
      if (!plan.slice(index + 1).some(({ code }) => code === schedule.code)) this.#pass(schedule.code);
    }
    onProgress(plan.length, plan.length);
    if (!(await this.#proveOnce())) return false;
    this.#reportRest('skipped', 'it is not among so few schedules: give --schedules 50');
    return true;
  }

  async #explain(found: Schedule, deviation: Deviation): Promise<boolean> {
    this.#options.onDeviation();
    const known = { messages: this.#messages, effective: this.#effective };
    const whole = { schedule: found, seen: deviation };
    const { schedule, seen } = await shrinkDeviation(this.#runner, whole, known);
    const fault = await diagnoseDeviation(this.#runner, schedule, seen);
    return this.#fail(found.code, fault, this.#example(schedule, seen));
  }

  #example({ number }: Schedule, { expected, state, execution }: Deviation): Counterexample {
    const [first] = execution.exchanges;
    const requests = execution.exchanges.map((exchange): ShownRequest => {
      const { label = '', messageId = '' } = this.#messages[exchange.message] ?? {};
      const { status, error } = exchange.response;
      return {
        message: label,
        messageId,
        atMs: Math.round(exchange.atMs - (first?.atMs ?? 0)),
        ...(status !== undefined && { status }),
        ...(error !== undefined && { error }),
        ...(exchange.tries > 1 && { tries: exchange.tries }),
        ...(exchange.killedAfterMs !== undefined && { killedAfterMs: Math.round(exchange.killedAfterMs) }),
      };
    });
    return { schedule: number, requests, expected, state };
  }

  async #timed<Value>(code: ScheduleCode, run: () => Promise<Value>): Promise<Value> {
    const { clock } = this.#options;
    const startedAt = clock.now();
    const { schedules, ms } = this.#ran.get(code) ?? { schedules: 0, ms: 0 };
    try {
      return await run();
    } finally {
      this.#ran.set(code, { schedules: schedules + 1, ms: ms + clock.now() - startedAt });
    }
  }

  #pass(check: ScheduleCode): true {
    this.#report({ check, outcome: 'passed' });
    return true;
  }

  #skip(check: ScheduleCode, reason: string): true {
    this.#report({ check, outcome: 'skipped', reason });
    return true;
  }

  #fail(check: ScheduleCode, code: IdempotenceFaultCode, counterexample: Counterexample): false {
    this.#report({ check, outcome: 'failed', fault: { code, ...IDEMPOTENCE_FAULTS[code] }, counterexample });
    return false;
  }

  #report(result: Omit<ProofResult, 'title' | 'schedules' | 'ms'>): void {
    const { check } = result;
    const { schedules, ms } = this.#ran.get(check) ?? { schedules: 0, ms: 0 };
    this.#reported.add(check);
    this.#options.onResult({ ...result, title: SCHEDULE_TITLES[check], schedules, ms: Math.round(ms) });
  }

  /** A code some of whose schedules ran is not proved. */
  #reportRest(outcome: 'skipped' | 'unsent', reason: string): void {
    const { codes, skipped } = this.#options;
    for (const check of codes) {
      const whySkipped = skipped.get(check);
      if (whySkipped !== undefined) this.#report({ check, outcome: 'skipped', reason: whySkipped });
      else if (!this.#reported.has(check)) this.#report({ check, outcome, reason });
    }
  }
}

function lostExample({ messages, expected, state }: LostMessage): Counterexample {
  const requests = messages.map(({ label: message, messageId }, place) => ({
    message,
    messageId,
    atMs: place,
    status: 200,
  }));
  return { schedule: 1, requests, expected, state };
}
