import type { ReplayEntry } from '../../../src/replay/reading/replay-entry.ts';
import { readEntries } from '../../../src/replay/reading/read-entries.ts';

/** An input of these bytes, given in chunks of `chunkBytes`. */
export function inputOf(content: string | Uint8Array, chunkBytes = 64 * 1024, name = 'in.json') {
  const bytes = Buffer.from(content);
  async function* open(): AsyncGenerator<Buffer> {
    for (let at = 0; at < bytes.length; at += chunkBytes) yield bytes.subarray(at, at + chunkBytes);
  }
  return { name, open };
}

export async function entriesOf(input: Parameters<typeof readEntries>[0]): Promise<ReplayEntry[]> {
  const entries: ReplayEntry[] = [];
  for await (const batch of readEntries(input)) entries.push(...batch);
  return entries;
}

/** Entries as `3 {"a":1}`, `3 capture {"a":1}`, `3 ! what is wrong`. */
export async function read(content: string | Uint8Array, chunkBytes?: number): Promise<string[]> {
  return (await entriesOf(inputOf(content, chunkBytes))).map(shown);
}

export function shown(entry: ReplayEntry): string {
  const { line } = entry.origin;
  if (entry.kind === 'broken') return `${line} ! ${entry.error.message}`;
  const text = Buffer.from(entry.bytes).toString();
  return entry.kind === 'capture' ? `${line} capture ${text}` : `${line} ${text}`;
}
