import { sleep, type Clock } from '../../clock.ts';
import { scheduledMessages, type Schedule, type Wave } from '../plan/schedule.ts';
import { referenceWaves } from '../plan/plan-schedules.ts';
import { differingLines, hasMore, isSameState } from '../state-difference.ts';
import type { ProofMessage, Subject } from '../subject.ts';
import { execute, type Execution, type ExecutionFailure } from './execute.ts';
import { notEmpty, notReset, stillChanging } from './reference-errors.ts';
import { READ_GAP_MS, settledState, type SettledState, type SettleOptions } from './settled-state.ts';

export interface RunnerOptions {
  readonly subject: Subject;
  /** False: to bring the subject back to the start, it is only started again. */
  readonly hasReset: boolean;
  /** Whether requests carry a signature. */
  readonly isSigned: boolean;
  /** How long a state may take to settle. Ms. */
  readonly stateTimeoutMs: number;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** What a schedule ended in, where that is not what it must end in. */
export interface Deviation {
  readonly execution: Execution;
  readonly expected: string;
  readonly state: string;
  readonly kind: 'state' | 'unsettled' | ExecutionFailure['kind'];
}

type IsState = (state: string) => boolean;

/** How long a state that differs gets to become what it should: a worker of the receiver may be slow. */
const PATIENCE_MS = 1_500;
/** The same where every effect of the reference run was there with its response. */
const SHORT_PATIENCE_MS = 400;
/** The same before a verdict: a busy machine must not make one. Only the first run that differs waits this long, not each smaller one. */
const CAREFUL_MS = 4_000;
/** The same where nothing is missing: more than there should be is not what a slow receiver has. */
const SURPLUS_MS = 1_000;
/** How long the state of what a counterexample must end in must stay the same where the receiver works after it responds. */
const VERDICT_QUIET_MS = 5_000;
/** How long a message is sent again while the receiver says that the first request is at work, before a verdict. */
export const BUSY_MS = 10_000;
/** How often the reset is tried when work of an earlier schedule still changes the state. */
const RESETS = 3;
/** Until the latency of a message is known. */
const USUAL_LATENCY_MS = 50;

/** Runs schedules, each from the start, and compares the states in which they end. */
export class ProofRunner {
  readonly options: RunnerOptions;
  readonly #references = new Map<string, Promise<string>>();
  readonly #latencies = new Map<ProofMessage, number>();
  #messages: readonly ProofMessage[] = [];
  #base: string | undefined;
  #quietMs = READ_GAP_MS;
  #patienceMs = PATIENCE_MS;
  #worksLater = false;

  constructor(options: RunnerOptions) {
    this.options = options;
  }

  /** The state before anything is sent. */
  get base(): string {
    if (this.#base === undefined) throw new TypeError('The state is asked for before it was read');
    return this.#base;
  }

  /** Whether the receiver may work after it responds. */
  get worksLater(): boolean {
    return this.#worksLater;
  }

  /** Sets what schedules are about, and the state in which all messages, each sent once, end. */
  learn(known: {
    readonly base: string;
    readonly messages: readonly ProofMessage[];
    readonly reference: string;
    readonly latencies: ReadonlyMap<ProofMessage, number>;
    /** How long after the last response the state still changed. */
    readonly lagMs: number;
    /** Whether the receiver may work after it responds. */
    readonly worksLater: boolean;
  }): void {
    this.#worksLater = known.worksLater;
    this.#base = known.base;
    this.#messages = known.messages;
    for (const [message, ms] of known.latencies) this.#latencies.set(message, ms);
    this.#quietMs = Math.max(READ_GAP_MS, Math.min(2 * known.lagMs, this.options.stateTimeoutMs / 2));
    this.#patienceMs = known.lagMs === 0 ? SHORT_PATIENCE_MS : Math.max(PATIENCE_MS, 3 * this.#quietMs);
    this.#references.set([...known.messages.keys()].join(), Promise.resolve(known.reference));
  }

  /**
   * Runs a schedule from the start; undefined when it ends in the state of the reference. `isCareful`: a verdict depends on it, so that a
   * receiver that is slow today gets the time it needs.
   */
  async judge(schedule: Schedule, { isCareful = false } = {}): Promise<Deviation | undefined> {
    const messages = [...new Set(schedule.waves.flatMap((wave) => wave.messages))];
    const expected = await this.referenceOf(messages);
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

  /** Sees that a state is that of its messages, each sent once, also where the receiver works later. Throws InputError when it is not. */
  async confirm(schedule: Schedule, expected: string): Promise<void> {
    if (!this.#worksLater) return;
    const { stateTimeoutMs } = this.options;
    const places = scheduledMessages(schedule).toSorted((one, other) => one - other);
    await this.reset();
    await this.send(this.#messages, { waves: referenceWaves(places) });
    const quietMs = Math.min(Math.max(VERDICT_QUIET_MS, 2 * this.#quietMs), stateTimeoutMs);
    const { state, isSettled } = await this.settle({ quietMs });
    if (!isSettled || !isSameState(state, expected)) throw stillChanging(stateTimeoutMs, 'once');
  }

  /** The state after some of the messages, each sent once and in their order. */
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

  /** The state after these messages, each sent once and in this order, from the start. Waits for the one that is `wanted`, if any. */
  async stateAfter(messages: readonly ProofMessage[], wanted?: IsState): Promise<string> {
    await this.reset();
    await this.send(messages, { waves: referenceWaves([...messages.keys()]) });
    const settled = wanted === undefined ? this.settle() : this.settleCarefully(wanted);
    return (await settled).state;
  }

  /** The states after each of these messages, sent one by one from the start, each when the work on the one before is done. */
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
    return execute(schedule, { subject, messages, latencyMs, busyMs, clock, signal });
  }

  latencyOf(message: ProofMessage | undefined): number {
    return (message && this.#latencies.get(message)) ?? USUAL_LATENCY_MS;
  }

  settle(how: Partial<Pick<SettleOptions, 'quietMs' | 'patienceMs'>> = {}): Promise<SettledState> {
    const { subject, clock, signal, stateTimeoutMs: timeoutMs } = this.options;
    const quietMs = this.#quietMs;
    return settledState({ read: subject.readState, clock, signal, timeoutMs, quietMs, ...how });
  }

  /** Waits for a state longer than usual. When that was needed, later runs wait longer too: the receiver works after it responds. */
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

  /** Brings the state back to the start, and sees that it is. Throws InputError when it is not. */
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

/** The same waves with every kill at the very time at which it came. */
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
