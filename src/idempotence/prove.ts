import type { Clock } from '../clock.ts';
import { HooksError } from '../errors.ts';
import { orderKeysOf } from '../message/outgoing-message.ts';
import { IDEMPOTENCE_FAULTS, type IdempotenceFaultCode } from './faults.ts';
import { planSchedules } from './plan/plan-schedules.ts';
import { scheduledMessages, SCHEDULE_TITLES, type Schedule, type ScheduleCode } from './plan/schedule.ts';
import { shrink, type Shrunk } from './plan/shrink.ts';
import type { Counterexample, ProofResult, ShownRequest } from './proof-result.ts';
import { diagnoseDeviation } from './run/diagnose-deviation.ts';
import { findLostMessage, type LostMessage } from './run/each-counts.ts';
import { likelyMessages } from './run/likely-messages.ts';
import { learnReference, repeatAfter5xx, type Reference } from './run/learn-reference.ts';
import { ProofRunner, withKillTimes, type Deviation } from './run/proof-runner.ts';
import type { ProofMessage, Subject } from './subject.ts';

export interface ProveOptions {
  readonly subject: Subject;
  /** False: to bring the subject back to the start, it is only started again. */
  readonly hasReset: boolean;
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
  readonly onProgress: (done: number, total: number) => void;
  /** Called when a schedule has ended in another state: what follows are smaller ones. */
  readonly onDeviation: () => void;
  /** Called for each code as soon as its result is known. */
  readonly onResult: (result: ProofResult) => void;
}

/** The most time for shrinking, and the most runs to see a race again. */
const SHRINKING_MS = 12_000;
const RACE_TRIES = 3;
const FIX_FIRST = 'a run ends with the first counterexample: fix that, then run this again';
/** Codes whose schedules hit a moment: the same schedule may pass the next time. */
const RACES: ReadonlySet<ScheduleCode> = new Set(['twice-at-once', 'answer-lost', 'interleaved', 'killed']);

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
    const isSound =
      (await this.#proveOnce()) && (await this.#proveAfter5xx(reference)) && (await this.#proveSchedules());
    if (!isSound) this.#reportRest('unsent', FIX_FIRST);
  }

  #isLeft(code: ScheduleCode): boolean {
    const { codes, skipped } = this.#options;
    return codes.includes(code) && !skipped.has(code) && !this.#reported.has(code);
  }

  async #proveOnce(): Promise<boolean> {
    if (!this.#isLeft('once')) return true;
    const lost = await this.#timed('once', () => findLostMessage(this.#runner, [...this.#effective]));
    if (lost === undefined) return this.#pass('once');
    return this.#fail('once', lost.code, lostExample(lost));
  }

  async #proveAfter5xx({ hasFailed, effectDespite5xx: seen }: Reference): Promise<boolean> {
    if (!this.#isLeft('after-5xx')) return true;
    if (!hasFailed) {
      const reason = 'the receiver responded to none of the messages with 5xx, so that none was sent again';
      this.#report({ check: 'after-5xx', outcome: 'skipped', reason });
      return true;
    }
    if (seen === undefined) return this.#pass('after-5xx');
    const alone = await this.#timed('after-5xx', () => repeatAfter5xx(this.#runner, seen.message));
    const { message, failed, expected, state } = alone ?? seen;
    const { label, messageId } = message;
    const requests = [failed.status ?? 500, 200].map((status, place): ShownRequest => {
      return { message: label, messageId, atMs: place, status };
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
      onProgress(index, plan.length);
      const deviation = await this.#timed(schedule.code, () => this.#runner.judge(schedule));
      if (deviation !== undefined) return this.#explain(schedule, deviation);
      if (!plan.slice(index + 1).some(({ code }) => code === schedule.code)) this.#pass(schedule.code);
    }
    onProgress(plan.length, plan.length);
    this.#reportRest('skipped', 'it is not among so few schedules: give --schedules 50');
    return true;
  }

  async #explain(found: Schedule, deviation: Deviation): Promise<boolean> {
    this.#options.onDeviation();
    const { schedule, seen } = await this.#shrunk(found, deviation);
    const fault = await diagnoseDeviation(this.#runner, schedule, seen);
    return this.#fail(found.code, fault, this.#example(schedule, seen));
  }

  async #shrunk(found: Schedule, deviation: Deviation): Promise<Shrunk<Deviation>> {
    const { clock } = this.#options;
    const until = clock.now() + SHRINKING_MS;
    let canGoOn = true;
    const run = async (smaller: Schedule): Promise<Deviation | undefined> => {
      try {
        return await this.#judgeRace(smaller);
      } catch (error) {
        if (!(error instanceof HooksError)) throw error;
        // A receiver that a kill has left unable to start cannot be brought back to the start by a reset that needs it.
        canGoOn = false;
        return undefined;
      }
    };
    return shrink(
      { schedule: withKillTimes(found, deviation.execution), seen: deviation },
      {
        run,
        likely: likelyMessages(found, deviation, { messages: this.#messages, effective: this.#effective }),
        hasTime: () => canGoOn && clock.now() < until,
      },
    );
  }

  async #judgeRace(schedule: Schedule): Promise<Deviation | undefined> {
    const tries = RACES.has(schedule.code) && scheduledMessages(schedule).length === 1 ? RACE_TRIES : 1;
    for (let tried = 1; ; tried++) {
      const deviation = await this.#runner.judge(schedule);
      if (deviation !== undefined || tried >= tries) return deviation;
    }
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
