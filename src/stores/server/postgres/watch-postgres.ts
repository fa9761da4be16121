import { setTimeout as wait } from 'node:timers/promises';
import type { Client } from 'pg';
import { CHANNEL } from '../bullmq-layout.ts';

/** Milliseconds between two LISTEN. Repeating LISTEN detects a lost connection. */
const BEAT_MS = 2_000;

/**
 * Calls `onAdded` with each series that BullMQ's functions announce, and the id of the server's process that added to it.
 * Hooks announces none, because calls would wait for the lock of a second NOTIFY. Returns a function that ends the calls.
 */
export function watchPostgres(
  connect: () => Client,
  onAdded: (series: string, sender: number) => void,
): () => void {
  const ending = new AbortController();
  const { signal } = ending;
  const listen = async (client: Client): Promise<void> => {
    // Ignores errors of the connection, because the next LISTEN rejects.
    client.on('error', () => {});
    client.on('notification', ({ payload = '', processId }) => onAdded(payload, processId));
    await client.connect();
    while (!signal.aborted) {
      await client.query(`LISTEN ${CHANNEL}`);
      await wait(BEAT_MS, undefined, { signal, ref: false });
    }
  };
  const listenAgain = async (): Promise<void> => {
    while (!signal.aborted) {
      const client = connect();
      // Does not wait for the connection to end, because a server that hangs never confirms it.
      const end = (): void => void client.end().catch(() => {});
      signal.addEventListener('abort', end);
      await listen(client).catch(() => {});
      signal.removeEventListener('abort', end);
      end();
      await wait(BEAT_MS, undefined, { signal, ref: false }).catch(() => {});
    }
  };
  void listenAgain();
  return () => ending.abort();
}
