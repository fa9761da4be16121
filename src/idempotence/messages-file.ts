import type { Readable } from 'node:stream';
import { HooksError, InputError } from '../errors.ts';
import { readJson } from '../message/json/read-json.ts';
import type { JsonValue } from '../message/types.ts';
import { openInputs } from '../replay/reading/inputs.ts';
import { nothingToRead, readEntries } from '../replay/reading/read-entries.ts';
import type { ReplayEntry } from '../replay/reading/replay-entry.ts';
import { proofMessages, type ProofMessageOptions } from './messages.ts';
import type { ProofMessage } from './subject.ts';

/** Limits the duration of a proof: every schedule sends all messages, some of them twice. */
const MOST_MESSAGES = 100;

/**
 * Reads the file of `--messages`, in any format of `hooks replay`. Throws InputError if a message is invalid, or if there
 * are more than 100.
 */
export async function readProofMessages(
  file: string,
  options: ProofMessageOptions,
  { cwd, stdin, signal }: { readonly cwd: string; readonly stdin: Readable; readonly signal: AbortSignal },
): Promise<readonly ProofMessage[]> {
  const inputs = await openInputs([file], { cwd, stdin });
  const values: JsonValue[] = [];
  for (const input of inputs) {
    for await (const entries of readEntries(input, signal)) {
      values.push(...entries.map((entry) => validValue(entry, options)));
      if (values.length > MOST_MESSAGES) throw tooMany(file);
    }
  }
  signal.throwIfAborted();
  if (values.length === 0) throw nothingToRead(inputs);
  return distinct(proofMessages(values, options), file);
}

/** Parses an entry of the file of messages. Throws InputError with its line if it is not a valid message. */
function validValue(entry: ReplayEntry, options: ProofMessageOptions): JsonValue {
  if (entry.kind === 'broken') throw entry.error;
  try {
    const value = readJson(entry.bytes, entry.origin);
    proofMessages([value], options);
    return value;
  } catch (error) {
    if (!(error instanceof HooksError) || error instanceof InputError) throw error;
    throw new InputError(error.message, { ...entry.origin, hint: error.hint, cause: error });
  }
}

/** Throws InputError if two messages have the same id, because the schedules themselves repeat messages. */
function distinct(messages: readonly ProofMessage[], file: string): readonly ProofMessage[] {
  const ids = messages.map(({ messageId }) => messageId);
  const repeated = ids.find((id, at) => ids.indexOf(id) < at);
  if (repeated === undefined) return messages;
  throw new InputError(`Two messages have the messageId ${repeated}`, {
    file,
    hint: 'give each message its own id, or none: the schedules send each message several times',
  });
}

function tooMany(file: string): InputError {
  return new InputError(`Expected at most ${MOST_MESSAGES} messages, got more`, {
    file,
    hint: 'choose a few that change the state in different ways: each schedule sends all of them',
  });
}
