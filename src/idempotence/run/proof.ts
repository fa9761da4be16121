import { messageOf } from '../../errors.ts';
import { orderKeysOf } from '../../message/outgoing-message.ts';
import { deviationExample, lostExample, repeatedExample } from '../counterexamples.ts';
import { IDEMPOTENCE_MISTAKES, type IdempotenceMistakeCode } from '../mistakes.ts';
import { areAllOfOneUser, planSchedules } from '../plan/plan-schedules.ts';
import { SCHEDULE_TITLES, type Schedule, type ScheduleCode } from '../plan/schedule.ts';
import type { Counterexample, ProofResult } from '../proof-result.ts';
import type { ProofMessage } from '../subject.ts';
import { repeatAfter5xx } from './after-5xx.ts';
import { countBetween, diagnoseDeviation } from './diagnose-deviation.ts';
import { findLostMessage } from './lost-message.ts';
import { learnReference, repeatReference, type Reference } from './learn-reference.ts';
import { findLostInReference } from './lost-in-reference.ts';
import { ProofRunner, type Deviation, type RunnerOptions } from './proof-runner.ts';
import { lockKept } from './reference-errors.ts';
import { shrinkDeviation } from './shrink-deviation.ts';

export interface ProofOptions extends RunnerOptions {
  readonly messages: readonly ProofMessage[];
  /** Codes to prove, in the order of SCHEDULE_CODES. */
  readonly codes: readonly ScheduleCode[];
  readonly seed: number;
  readonly schedules: number;
  readonly lateMs: number;
  /** Codes whose schedules cannot run in this proof, each with the reason. */
  readonly skipped: ReadonlyMap<ScheduleCode, string>;
  readonly onReference: (reference: Reference) => void;
  /**
   * Called before each schedule with the number of finished schedules and its code, and after the last one without a code.
   */
  readonly onProgress: (done: number, total: number, code?: ScheduleCode) => void;
  /** Called when a schedule has ended in a wrong state. Shrinking follows. */
  readonly onDeviation: () => void;
  /** Called for each code as soon as its result is known. */
  readonly onResult: (result: ProofResult) => void;
}

/**
 * Number of schedules to run before the search for lost messages: these schedules find more mistakes, and the search takes
 * as long as four of them.
 */
const SCHEDULES_BEFORE_ONCE = 2;
/** Maximum number of messages to repeat, each alone, because they got a 5xx in the reference run. */
const MOST_AFTER_5XX = 3;
/** Maximum number of times to send a message until it gets a 5xx again, to confirm that its effect is repeated. */
const TRIES_AFTER_5XX = 7;
const BURST_SIZE = 6;
/**
 * Average latency above which bursts are small: a slow receiver that handles requests one by one would exceed the timeout.
 */
const SLOW_MS = 250;
const NO_5XX = 'the receiver never responded with 5xx, so no message was sent again';
const NO_5XX_AGAIN =
  'the receiver responded with 5xx in the reference run, but not to the same message again';
const ONE_USER = 'all messages are of one user, whose order stays: give messages of several users';
const FIX_FIRST = 'a run ends with the first counterexample: fix that, then run this again';

/** One proof: runs the schedules and reports the results. */
export class Proof {
  readonly #options: ProofOptions;
  readonly #runner: ProofRunner;
  readonly #ran = new Map<ScheduleCode, { schedules: number; ms: number }>();
  readonly #reported = new Set<ScheduleCode>();

  constructor(options: ProofOptions) {
    this.#options = options;
    this.#runner = new ProofRunner(options);
  }

  /** Runs the proof. Reports a result for each code, even if the proof throws. */
  async run(): Promise<void> {
    try {
      await this.#prove();
    } catch (error) {
      this.#reportUntried(this.#options.signal.aborted ? 'interrupted' : messageOf(error));
      throw error;
    }
  }

  async #prove(): Promise<void> {
    const { messages, onReference } = this.#options;
    const reference = await this.#timed('once', () => learnReference(this.#runner, messages));
    onReference(reference);
    const isSound = (await this.#proveAfter5xx(reference)) && (await this.#proveSchedules(reference));
    if (!isSound) this.#reportRest('unsent', FIX_FIRST);
  }

  #isLeft(code: ScheduleCode): boolean {
    const { codes, skipped } = this.#options;
    return codes.includes(code) && !skipped.has(code) && !this.#reported.has(code);
  }

  /**
   * Reports that `once` failed if the reference state lacks a message, even if `once` was not chosen: no other state can be
   * compared with such a reference.
   */
  async #proveReference(reference: Reference): Promise<boolean> {
    const lost = await this.#timed('once', () => findLostInReference(this.#runner, reference));
    return lost === undefined || this.#fail('once', lost.code, lostExample(lost));
  }

  async #proveOnce(reference: Reference): Promise<boolean> {
    if (!this.#isLeft('once')) return true;
    const lost = await this.#timed('once', () => findLostMessage(this.#runner, reference));
    if (lost === undefined) return this.#pass('once');
    return this.#fail('once', lost.code, lostExample(lost));
  }

  async #proveAfter5xx(learned: Reference): Promise<boolean> {
    const { messages: taken, failed, effectDespite5xx, reference, locked } = learned;
    const isLeft = this.#isLeft('after-5xx');
    if (locked !== undefined) {
      const { message, response } = locked;
      if (!isLeft) throw lockKept(message);
      const example = repeatedExample(message, [response.status ?? 500, 409], { expected: '', state: '' });
      return this.#fail('after-5xx', 'keeps-lock', example);
    }
    if (!(await this.#proveReference(learned))) return false;
    const suspects = new Set([...(effectDespite5xx === undefined ? [] : [effectDespite5xx]), ...failed]);
    const tries = effectDespite5xx === undefined ? 1 : TRIES_AFTER_5XX;
    let hasRun = false;
    for (const message of isLeft ? [...suspects].slice(0, MOST_AFTER_5XX) : []) {
      const seen = await this.#timed('after-5xx', () => repeatAfter5xx(this.#runner, message, tries));
      if (seen?.mistake !== undefined) {
        return this.#fail('after-5xx', seen.mistake, repeatedExample(message, [seen.status, 200], seen));
      }
      hasRun ||= seen !== undefined;
    }
    // If the message that got a 5xx had its effect twice, the reference state is wrong, and a repetition of the reference
    // ends in another state. If its second effect was in fact a late effect of another message, the repetition ends in the
    // same state.
    if (effectDespite5xx !== undefined) {
      const { error } = await repeatReference(this.#runner, { taken, failed }, reference);
      if (error !== undefined) throw error;
    }
    if (!isLeft) return true;
    const whyNot = failed.length === 0 ? NO_5XX : NO_5XX_AGAIN;
    return hasRun ? this.#pass('after-5xx') : this.#skip('after-5xx', whyNot);
  }

  async #proveSchedules(reference: Reference): Promise<boolean> {
    const { seed, schedules, lateMs, codes, onProgress, signal } = this.#options;
    const messages = reference.messages.map((message) => ({
      orderKeys: orderKeysOf(message.message),
      isEffective: reference.effective.has(message),
    }));
    if (this.#isLeft('interleaved') && areAllOfOneUser(messages)) this.#skip('interleaved', ONE_USER);
    const left = codes.filter((code) => this.#isLeft(code));
    const ms = reference.messages.reduce((sum, message) => sum + this.#runner.latencyOf(message), 0);
    const burst = ms > SLOW_MS * messages.length ? 2 : BURST_SIZE;
    const plan = planSchedules({ seed, schedules, lateMs, codes: left, messages, burst });
    for (const [index, schedule] of plan.entries()) {
      signal.throwIfAborted();
      if (index === SCHEDULES_BEFORE_ONCE && !(await this.#proveOnce(reference))) return false;
      onProgress(index, plan.length, schedule.code);
      const deviation = await this.#timed(schedule.code, () =>
        this.#runner.judge(schedule, { isCareful: true }),
      );
      if (deviation !== undefined) return this.#explain(schedule, deviation, reference);
      if (!plan.slice(index + 1).some(({ code }) => code === schedule.code)) this.#pass(schedule.code);
    }
    onProgress(plan.length, plan.length);
    if (!(await this.#proveOnce(reference))) return false;
    this.#reportRest('skipped', 'too few schedules to include it: give --schedules 50');
    return true;
  }

  async #explain(found: Schedule, deviation: Deviation, known: Reference): Promise<boolean> {
    this.#options.onDeviation();
    const whole = { schedule: found, seen: deviation };
    const { schedule, seen } = await shrinkDeviation(this.#runner, whole, known);
    const isOfState = seen.kind === 'state' || seen.kind === 'unsettled';
    if (isOfState) await this.#runner.confirm(schedule, seen.expected);
    const mistake = await diagnoseDeviation(this.#runner, schedule, seen);
    const others = countBetween(schedule);
    const says =
      mistake === 'remembers-last' && others > 1 ? `it forgets a message after ${others} others` : undefined;
    return this.#fail(found.code, mistake, deviationExample(schedule, seen, known.messages), says);
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

  /** Reports that a code failed. `says` replaces the sentence of IDEMPOTENCE_MISTAKES about the receiver. */
  #fail(
    check: ScheduleCode,
    code: IdempotenceMistakeCode,
    counterexample: Counterexample,
    says: string = IDEMPOTENCE_MISTAKES[code].says,
  ): false {
    const mistake = { code, ...IDEMPOTENCE_MISTAKES[code], says };
    this.#report({ check, outcome: 'failed', mistake, counterexample });
    return false;
  }

  #report(result: Omit<ProofResult, 'title' | 'schedules' | 'ms'>): void {
    const { check } = result;
    const { schedules, ms } = this.#ran.get(check) ?? { schedules: 0, ms: 0 };
    this.#reported.add(check);
    this.#options.onResult({ ...result, title: SCHEDULE_TITLES[check], schedules, ms: Math.round(ms) });
  }

  /**
   * Reports each check that has no result yet: a check that cannot run as skipped, any other check with `outcome`, even if
   * some of its schedules ran.
   */
  #reportRest(outcome: 'skipped' | 'unsent', reason: string): void {
    const { codes, skipped } = this.#options;
    for (const check of codes) {
      const whySkipped = skipped.get(check);
      if (whySkipped !== undefined) this.#report({ check, outcome: 'skipped', reason: whySkipped });
      else if (!this.#reported.has(check)) this.#report({ check, outcome, reason });
    }
  }

  #reportUntried(reason: string): void {
    const { codes, onResult } = this.#options;
    for (const check of codes) {
      if (this.#reported.has(check)) continue;
      onResult({ check, title: SCHEDULE_TITLES[check], outcome: 'unsent', schedules: 0, ms: 0, reason });
    }
  }
}
