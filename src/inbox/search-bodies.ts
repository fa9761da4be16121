import { setImmediate } from 'node:timers/promises';
import { parseJsonOrUndefined } from '../message/json/batch-document.ts';
import { unpackedBody } from '../receiver/messages/tracking-call.ts';
import type { RequestStore, StoredRequest } from './request-store.ts';

/** Bytes to search before yielding to the event loop, so that a search does not delay incoming requests. */
const SLICE_BYTES = 2 * 1024 * 1024;

/** Returns the ids of requests whose body contains the text, ignoring case. */
export async function searchBodies(store: RequestStore, text: string): Promise<readonly number[]> {
  const wanted = text.toLowerCase();
  const found: number[] = [];
  let bytes = 0;
  for (let id = store.firstId; id < store.nextId; id++) {
    const kept = store.get(id);
    // The request was evicted or cleared while the search yielded to the event loop.
    if (kept === undefined) continue;
    const searched = textOf(kept);
    if (hasText(searched, wanted)) found.push(id);
    bytes += searched.length;
    if (bytes < SLICE_BYTES) continue;
    bytes = 0;
    await setImmediate();
  }
  return found;
}

/** The text of a body, unzipped. */
function textOf({ request }: StoredRequest): string {
  const unpacked = unpackedBody(request);
  const { buffer, byteOffset, byteLength } = 'body' in unpacked ? unpacked.body : request.body;
  return Buffer.from(buffer, byteOffset, byteLength).toString();
}

/** Whether a text has the wanted words, directly or as JSON escapes: some senders escape all non-ASCII characters. */
function hasText(text: string, wanted: string): boolean {
  if (text.toLowerCase().includes(wanted)) return true;
  return NOT_ASCII.test(wanted) && text.includes('\\u') && unescaped(text).toLowerCase().includes(wanted);
}

const NOT_ASCII = /[^ -~]/;

function unescaped(json: string): string {
  return JSON.stringify(parseJsonOrUndefined(json) ?? '');
}
