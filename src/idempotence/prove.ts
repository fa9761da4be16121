import type { Readable } from 'node:stream';
import { systemClock } from '../clock.ts';
import { readProofMessages } from './messages-file.ts';
import { sampleMessages } from './messages.ts';
import { SCHEDULE_CODES, SCHEDULE_TITLES, type ScheduleCode } from './plan/schedule.ts';
import type { Counterexample } from './proof-result.ts';
import { Proof, type ProofOptions } from './run/proof.ts';
import { READ_GAP_MS, settledState } from './run/settled-state.ts';
import { differingLines, isSameState } from './state-difference.ts';
import type { ProofMessage } from './subject.ts';

export type { ScheduleCode } from './plan/schedule.ts';
export type { Counterexample, ProofResult, ShownRequest } from './proof-result.ts';
export type { Reference } from './run/learn-reference.ts';
export type { ProofMessage, ProofResponse, ProofSendOptions, Subject } from './subject.ts';

export const PROOF_DEFAULTS = { schedules: 50, lateMs: 10_000, stateTimeoutMs: 10_000 } as const;

/** Returns the codes of the checks of a proof, the values of `--only` and `--skip`, in the order of the results. */
export function proofCodes(): readonly ScheduleCode[] {
  return SCHEDULE_CODES;
}

/** Describes, for people, the requests that the schedules of a code send. */
export function proofTitle(code: ScheduleCode): string {
  return SCHEDULE_TITLES[code];
}

interface MessageSource {
  /** Path of a file in any format of `hooks replay`. @default sample messages of each type */
  readonly file: string | undefined;
  readonly seed: number;
  readonly cwd: string;
  readonly stdin: Readable;
  readonly signal: AbortSignal;
}

/**
 * Reads the messages of a proof, or makes samples. Throws InputError if a message of the file is invalid, or if the file
 * has more than 100 messages.
 */
export async function openProofMessages(source: MessageSource): Promise<readonly ProofMessage[]> {
  const { file, seed } = source;
  const now = Math.floor(systemClock.now() / 1_000) * 1_000;
  return file === undefined ? sampleMessages({ now, seed }) : readProofMessages(file, { now, seed }, source);
}

export interface ProveOptions extends Omit<ProofOptions, 'skipped'> {
  /** Whether the messages of one user may be sent in any order. */
  readonly anyOrder: boolean;
}

/**
 * Runs many schedules of the messages, each after a reset, and compares the states in which they end. Stops at the first
 * counterexample, because later ones mostly have the same cause. Throws InputError if the reference run shows no stable
 * state to compare with; checks without a result are then reported as unsent.
 */
export function proveIdempotence(options: ProveOptions): Promise<void> {
  return new Proof({ ...options, skipped: skippedCodes(options) }).run();
}

const NO_COMMAND = 'it needs -- COMMAND: hooks can only kill a receiver that it started';
const NO_RESET = 'it needs --reset: the state that a killed receiver leaves must be deleted';
const KEPT_ORDER = 'it needs --any-order: by default the messages of one user keep their order';

/** Returns the codes whose schedules cannot run with these options, each with the reason. */
function skippedCodes({
  subject: { kill },
  hasReset,
  anyOrder,
}: ProveOptions): ReadonlyMap<ScheduleCode, string> {
  const skipped = new Map<ScheduleCode, string>();
  if (kill === undefined) skipped.set('killed', hasReset ? NO_COMMAND : NO_RESET);
  if (!anyOrder) skipped.set('shuffled', KEPT_ORDER);
  return skipped;
}

/** Reads a state until it stays the same, at most for the default time limit of a proof. */
export async function settledStateOf(read: () => Promise<string>, signal: AbortSignal): Promise<string> {
  const timeoutMs = PROOF_DEFAULTS.stateTimeoutMs;
  return (await settledState({ read, clock: systemClock, signal, quietMs: READ_GAP_MS, timeoutMs })).state;
}

/**
 * Compares the two states of a counterexample. `isSame`: they differ at most in the order of lines, list items or keys.
 * `missing` and `added`: the lines that only the expected or only the actual state has.
 */
export function compareStates({ expected, state }: Pick<Counterexample, 'expected' | 'state'>) {
  return { isSame: isSameState(expected, state), ...differingLines(expected, state) };
}
