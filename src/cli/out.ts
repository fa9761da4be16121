import { once } from 'node:events';
import { InputError } from '../errors.ts';

export interface Out {
  /** Gathered until the end of this turn of the event loop: results that come in together are one write. */
  readonly out: (text: string) => void;
  /** Writes what is gathered. */
  readonly flush: () => void;
  readonly drained: () => Promise<void> | undefined;
}

/** Characters gathered at most. */
const ENOUGH = 64 * 1024;

/**
 * Stdout as `Io` has it. A write that fails is an event, and without a listener the end of the process: here it aborts the
 * interruption, by `closed-pipe` when its reader has gone, else by the error to be told.
 */
export function createOut(stdout: NodeJS.WriteStream, interruption: AbortController): Out {
  const { signal } = interruption;
  let gathered = '';
  let isLost = false;
  let draining: Promise<void> | undefined;
  stdout.on('error', (error: NodeJS.ErrnoException) => {
    isLost = true;
    interruption.abort(error.code === 'EPIPE' ? 'closed-pipe' : unwritable(error));
  });
  const flush = (): void => {
    if (gathered !== '' && !isLost) stdout.write(gathered);
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
      if (isLost || !stdout.writableNeedDrain || signal.aborted) return undefined;
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
    // Interrupted, or lost: nobody has to wait any more.
  }
}

function unwritable(cause: NodeJS.ErrnoException): InputError {
  const reason = cause.code === 'ENOSPC' ? 'the disk is full' : (cause.code ?? cause.message);
  return new InputError(`cannot be written: ${reason}`, {
    file: '<stdout>',
    hint: 'what was delivered until then is delivered; make room, or send the output elsewhere',
    cause,
  });
}
