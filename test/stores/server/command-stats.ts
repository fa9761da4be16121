import type { Redis } from 'ioredis';

/** How often a Redis was asked each command, those in scripts too, while something was done. */
export async function commandsDuring(
  admin: Redis,
  act: () => Promise<unknown>,
): Promise<ReadonlyMap<string, number>> {
  await admin.config('RESETSTAT');
  await act();
  const stats = await admin.info('commandstats');
  const calls = stats.matchAll(/^cmdstat_([^:]+):calls=(\d+)/gm);
  return new Map([...calls].map(([, name = '', count]) => [name, Number(count)]));
}

/** Each command with its arguments, those in scripts too. */
export async function commandLinesDuring(
  admin: Redis,
  act: () => Promise<unknown>,
): Promise<readonly string[]> {
  const monitor = await admin.monitor();
  const lines: string[] = [];
  const isOver = new Promise<void>((resolve) => {
    monitor.on('monitor', (_time: string, args: readonly string[]) => {
      if (args[0] === 'ECHO' && args[1] === END) resolve();
      lines.push(args.join(' '));
    });
  });
  try {
    await act();
    await admin.call('ECHO', END);
    await isOver;
  } finally {
    monitor.disconnect();
  }
  return lines;
}

const END = 'the end of what is watched';
