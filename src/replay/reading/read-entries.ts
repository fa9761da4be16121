import { isHar } from '../../capture/read-capture.ts';
import { InputError } from '../../errors.ts';
import type { Splitter } from '../../message/json/splitter.ts';
import { ExactSplitter } from './exact-splitter.ts';
import { EntryCollector, type EntryReadOptions } from './entry-collector.ts';
import type { ReplayEntry } from './replay-entry.ts';
import { gunzipIfPacked } from './gunzip.ts';
import { InputSplitter } from './input-splitter.ts';
import type { Input } from './inputs.ts';

/** Maximum bytes to split into entries at a time. These entries are yielded before more bytes are split. */
const STRIDE_BYTES = 64 * 1024;

/**
 * Yields the entries of an input in order, in arrays of at least one entry. Recognizes the format by content: one message,
 * an array, `{"batch":[…]}`, NDJSON, concatenated JSON, captures or a HAR file, gzipped or not. With `options.exact`,
 * applies the rules of ExactSplitter to everything but HAR files, and can throw InputError. A part that cannot be read
 * becomes a broken entry. Memory does not grow with the input. Ends early, without an error, when `signal` aborts.
 */
export async function* readEntries(
  input: Pick<Input, 'name' | 'identity' | 'open'>,
  signal?: AbortSignal,
  options: EntryReadOptions = {},
): AsyncGenerator<readonly ReplayEntry[], void, undefined> {
  const collector = new EntryCollector(input.name, options);
  let splitter: Splitter = options.exact
    ? new ExactSplitter(input.name, collector, options.format)
    : new InputSplitter(collector);
  let isFirst = true;
  const open = (): AsyncIterable<Uint8Array> => input.open(signal);
  try {
    for await (const chunk of gunzipIfPacked(open(), input.identity && open)) {
      if (isFirst && isHar(chunk)) {
        const { HarSplitter } = await import('./har-splitter.ts');
        splitter = new HarSplitter(input.name, collector, options.harNotes);
      }
      isFirst = false;
      for (let at = 0; at < chunk.length && !splitter.isRejected; at += STRIDE_BYTES) {
        const stride = chunk.subarray(at, at + STRIDE_BYTES);
        splitter.push(stride);
        options.onBytes?.(stride.length);
        const entries = collector.take();
        if (entries.length > 0) yield entries;
      }
      if (splitter.isRejected || signal?.aborted) break;
    }
    if (!signal?.aborted) splitter.end();
  } catch (error) {
    if (signal?.aborted) return;
    // Adds a broken entry. Does not call `splitter.end()`, because that would add the last, incomplete message as an entry.
    collector.broken(splitter.line, ...inputProblem(error));
  }
  const rest = collector.take();
  if (rest.length > 0) yield rest;
}

/** Throws InputError if `--exact` cannot tell the format of a file. Skips pipes, because they can be read only once. */
export async function assertFormats(inputs: readonly Input[], options: EntryReadOptions): Promise<void> {
  for (const input of inputs.filter(({ identity }) => identity !== undefined)) {
    const entries = readEntries(input, undefined, options);
    await entries.next();
    await entries.return();
  }
}

/** Creates the error for inputs without any entries. */
export function nothingToRead(inputs: readonly Pick<Input, 'name'>[]): InputError {
  const [first] = inputs;
  const hint = 'expected a message, an array of them, {"batch":[…]}, NDJSON or a capture';
  return inputs.length === 1 && first !== undefined
    ? new InputError('Nothing to read: there is no message in it', { file: first.name, hint })
    : new InputError(`Nothing to read: there is no message in any of the ${inputs.length} inputs`, { hint });
}

function inputProblem(error: unknown): [message: string, hint: string] {
  const { code, message } = asNodeError(error);
  if (code === 'Z_BUF_ERROR') {
    return [
      'the gzipped input is cut off here: its end is missing',
      'copy it again; the entries before its end are read',
    ];
  }
  if (code?.startsWith('Z_')) {
    return [
      `the gzipped input is corrupt from here on (${message})`,
      'copy it again; the entries before are read',
    ];
  }
  return [`the input cannot be read further: ${message}`, 'the entries before are read'];
}

function asNodeError(error: unknown): { readonly code?: string | undefined; readonly message: string } {
  if (!(error instanceof Error) || error instanceof InputError) throw error;
  const { code, message } = error as NodeJS.ErrnoException; // Node adds `code` to errors of files and of zlib
  // An error without a code is a bug in this program, not a problem with the input.
  if (code === undefined) throw error;
  return { code, message };
}
