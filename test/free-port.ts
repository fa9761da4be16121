import { once } from 'node:events';
import { createServer } from 'node:net';

/** Number of concurrent test processes that each have their own range of ports. */
const PROCESSES = 6;
const COUNT = 3_000;
/** Below the ports that systems assign automatically, so that no program gets one of these by accident. */
const FIRST = 12_000 + (Number(process.env['VITEST_POOL_ID'] ?? 0) % PROCESSES) * COUNT;
let next = Math.floor(Math.random() * COUNT);

/** Returns a port without a listener, different for each call in a process. */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < 100; tries++) {
    const port = FIRST + next;
    next = (next + 1) % COUNT;
    if (await isFree(port)) return port;
  }
  throw new Error('Expected a free port among a hundred');
}

/** Returns whether a program reports that its port is in use, which can happen on a shared machine. */
export function saysTaken(said: string): boolean {
  return /Another program listens at|address already in use/i.test(said);
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  try {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
  } catch {
    return false;
  }
  server.close();
  await once(server, 'close');
  return true;
}
