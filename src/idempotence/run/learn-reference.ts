import { sleep } from '../../clock.ts';
import type { InputError } from '../../errors.ts';
import { referenceWaves } from '../plan/plan-schedules.ts';
import { differenceText, isSameState } from '../state-difference.ts';
import type { ProofMessage, ProofResponse } from '../subject.ts';
import {
  anotherState,
  nothingTaken,
  receiverDied,
  stillChanging,
  unchanged,
  unreachable,
  unstable,
} from './reference-errors.ts';
import { READ_GAP_MS } from './settled-state.ts';
import { BUSY_MS, type ProofRunner } from './proof-runner.ts';

/** Results of the reference run. */
export interface Reference {
  /** Messages that the receiver accepted in the reference run. */
  readonly messages: readonly ProofMessage[];
  readonly leftOut: readonly LeftOut[];
  /**
   * Messages that changed the state of the receiver in the reference run. All accepted messages if the state still changed
   * after the last response.
   */
  readonly effective: ReadonlySet<ProofMessage>;
  /** Messages that got a 5xx before the receiver accepted them. */
  readonly failed: readonly ProofMessage[];
  /** A message that seems to have had its effect twice: with the 5xx, and again on the retry. */
  readonly effectDespite5xx: ProofMessage | undefined;
  /** The state after all messages have been sent once. */
  readonly reference: string;
  /** A message that got a 5xx, and then 409 on every retry, because the receiver keeps its lock after a failure. */
  readonly locked?: LeftOut | undefined;
  /** Time to reset, send all messages and read the state, in ms. */
  readonly runMs: number;
}

/** A message that the receiver does not accept, with the response. */
export interface LeftOut {
  readonly message: ProofMessage;
  readonly response: ProofResponse;
}

/** Time to watch the state before the first message: a clock that shows seconds changes within it. */
const STABLE_MS = 1_100;
/**
 * Time for which the state must stay unchanged before the reference run counts as complete: longer than the 0.5 s in which a
 * background worker of the receiver often polls.
 */
const REFERENCE_QUIET_MS = 1_000;
/** Maximum number of messages after each of which the state is read, because each read runs the command of `--state`. */
export const MOST_LOOKED_AT = 24;

/**
 * Sends each message once (the reference run), repeats that, and compares the two states. Throws InputError if nothing can
 * be proved: the receiver cannot be reached, or its state changes by itself, never changes, or differs after the repetition.
 */
export async function learnReference(
  runner: ProofRunner,
  messages: readonly ProofMessage[],
): Promise<Reference> {
  await runner.reset();
  const base = await stableState(runner);
  const learner = new Learner(runner, base);
  for (const message of messages) await learner.learn(message);
  const { taken, latencies, leftOut, effective, locked } = learner;
  const learned = { messages: taken, leftOut, effective };
  if (locked !== undefined) {
    return {
      ...learned,
      failed: learner.failed,
      effectDespite5xx: undefined,
      reference: '',
      locked,
      runMs: 0,
    };
  }
  const reference = await learner.finish();
  const { lagMs, worksLater } = learner;
  runner.learn({ base, messages: taken, reference, latencies, lagMs, worksLater });
  const { clock } = runner.options;
  const startedAt = clock.now();
  const repeated = await repeatReference(runner, learner, reference);
  const runMs = clock.now() - startedAt;
  const failed = [...new Set([...learner.failed, ...repeated.failed])];
  const { error } = repeated;
  if (error !== undefined && failed.length === 0) throw error;
  const effectDespite5xx = learner.effectDespite5xx ?? (error && failed[0]);
  return { ...learned, failed, effectDespite5xx, reference, locked: repeated.locked, runMs };
}

/** Reads the state three times before anything is sent. Throws InputError if it changes. */
async function stableState({ options: { subject, clock, signal } }: ProofRunner): Promise<string> {
  const first = await subject.readState();
  for (const ms of [READ_GAP_MS, STABLE_MS - READ_GAP_MS]) {
    await sleep(clock, ms, signal);
    signal.throwIfAborted();
    const next = await subject.readState();
    if (!isSameState(next, first)) throw unstable(first, next);
  }
  return first;
}

/** Sends each message once, and notes the responses, the latencies and the changes of the state. */
class Learner {
  readonly taken: ProofMessage[] = [];
  readonly leftOut: LeftOut[] = [];
  readonly effective = new Set<ProofMessage>();
  readonly latencies = new Map<ProofMessage, number>();
  readonly failed: ProofMessage[] = [];
  effectDespite5xx: ProofMessage | undefined;
  locked: LeftOut | undefined;
  lagMs = 0;
  #isAccepted = false;
  readonly #runner: ProofRunner;
  readonly #base: string;
  #state: string;

  constructor(runner: ProofRunner, base: string) {
    this.#runner = runner;
    this.#base = base;
    this.#state = base;
  }

  /** Whether the receiver may still work on a message after its response. */
  get worksLater(): boolean {
    return this.#isAccepted || this.lagMs > 0;
  }

  async learn(message: ProofMessage): Promise<void> {
    const { subject, signal } = this.#runner.options;
    const first = await subject.send(message);
    signal.throwIfAborted();
    const isServerError = first.kind === 'failing' && (first.status ?? 0) >= 500;
    const failedState = isServerError ? (await this.#runner.settle()).state : this.#state;
    const response = await this.#lastResponse(message, first);
    if (isServerError && response.status === 409) this.locked ??= { message, response: first };
    if (response.kind !== 'taken') return this.#leaveOut(message, response);
    this.#isAccepted ||= response.status === 202;
    this.taken.push(message);
    this.latencies.set(message, response.ms);
    if (isServerError) this.failed.push(message);
    if (this.taken.length > MOST_LOOKED_AT) return;
    // One read shows the effect, unless the receiver works after its response. The reads of finish() detect that.
    const state = isServerError ? (await this.#runner.settle()).state : await subject.readState();
    const isRepeated = !isSameState(failedState, this.#state) && !isSameState(state, failedState);
    if (isServerError && isRepeated) this.effectDespite5xx ??= message;
    if (!isSameState(state, this.#state)) this.effective.add(message);
    this.#state = state;
  }

  /** Returns the state after all messages. Throws InputError if none was accepted, or if the state did not change. */
  async finish(): Promise<string> {
    if (this.taken.length === 0) {
      const responses = this.leftOut.map(({ response }) => response);
      throw nothingTaken(responses, this.#runner.options);
    }
    const changed = (state: string): boolean => !isSameState(state, this.#base);
    const startedAt = this.#runner.options.clock.now();
    let { state, isSettled, lastChangeMs } = await this.#runner.settle({ quietMs: REFERENCE_QUIET_MS });
    if (!changed(state)) ({ state, isSettled, lastChangeMs } = await this.#waitForChange(changed, startedAt));
    if (!changed(state)) throw unchanged(this.taken.length, state);
    if (!isSettled) throw stillChanging(this.#runner.options.stateTimeoutMs, 'once');
    this.lagMs = lastChangeMs;
    if (this.lagMs > 0) for (const message of this.taken) this.effective.add(message);
    return state;
  }

  /** Returns the last response to a message after the retries of a sender. */
  async #lastResponse(message: ProofMessage, first: ProofResponse): Promise<ProofResponse> {
    if (first.kind !== 'failing' && first.kind !== 'none') return first;
    const response = await this.#again(message);
    const isLocked = (first.status ?? 0) >= 500 && response.status === 409;
    return isLocked ? this.#again(message, BUSY_MS) : response;
  }

  async #again(message: ProofMessage, busyMs = 0): Promise<ProofResponse> {
    const { exchanges } = await this.#runner.send([message], { waves: referenceWaves([0]) }, busyMs);
    return exchanges.at(-1)?.response ?? { kind: 'none', ms: 0 };
  }

  #leaveOut(message: ProofMessage, response: ProofResponse): void {
    const gone = this.#runner.options.subject.gone();
    if (gone !== undefined) throw receiverDied(gone, message);
    const isUnreachable = response.kind === 'none' && UNREACHABLE.has(response.error ?? '');
    if (isUnreachable && this.taken.length === 0) throw unreachable(response);
    this.leftOut.push({ message, response });
  }

  /** Waits up to `stateTimeoutMs` for a change: a worker of the receiver may sleep longer than the usual wait. */
  async #waitForChange(changed: (state: string) => boolean, startedAt: number) {
    const { clock, signal, subject, stateTimeoutMs } = this.#runner.options;
    const waitsFrom = clock.now();
    while (clock.now() - waitsFrom < stateTimeoutMs && !changed(await subject.readState())) {
      await sleep(clock, READ_GAP_MS, signal);
      signal.throwIfAborted();
    }
    const waitedMs = clock.now() - startedAt;
    const settled = await this.#runner.settle({ quietMs: Math.max(REFERENCE_QUIET_MS, 2 * waitedMs) });
    return { ...settled, lastChangeMs: waitedMs + settled.lastChangeMs };
  }
}

/** Network errors that show that the receiver cannot be reached. */
const UNREACHABLE: ReadonlySet<string> = new Set([
  'refused',
  'dns',
  'blocked-address',
  'tls',
  'tls-self-signed',
  'tls-expired',
  'tls-hostname',
  'tls-untrusted',
]);

interface RepeatedReference {
  /** Why nothing can be proved. Undefined if the repeated reference run ends in the state of the first one. */
  readonly error: InputError | undefined;
  /** Messages that got a 5xx while the reference run was repeated. */
  readonly failed: readonly ProofMessage[];
  readonly locked: LeftOut | undefined;
}

/** Repeats the reference after a reset, so that an incomplete reset shows before any verdict. */
export async function repeatReference(
  runner: ProofRunner,
  first: { readonly taken: readonly ProofMessage[]; readonly failed: readonly ProofMessage[] },
  reference: string,
): Promise<RepeatedReference> {
  const messages = first.taken;
  await runner.reset();
  const execution = await runner.send(messages, { waves: referenceWaves([...messages.keys()]) }, BUSY_MS);
  const { state } = await runner.settleCarefully((read) => isSameState(read, reference));
  const again = execution.exchanges.filter(({ failedWith = 0 }) => failedWith >= 500);
  const failed = again.flatMap(({ message }) => messages[message] ?? []);
  const { failure } = execution;
  const last = failure?.kind === 'not-taken' ? failure.exchange : undefined;
  const stuck = last && messages[last.message];
  const { failedWith: status = 0 } = last ?? {};
  const isLocked = last?.response.status === 409 && status >= 500 && stuck !== undefined;
  const locked = isLocked ? { message: stuck, response: { ...last.response, status } } : undefined;
  if (isSameState(state, reference)) return { error: undefined, failed, locked };
  const serverErrors = first.failed.length + failed.length;
  const { worksLater } = runner;
  const error = anotherState(differenceText(reference, state), failure, { serverErrors, worksLater });
  return { error, failed, locked };
}
