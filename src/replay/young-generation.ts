import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';

/**
 * Size of the young generation that is large enough: a replay gains no speed from more. V8 has exceeded this size when it
 * has grown its two halves from 4 MiB to 8 MiB each.
 */
const ENOUGH_BYTES = 8 * 1024 * 1024;

/** Whether the growth is stopped. A module variable, because a process has only one young generation. */
let isBound = false;

/**
 * Stops the growth of V8's young generation once it is large enough. Must be called regularly; a call takes
 * 10 µs until then. V8 doubles the young generation whenever the survivors of its collections add up to its
 * size, however few are alive at once, up to twice 16 MiB on Node 20 and twice 64 MiB on 24: a long replay
 * would reach that. V8 reads the growth factor at each growth, but the maximum size (--max-semi-space-size)
 * only when it starts.
 */
export function boundYoungGeneration(): void {
  if (isBound) return;
  const young = getHeapSpaceStatistics().find(({ space_name: name }) => name === 'new_space');
  if (young === undefined || young.space_size <= ENOUGH_BYTES) return;
  isBound = true;
  setFlagsFromString('--semi-space-growth-factor=1');
}

/**
 * Lets the young generation grow again. A process must end with the flags it began with; otherwise V8 rejects
 * its compile cache at the next start.
 */
export function releaseYoungGeneration(): void {
  if (isBound) setFlagsFromString('--semi-space-growth-factor=2');
  isBound = false;
}
