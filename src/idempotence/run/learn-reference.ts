import { sleep } from '../../clock.ts';
import { referenceWaves } from '../plan/plan-schedules.ts';
import { differenceText, isSameState } from '../state-difference.ts';
import type { ProofMessage, ProofResponse } from '../subject.ts';
import {
  anotherState,
  neverSettles,
  nothingTaken,
  receiverDied,
  unchanged,
  unreachable,
  unstable,
} from './reference-errors.ts';
import { READ_GAP_MS } from './settled-state.ts';
import type { ProofRunner } from './proof-runner.ts';

/** What the reference run shows of the receiver. */
export interface Reference {
  /** The messages that the receiver takes. */
  readonly messages: readonly ProofMessage[];
  readonly leftOut: readonly LeftOut[];
  /** The messages that change the state. */
  readonly effective: ReadonlySet<ProofMessage>;
  /** Messages that got a 5xx before they were taken. */
  readonly failed: readonly ProofMessage[];
  /** One that seems to have had its effect although the response was 5xx, and again when it was sent again. */
  readonly effectDespite5xx: ProofMessage | undefined;
  /** The state after all. */
  readonly reference: string;
}

export interface LeftOut {
  readonly message: ProofMessage;
  readonly response: ProofResponse;
}

export interface After5xx {
  /** Whether the message had its effect although the response was 5xx, and again when it was sent again. */
  readonly isRepeated: boolean;
  readonly status: number | undefined;
  /** The state after the response of 5xx. */
  readonly expected: string;
  /** The state after the message was sent again. */
  readonly state: string;
}

/** A clock that shows seconds changes within this time. */
const STABLE_MS = 1_100;
/** How long the state of the reference must stay the same: a worker of the receiver may look for work twice a second. */
const REFERENCE_QUIET_MS = 1_000;
/** Messages behind these are not looked at one by one: each look is a run of the command. */
const MOST_LOOKED_AT = 24;

/**
 * Sends each message once, twice over, and compares. Throws InputError when nothing can be proved: the receiver is not reached, the state
 * changes by itself, does not change at all, or is another one the second time.
 */
export async function learnReference(
  runner: ProofRunner,
  messages: readonly ProofMessage[],
): Promise<Reference> {
  await runner.reset();
  const base = await stableState(runner);
  const learner = new Learner(runner, base);
  for (const message of messages) await learner.learn(message);
  const reference = await learner.finish();
  const { taken, latencies, lagMs } = learner;
  runner.learn({ base, messages: taken, reference, latencies, lagMs });
  if (learner.effectDespite5xx === undefined) await repeatReference(runner, taken, reference);
  const { leftOut, effective, failed, effectDespite5xx } = learner;
  return { messages: taken, leftOut, effective, failed, effectDespite5xx, reference };
}

/** Reads the state thrice before anything is sent. Throws InputError when it changes. */
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

class Learner {
  readonly taken: ProofMessage[] = [];
  readonly leftOut: LeftOut[] = [];
  readonly effective = new Set<ProofMessage>();
  readonly latencies = new Map<ProofMessage, number>();
  readonly failed: ProofMessage[] = [];
  effectDespite5xx: ProofMessage | undefined;
  lagMs = 0;
  readonly #runner: ProofRunner;
  readonly #base: string;
  #state: string;

  constructor(runner: ProofRunner, base: string) {
    this.#runner = runner;
    this.#base = base;
    this.#state = base;
  }

  async learn(message: ProofMessage): Promise<void> {
    const { subject, signal } = this.#runner.options;
    const first = await subject.send(message);
    signal.throwIfAborted();
    const isServerError = first.kind === 'failing' && (first.status ?? 0) >= 500;
    const failedState = isServerError ? (await this.#runner.settle()).state : this.#state;
    const response = first.kind === 'failing' || first.kind === 'none' ? await this.#again(message) : first;
    if (response.kind !== 'taken') return this.#leaveOut(message, response);
    this.taken.push(message);
    this.latencies.set(message, response.ms);
    if (isServerError) this.failed.push(message);
    if (this.taken.length > MOST_LOOKED_AT) return;
    // One read tells which messages have an effect, unless the receiver works after it responds, which the last reads show.
    const state = isServerError ? (await this.#runner.settle()).state : await subject.readState();
    const isRepeated = !isSameState(failedState, this.#state) && !isSameState(state, failedState);
    if (isServerError && isRepeated) this.effectDespite5xx ??= message;
    if (!isSameState(state, this.#state)) this.effective.add(message);
    this.#state = state;
  }

  /** The state after all. Throws InputError when nothing was taken, or nothing changed. */
  async finish(): Promise<string> {
    if (this.taken.length === 0) {
      const responses = this.leftOut.map(({ response }) => response);
      throw nothingTaken(responses, this.#runner.options);
    }
    const changed = (state: string): boolean => !isSameState(state, this.#base);
    let { state, isSettled, lastChangeMs } = await this.#runner.settle({ quietMs: REFERENCE_QUIET_MS });
    if (!changed(state)) ({ state, isSettled, lastChangeMs } = await this.#waitForChange(changed));
    if (!changed(state)) throw unchanged(this.taken.length, state);
    if (!isSettled) throw neverSettles(this.#runner.options.stateTimeoutMs);
    this.lagMs = lastChangeMs;
    if (this.lagMs > 0) for (const message of this.taken) this.effective.add(message);
    return state;
  }

  async #again(message: ProofMessage): Promise<ProofResponse> {
    const { exchanges } = await this.#runner.send([message], { waves: referenceWaves([0]) });
    return exchanges.at(-1)?.response ?? { kind: 'none', ms: 0 };
  }

  #leaveOut(message: ProofMessage, response: ProofResponse): void {
    const gone = this.#runner.options.subject.gone();
    if (gone !== undefined) throw receiverDied(gone, message);
    const isUnreachable = response.kind === 'none' && UNREACHABLE.has(response.error ?? '');
    if (isUnreachable && this.taken.length === 0) throw unreachable(response);
    this.leftOut.push({ message, response });
  }

  /** A worker of the receiver may sleep longer than the state is usually watched. */
  async #waitForChange(changed: (state: string) => boolean) {
    const { clock, signal, subject, stateTimeoutMs } = this.#runner.options;
    const startedAt = clock.now();
    while (clock.now() - startedAt < stateTimeoutMs && !changed(await subject.readState())) {
      await sleep(clock, READ_GAP_MS, signal);
      signal.throwIfAborted();
    }
    const waitedMs = clock.now() - startedAt;
    const settled = await this.#runner.settle({ quietMs: REFERENCE_QUIET_MS });
    return { ...settled, lastChangeMs: waitedMs + settled.lastChangeMs };
  }
}

/** Sends a message alone, and again when the response is 5xx; undefined when it is not. */
export async function repeatAfter5xx(
  runner: ProofRunner,
  message: ProofMessage,
): Promise<After5xx | undefined> {
  await runner.reset();
  const { status } = await runner.options.subject.send(message);
  if ((status ?? 0) < 500) return undefined;
  const { state: expected } = await runner.settle();
  await runner.send([message], { waves: referenceWaves([0]) });
  const { state } = await runner.settle();
  const isRepeated = !isSameState(expected, runner.base) && !isSameState(state, expected);
  return { isRepeated, status, expected, state };
}

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

/** Sends all a second time from the start: a reset that does not reset shows now, before any verdict. */
export async function repeatReference(
  runner: ProofRunner,
  messages: readonly ProofMessage[],
  reference: string,
): Promise<void> {
  await runner.reset();
  const execution = await runner.send(messages, { waves: referenceWaves([...messages.keys()]) });
  const { state } = await runner.settleCarefully((read) => isSameState(read, reference));
  if (isSameState(state, reference)) return;
  throw anotherState(differenceText(reference, state), execution.failure);
}
