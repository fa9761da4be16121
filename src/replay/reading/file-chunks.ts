import { readSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { setImmediate } from 'node:timers/promises';
import { systemClock, type Clock } from '../../clock.ts';

/** Smaller chunks cost calls, much larger ones memory. */
const CHUNK_BYTES = 256 * 1024;

/** The longest that everything else may wait for one chunk, which takes 0.05 ms when the file is in memory. */
const SLOW_MS = 10;

/**
 * Yields the bytes of a regular file, each chunk in separate memory. Reads synchronously, since passing a chunk to a thread
 * and back costs as much as finding its lines; uses a thread after the first slow chunk (a slow disk, a network). Throws
 * when `signal` aborts, as a stream does.
 */
export async function* chunksOfFile(
  path: string,
  signal?: AbortSignal,
  clock: Pick<Clock, 'now'> = systemClock,
): AsyncGenerator<Uint8Array, void, undefined> {
  const file = await open(path);
  let isSlow = false;
  try {
    for (;;) {
      // Lets signals, timers and responses be handled in between.
      await setImmediate();
      signal?.throwIfAborted();
      const chunk = Buffer.allocUnsafeSlow(CHUNK_BYTES);
      const began = clock.now();
      const bytes = isSlow ? (await file.read(chunk)).bytesRead : readSync(file.fd, chunk);
      isSlow ||= clock.now() - began > SLOW_MS;
      if (bytes === 0) return;
      yield chunk.subarray(0, bytes);
    }
  } finally {
    await file.close();
  }
}
