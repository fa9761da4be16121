import { setTimeout as delay } from 'node:timers/promises';

/** Waits until `isSo` returns true, which is checked every 5 ms. Throws after 30 seconds by default. */
export async function until(
  isSo: () => boolean | Promise<boolean>,
  what: string,
  { seconds = 30 } = {},
): Promise<void> {
  const end = performance.now() + seconds * 1_000;
  while (performance.now() < end) {
    if (await isSo()) return;
    await delay(5);
  }
  throw new Error(`waited in vain for ${what}`);
}
