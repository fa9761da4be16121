import { setImmediate } from 'node:timers/promises';
import { unpackedBody } from '../receiver/messages/tracking-call.ts';
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
      const searched = textOf(kept);
      if (hasText(searched, wanted)) found.push(kept.summary.id);
      fromId = kept.summary.id + 1;
      bytes += searched.length;
      if (bytes < SLICE_BYTES) continue;
      bytes = 0;
      await setImmediate();
    }
  }
}

/** The text of a body, without its gzip. */
function textOf({ request }: StoredRequest): string {
  const unpacked = unpackedBody(request);
  const { buffer, byteOffset, byteLength } = 'body' in unpacked ? unpacked.body : request.body;
  return Buffer.from(buffer, byteOffset, byteLength).toString();
}

/** Some senders write all but ASCII as escapes: such a body is searched as it reads, too. */
function hasText(text: string, wanted: string): boolean {
  if (text.toLowerCase().includes(wanted)) return true;
  return NOT_ASCII.test(wanted) && text.includes('\\u') && readText(text).toLowerCase().includes(wanted);
}

const NOT_ASCII = /[^ -~]/;

function readText(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text));
  } catch {
    return '';
  }
}
