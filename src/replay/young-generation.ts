import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';

/**
 * Size of V8's young generation above which a replay does not get faster. V8 exceeds it when it doubles its two semi-spaces
 * from 4 MiB to 8 MiB each.
 */
const ENOUGH_BYTES = 8 * 1024 * 1024;

/** Whether growth is stopped. Global, because there is only one young generation. */
let isBound = false;

/**
 * Stops the growth of V8's young generation once it is large enough. Must be called regularly until then; a call takes 10
 * µs. V8 doubles the young generation when the objects that survived its collections add up to its size, even if few of them
 * are alive at once. A long replay would reach the maximum: 2 × 16 MiB on Node 20, 2 × 64 MiB on Node 24. The growth factor
 * can be changed at run time, unlike the maximum (--max-semi-space-size).
 */
export function boundYoungGeneration(): void {
  if (isBound) return;
  const young = getHeapSpaceStatistics().find(({ space_name: name }) => name === 'new_space');
  if (young === undefined || young.space_size <= ENOUGH_BYTES) return;
  isBound = true;
  setFlagsFromString('--semi-space-growth-factor=1');
}

/**
 * Lets the young generation grow again. A process must end with the V8 flags it started with; otherwise V8 rejects its
 * compile cache at the next start.
 */
export function releaseYoungGeneration(): void {
  if (isBound) setFlagsFromString('--semi-space-growth-factor=2');
  isBound = false;
}
