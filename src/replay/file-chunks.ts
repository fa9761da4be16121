import { readSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { setImmediate } from 'node:timers/promises';
import { type Clock, systemClock } from '../clock.ts';

/** A few more cost calls, and much larger ones memory. */
const CHUNK_BYTES = 256 * 1024;

/** So long may everything else wait for one chunk, which takes 0.05 ms where the file is in memory. */
const SLOW_MS = 10;

/**
 * The bytes of a regular file, each chunk in memory of its own. Read at once, since handing a chunk to a thread and back
 * costs as much as all else that finding its lines takes; by a thread from the first chunk on that keeps us waiting (a
 * slow disk, a network). Throws when `signal` aborts, as a stream does.
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
      // Signals, timers and answers are heard in between.
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
