import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';

/** More than two halves of 4 MiB: V8 has grown them to 8 MiB, with which a replay is as fast as with more. */
const ENOUGH_BYTES = 8 * 1024 * 1024;

/** Of this process, as the young generation is. */
let isBound = false;

/**
 * Keeps V8's young generation from growing once it is large enough; to be called now and then, which takes 10 µs until it is. V8 doubles it
 * each time that what has survived its collections so far adds up to its size, however little is alive at once, to twice 16 MiB on Node 20
 * and twice 64 on 24: a long replay ends up with all of that. V8 reads the factor at each growth, but the greatest size
 * (--max-semi-space-size) only at its start.
 */
export function boundYoungGeneration(): void {
  if (isBound) return;
  const young = getHeapSpaceStatistics().find(({ space_name: name }) => name === 'new_space');
  if (young === undefined || young.space_size <= ENOUGH_BYTES) return;
  isBound = true;
  setFlagsFromString('--semi-space-growth-factor=1');
}

/** Lets it grow again. A process must end with the flags it began with, or V8 rejects at the next start what this one has compiled. */
export function releaseYoungGeneration(): void {
  if (isBound) setFlagsFromString('--semi-space-growth-factor=2');
  isBound = false;
}
