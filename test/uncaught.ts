import { onTestFinished } from 'vitest';

/** Collects uncaught exceptions until the end of the test, which would otherwise fail. */
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
