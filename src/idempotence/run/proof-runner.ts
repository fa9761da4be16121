import { sleep, type Clock } from '../../clock.ts';
import { scheduledMessages, type Schedule, type Wave } from '../plan/schedule.ts';
import { referenceWaves } from '../plan/plan-schedules.ts';
import { differingLines, hasMore, isSameState } from '../state-difference.ts';
import type { ProofMessage, Subject } from '../subject.ts';
import { ScheduleExecution, type Execution, type ExecutionFailure } from './schedule-execution.ts';
import { notEmpty, notReset, stillChanging } from './reference-errors.ts';
import { READ_GAP_MS, settledState, type SettledState, type SettleOptions } from './settled-state.ts';

export interface RunnerOptions {
  readonly subject: Subject;
  /** Whether `--reset` is given. Without it, a reset only restarts the receiver. */
  readonly hasReset: boolean;
  /** Whether requests carry a signature. */
  readonly isSigned: boolean;
  /** Longest time that a state may take to settle, in ms. */
  readonly stateTimeoutMs: number;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** A run of a schedule that ended in a wrong state or failed. */
export interface Deviation {
  readonly execution: Execution;
  readonly expected: string;
  readonly state: string;
  readonly kind: 'state' | 'unsettled' | ExecutionFailure['kind'];
}

type IsState = (state: string) => boolean;

/** Time for a wrong state to become correct: a worker of the receiver may be slow. */
const PATIENCE_MS = 1_500;
/** Replaces PATIENCE_MS if the state did not change after the last response of the reference run. */
const SHORT_PATIENCE_MS = 400;
/**
 * Replaces PATIENCE_MS in runs that decide a verdict, because a state that is only late on a busy machine must not count as
 * wrong. Runs that only shorten a counterexample keep PATIENCE_MS.
 */
const CAREFUL_MS = 4_000;
/**
 * Replaces CAREFUL_MS as the time to wait for the right state if the state lacks none of the expected effects but has
 * others: a receiver that is slow has too few effects, not too many.
 */
const SURPLUS_MS = 1_000;
/** Time that the expected state of a counterexample must stay the same if the receiver works after its response. */
const VERDICT_QUIET_MS = 5_000;
/** Minimum time to retry, before a verdict, a message whose first request is still in progress according to the receiver. */
export const BUSY_MS = 10_000;
/** Number of resets to try: work of an earlier schedule may still change the state. */
const RESETS = 3;
/** Assumed latency of a message whose latency was not measured, in ms. */
const USUAL_LATENCY_MS = 50;

/**
 * Runs schedules of requests. Resets the receiver before each schedule, and compares the state of the receiver after each.
 */
export class ProofRunner {
  readonly options: RunnerOptions;
  readonly #references = new Map<string, Promise<string>>();
  readonly #latencies = new Map<ProofMessage, number>();
  #messages: readonly ProofMessage[] = [];
  #base: string | undefined;
  #quietMs = READ_GAP_MS;
  #patienceMs = PATIENCE_MS;
  /** Whether the receiver may still work on a message after its response. */
  worksLater = false;

  constructor(options: RunnerOptions) {
    this.options = options;
  }

  /** State of the receiver before the proof sends anything. */
  get base(): string {
    if (this.#base === undefined) throw new TypeError('The state is asked for before it was read');
    return this.#base;
  }

  /**
   * Sets what the reference run showed: the messages of all schedules, their latencies and the states before and after them.
   */
  learn(known: {
    readonly base: string;
    readonly messages: readonly ProofMessage[];
    readonly reference: string;
    readonly latencies: ReadonlyMap<ProofMessage, number>;
    /** Time from the last response to the last change of the state. */
    readonly lagMs: number;
    readonly worksLater: boolean;
  }): void {
    this.worksLater = known.worksLater;
    this.#base = known.base;
    this.#messages = known.messages;
    for (const [message, ms] of known.latencies) this.#latencies.set(message, ms);
    this.#quietMs = Math.max(READ_GAP_MS, Math.min(2 * known.lagMs, this.options.stateTimeoutMs / 2));
    this.#patienceMs = known.lagMs === 0 ? SHORT_PATIENCE_MS : Math.max(PATIENCE_MS, 3 * this.#quietMs);
    this.#references.set([...known.messages.keys()].join(), Promise.resolve(known.reference));
  }

  /**
   * Runs a schedule after a reset. Returns undefined if it ends in the expected state. `isCareful`: gives a slow receiver
   * more time, because a verdict depends on this run.
   */
  async judge(schedule: Schedule, { isCareful = false } = {}): Promise<Deviation | undefined> {
    const expected = await this.referenceOf(scheduledMessages(schedule));
    await this.reset();
    const execution = await this.send(this.#messages, schedule, isCareful ? BUSY_MS : 0);
    if (execution.failure !== undefined) {
      const state = execution.failure.kind === 'not-taken' ? (await this.settle()).state : '';
      return { execution, expected, state, kind: execution.failure.kind };
    }
    const wanted: IsState = (read) => isSameState(expected, read);
    const isSurplus: IsState = (read) => differingLines(expected, read).missing.length === 0;
    const { state, isSettled } = await (isCareful
      ? this.settleCarefully(wanted, isSurplus)
      : this.settle({ patienceMs: (read) => (wanted(read) ? 0 : this.#patienceMs) }));
    if (isSettled && isSameState(expected, state)) return undefined;
    if (!isSettled && !hasMore(expected, state)) {
      throw stillChanging(this.options.stateTimeoutMs, schedule.code);
    }
    return { execution, expected, state, kind: isSettled ? 'state' : 'unsettled' };
  }

  /**
   * Verifies the expected state of a counterexample if the receiver works after its response: sends the messages once, and
   * waits longer than usual. Throws InputError if the receiver does not reach the expected state.
   */
  async confirm(schedule: Schedule, expected: string): Promise<void> {
    if (!this.worksLater) return;
    const { stateTimeoutMs } = this.options;
    const places = scheduledMessages(schedule).toSorted((one, other) => one - other);
    await this.reset();
    await this.send(this.#messages, { waves: referenceWaves(places) });
    const quietMs = Math.min(Math.max(VERDICT_QUIET_MS, 2 * this.#quietMs), stateTimeoutMs);
    const { state, isSettled } = await this.settle({ quietMs });
    if (!isSettled || !isSameState(state, expected)) throw stillChanging(stateTimeoutMs, 'once');
  }

  /**
   * Returns the state after a run with only these messages, each sent once in the original order. Runs each selection only
   * once.
   */
  async referenceOf(messages: readonly number[]): Promise<string> {
    const places = messages.toSorted((one, other) => one - other);
    const key = places.join();
    const known = this.#references.get(key);
    if (known !== undefined) return known;
    const state = this.stateAfter(this.messagesAt(places));
    this.#references.set(key, state);
    return state;
  }

  messagesAt(places: readonly number[]): readonly ProofMessage[] {
    return places.flatMap((place) => this.#messages[place] ?? []);
  }

  /**
   * Returns the state after a reset and these messages, each sent once. Waits longer for a `wanted` state, if that is given.
   */
  async stateAfter(messages: readonly ProofMessage[], wanted?: IsState): Promise<string> {
    await this.reset();
    await this.send(messages, { waves: referenceWaves([...messages.keys()]) });
    const settled = wanted === undefined ? this.settle() : this.settleCarefully(wanted);
    return (await settled).state;
  }

  /**
   * Returns the state after each of these messages. Resets once, then sends each message when the work on the message before
   * it is done.
   */
  async statesAfterEach(messages: readonly ProofMessage[]): Promise<readonly string[]> {
    await this.reset();
    const states: string[] = [];
    for (const message of messages) {
      await this.send([message], { waves: referenceWaves([0]) });
      states.push((await this.settle({ quietMs: 2 * this.#quietMs })).state);
    }
    return states;
  }

  send(messages: readonly ProofMessage[], schedule: Pick<Schedule, 'waves'>, busyMs = 0): Promise<Execution> {
    const { subject, clock, signal } = this.options;
    const latencyMs = (place: number): number => this.latencyOf(messages[place]);
    return new ScheduleExecution(schedule, { subject, messages, latencyMs, busyMs, clock, signal }).run();
  }

  latencyOf(message: ProofMessage | undefined): number {
    return (message && this.#latencies.get(message)) ?? USUAL_LATENCY_MS;
  }

  settle(how: Partial<Pick<SettleOptions, 'quietMs' | 'patienceMs'>> = {}): Promise<SettledState> {
    const { subject, clock, signal, stateTimeoutMs: timeoutMs } = this.options;
    const quietMs = this.#quietMs;
    return settledState({ read: subject.readState, clock, signal, timeoutMs, quietMs, ...how });
  }

  /**
   * Waits longer than usual for a `wanted` state. If the longer wait was needed, the receiver works after its response, so
   * later runs wait longer too.
   */
  async settleCarefully(wanted: IsState, isSurplus: IsState = () => false): Promise<SettledState> {
    const patienceMs = (read: string): number =>
      wanted(read) ? 0 : Math.max(isSurplus(read) ? SURPLUS_MS : CAREFUL_MS, this.#patienceMs);
    const settled = await this.settle({ patienceMs });
    if (wanted(settled.state) && settled.lastChangeMs > this.#quietMs) {
      this.#quietMs = Math.min(2 * settled.lastChangeMs, this.options.stateTimeoutMs / 2);
      this.#patienceMs = Math.max(PATIENCE_MS, 3 * this.#quietMs);
    }
    return settled;
  }

  /** Resets the receiver. Throws InputError if its state is then not the one before the reference run. */
  async reset(): Promise<void> {
    const { subject, clock, signal } = this.options;
    let state = '';
    for (let tries = 0; tries < RESETS; tries++) {
      signal.throwIfAborted();
      if (tries > 0) await sleep(clock, PATIENCE_MS, signal);
      await subject.reset();
      signal.throwIfAborted();
      if (this.#base === undefined) return;
      state = await subject.readState();
      if (isSameState(this.#base, state)) return;
    }
    throw this.options.hasReset ? notReset(this.base, state) : notEmpty(this.base, state);
  }
}

/** Returns the schedule with each kill at the exact time at which this run executed it. */
export function withKillTimes(schedule: Schedule, { exchanges }: Execution): Schedule {
  const killed = exchanges.filter(({ killedAfterMs }) => killedAfterMs !== undefined);
  let next = 0;
  return {
    ...schedule,
    waves: schedule.waves.map((wave): Wave => {
      if (wave.kill === undefined) return wave;
      const ms = killed[next]?.killedAfterMs;
      next += wave.messages.length;
      return wave.kill.when === 'after' || ms === undefined ? wave : { ...wave, kill: { when: 'at', ms } };
    }),
  };
}
