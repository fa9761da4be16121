import { once } from 'node:events';
import { writeSync } from 'node:fs';
import { InputError } from '../errors.ts';
import { fileProblem } from '../file-problem.ts';

/** Stdout of a command. */
export interface Out {
  /** Writes data without adding a line break. Buffers it until the end of this turn of the event loop, to save writes. */
  readonly out: (text: string) => void;
  /** Writes the buffered text to stdout. */
  readonly flush: () => void;
  /**
   * Returns a promise while the reader of stdout is slower than the writer, else undefined. A command with unlimited output
   * awaits it before the next line, or memory fills up. The promise also resolves when the command is interrupted or stdout
   * is lost.
   */
  readonly drained: () => Promise<void> | undefined;
}

interface OutOptions {
  readonly interruption: AbortController;
  /** Whether the command can have delivered messages before stdout was lost, which the error then says. */
  readonly delivers: () => boolean;
  /** Whether the command continues when the reader of stdout is gone, because its exit code or its files still count. */
  readonly outlivesReader: boolean;
}

/** Maximum number of characters of stdout that are buffered before they are written. */
const MAX_BUFFERED = 64 * 1024;
/** Size up to which a write to a pipe is atomic (POSIX, PIPE_BUF). */
const MAX_ATOMIC_BYTES = 4096;
const STDOUT_FD = 1;

/**
 * Creates the stdout of a command. A failed write would end the process; here it aborts `interruption` instead, with
 * `closed-pipe` if the reader is gone, else with the InputError that `main` prints.
 *
 * The stream is created for the second write: most commands write once, and creating it takes longer than all their work.
 */
export function createOut(
  openStdout: () => NodeJS.WriteStream,
  { interruption, delivers, outlivesReader }: OutOptions,
): Out {
  const { signal } = interruption;
  let buffered = '';
  let isFirst = true;
  let isLost = false;
  let stdout: NodeJS.WriteStream | undefined;
  let draining: Promise<void> | undefined;
  const lose = (error: NodeJS.ErrnoException): void => {
    isLost = true;
    if (error.code === 'EPIPE' && outlivesReader) return;
    interruption.abort(error.code === 'EPIPE' ? 'closed-pipe' : unwritable(error, delivers()));
  };
  const write = (text: string | Uint8Array): void => {
    stdout ??= openStdout().on('error', lose);
    stdout.write(text);
  };
  const writeFirst = (text: string): void => {
    isFirst = false;
    const bytes = Buffer.from(text);
    if (bytes.length > MAX_ATOMIC_BYTES) return write(bytes);
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
    if (buffered !== '' && !isLost) (isFirst ? writeFirst : write)(buffered);
    buffered = '';
  };
  return {
    out: (text) => {
      if (buffered === '') setImmediate(flush);
      buffered += text;
      if (buffered.length >= MAX_BUFFERED) flush();
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
    // The error is ignored: after an interruption or the loss of stdout, there is no reader to wait for.
  }
}

function unwritable(cause: NodeJS.ErrnoException, delivers: boolean): InputError {
  const { what, fix } = fileProblem(cause, '<stdout>', 'write');
  return new InputError(`Cannot be written: ${what}`, {
    file: '<stdout>',
    hint: `${fix}, or redirect the output${delivers ? '; messages that were delivered before stay delivered' : ''}`,
    cause,
  });
}
