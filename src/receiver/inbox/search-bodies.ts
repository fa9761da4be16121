import { setImmediate } from 'node:timers/promises';
import type { StoredRequest, RequestStore } from './request-store.ts';

/** Looked through in one go, so that senders are served in between. */
const SLICE_BYTES = 2 * 1024 * 1024;
const SLICE = 500;

/** The ids of the requests whose body has the text in it, whatever the case. */
export async function searchBodies(store: RequestStore, text: string): Promise<readonly number[]> {
  const wanted = text.toLowerCase();
  const found: number[] = [];
  let bytes = 0;
  let fromId = store.firstId;
  for (;;) {
    const slice = store.since(fromId, SLICE);
    if (slice.length === 0) return found;
    for (const kept of slice) {
      if (has(kept, wanted)) found.push(kept.summary.id);
      fromId = kept.summary.id + 1;
      bytes += kept.summary.bytes;
      if (bytes < SLICE_BYTES) continue;
      bytes = 0;
      await setImmediate();
    }
  }
}

/** Of a call, whose body may be gzipped, the messages count too. */
function has({ request: { body, call } }: StoredRequest, wanted: string): boolean {
  if (call !== undefined && JSON.stringify(call.messages).toLowerCase().includes(wanted)) return true;
  return Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString().toLowerCase().includes(wanted);
}
