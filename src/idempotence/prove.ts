import type { Readable } from 'node:stream';
import { systemClock } from '../clock.ts';
import { readProofMessages } from './messages-file.ts';
import { sampleMessages } from './messages.ts';
import { SCHEDULE_CODES, SCHEDULE_TITLES, type ScheduleCode } from './plan/schedule.ts';
import type { Counterexample } from './proof-result.ts';
import { Proof, type ProofOptions } from './run/proof.ts';
import { differingLines, isSameState } from './state-difference.ts';
import type { ProofMessage } from './subject.ts';

export type { ScheduleCode } from './plan/schedule.ts';
export type { Counterexample, ProofResult, ShownRequest } from './proof-result.ts';
export type { Reference } from './run/learn-reference.ts';
export type { ProofMessage, ProofResponse, ProofSendOptions, Subject } from './subject.ts';

export const PROOF_DEFAULTS = { schedules: 50, lateMs: 10_000, stateTimeoutMs: 10_000 } as const;

/** What `--only` and `--skip` name, in the order in which results are listed. */
export function proofCodes(): readonly ScheduleCode[] {
  return SCHEDULE_CODES;
}

/** What is sent for a code, for people. */
export function proofTitle(code: ScheduleCode): string {
  return SCHEDULE_TITLES[code];
}

interface MessageSource {
  /** Read as `hooks replay` reads its files. @default samples of each type */
  readonly file: string | undefined;
  readonly seed: number;
  readonly cwd: string;
  readonly stdin: Readable;
  readonly signal: AbortSignal;
}

/** Reads or makes the messages of a proof. Throws InputError for a message of the file that is not valid, and for more than 100. */
export async function openProofMessages(source: MessageSource): Promise<readonly ProofMessage[]> {
  const { file, seed } = source;
  const now = Math.floor(systemClock.now() / 1_000) * 1_000;
  return file === undefined ? sampleMessages({ now, seed }) : readProofMessages(file, { now, seed }, source);
}

export interface ProveOptions extends Omit<ProofOptions, 'skipped'> {
  /** Whether the messages of one user may come in any order. */
  readonly anyOrder: boolean;
}

/**
 * Sends the messages in many ways, each from the start, and compares the states in which they end. Stops at the first counterexample:
 * what follows mostly has the same cause. Throws InputError when there is nothing to compare with; codes without a result are then
 * reported as unsent.
 */
export function proveIdempotence(options: ProveOptions): Promise<void> {
  return new Proof({ ...options, skipped: skippedCodes(options) }).run();
}

const NO_COMMAND = 'it needs -- COMMAND: only a receiver that is started here can be killed';
const NO_RESET = 'it needs --reset: what a killed receiver leaves must be deleted';
const KEPT_ORDER = 'it needs --any-order: by default the messages of one user keep their order';

/** Why codes cannot be tried. */
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

interface StateDifference {
  /** Whether the states differ only in what does not count, such as the order of lines. */
  readonly isSame: boolean;
  /** The lines that only the expected state has. */
  readonly missing: readonly string[];
  /** The lines that only the other state has. */
  readonly added: readonly string[];
}

/** Compares the two states of a counterexample. */
export function compareStates({
  expected,
  state,
}: Pick<Counterexample, 'expected' | 'state'>): StateDifference {
  return { isSame: isSameState(expected, state), ...differingLines(expected, state) };
}
