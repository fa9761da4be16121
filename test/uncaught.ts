import { onTestFinished } from 'vitest';

/** What becomes an uncaught exception from now until the end of the test, which fails by it otherwise. */
export function collectUncaught(): readonly unknown[] {
  const others = process.listeners('uncaughtException');
  const caught: unknown[] = [];
  process.removeAllListeners('uncaughtException');
  process.on('uncaughtException', (error) => caught.push(error));
  onTestFinished(() => {
    process.removeAllListeners('uncaughtException');
    for (const other of others) process.on('uncaughtException', other);
  });
  return caught;
}
