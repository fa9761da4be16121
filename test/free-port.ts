import { once } from 'node:events';
import { createServer } from 'node:net';

/** Each process that runs tests beside others, up to as many as this, has ports of its own. */
const PROCESSES = 6;
const COUNT = 3_000;
/** Below the ports that systems give to whoever asks for any: nobody is given one of these by accident. */
const FIRST = 12_000 + (Number(process.env['VITEST_POOL_ID'] ?? 0) % PROCESSES) * COUNT;
let next = Math.floor(Math.random() * COUNT);

/** Where nobody listens. No two calls of one process get the same. */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < 100; tries++) {
    const port = FIRST + next;
    next = (next + 1) % COUNT;
    if (await isFree(port)) return port;
  }
  throw new Error('Expected a free port among a hundred');
}

/** Whether a program said that another one was at its port first, which is nobody's fault on a machine that others use too. */
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
