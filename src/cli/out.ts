import { once } from 'node:events';
import { writeSync } from 'node:fs';
import { InputError } from '../errors.ts';

export interface Out {
  /** Gathers text until the end of this turn of the event loop: results that come together are one write. */
  readonly out: (text: string) => void;
  /** Writes the gathered text. */
  readonly flush: () => void;
  readonly drained: () => Promise<void> | undefined;
}

interface OutOptions {
  readonly interruption: AbortController;
  /** Whether messages may have been delivered by then, which the loss of stdout does not undo. */
  readonly delivers: boolean;
  /** Whether the command goes on when the reader of stdout has gone: its exit code is what counts. */
  readonly outlivesReader: boolean;
}

/** At most this many characters are gathered. */
const ENOUGH = 64 * 1024;
/** A write of at most this many bytes goes into a pipe whole or not at all (POSIX, PIPE_BUF). */
const MAX_BYTES_AT_ONCE = 4096;
const STDOUT_FD = 1;

/**
 * Stdout as `Io` has it. A write that fails is an event, and without a listener the end of the process: here it aborts the
 * interruption, by `closed-pipe` when its reader has gone, else by the error that `main` prints.
 *
 * The stream is made with the second write: most commands write once, and making it takes longer than all that they do.
 */
export function createOut(
  openStdout: () => NodeJS.WriteStream,
  { interruption, delivers, outlivesReader }: OutOptions,
): Out {
  const { signal } = interruption;
  let gathered = '';
  let isFirst = true;
  let isLost = false;
  let stdout: NodeJS.WriteStream | undefined;
  let draining: Promise<void> | undefined;
  const lose = (error: NodeJS.ErrnoException): void => {
    isLost = true;
    if (error.code === 'EPIPE' && outlivesReader) return;
    interruption.abort(error.code === 'EPIPE' ? 'closed-pipe' : unwritable(error, delivers));
  };
  const write = (text: string | Uint8Array): void => {
    stdout ??= openStdout().on('error', lose);
    stdout.write(text);
  };
  const writeFirst = (text: string): void => {
    isFirst = false;
    const bytes = Buffer.from(text);
    if (bytes.length > MAX_BYTES_AT_ONCE) return write(bytes);
    try {
      const written = writeSync(STDOUT_FD, bytes);
      if (written < bytes.length) write(bytes.subarray(written));
    } catch (error) {
      const failure = error as NodeJS.ErrnoException; // of a file operation
      if (failure.code === 'EAGAIN') write(bytes);
      else lose(failure);
    }
  };
  const flush = (): void => {
    if (gathered !== '' && !isLost) (isFirst ? writeFirst : write)(gathered);
    gathered = '';
  };
  return {
    out: (text) => {
      if (gathered === '') setImmediate(flush);
      gathered += text;
      if (gathered.length >= ENOUGH) flush();
    },
    flush,
    drained: () => {
      if (isLost || stdout?.writableNeedDrain !== true || signal.aborted) return undefined;
      draining ??= nextDrain(stdout, signal).finally(() => {
        draining = undefined;
      });
      return draining;
    },
  };
}

async function nextDrain(stdout: NodeJS.WriteStream, signal: AbortSignal): Promise<void> {
  try {
    await once(stdout, 'drain', { signal });
  } catch {
    // Interrupted, or lost: there is no reader to wait for.
  }
}

function unwritable(cause: NodeJS.ErrnoException, delivers: boolean): InputError {
  const reason = cause.code === 'ENOSPC' ? 'the disk is full' : (cause.code ?? cause.message);
  return new InputError(`Cannot be written: ${reason}`, {
    file: '<stdout>',
    hint: `make room, or send the output elsewhere${delivers ? '; what was delivered until then is delivered' : ''}`,
    cause,
  });
}
