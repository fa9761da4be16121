import type { ServerResponse } from 'node:http';
import { setImmediate } from 'node:timers/promises';
import type { Receiver } from '../receiver/receiver.ts';
import type { RequestStore, StoredRequest } from './request-store.ts';
import type { MismatchCause } from './wire.ts';

/**
 * Maximum processor time of a search. One second finds every mistake that `hooks verify` finds. The receiver serves no
 * request meanwhile, which only the person who opened the mismatch can cause, once for each request.
 */
const SEARCH_MS = 1_000;

/** Searches longer for the causes of mismatches that the receiver had no time for, one at a time. */
export class CauseSearch {
  readonly #store: RequestStore;
  readonly #search: Receiver['searchLonger'];
  #turn: Promise<unknown> = Promise.resolve();

  constructor(store: RequestStore, search: Receiver['searchLonger']) {
    this.#store = store;
    this.#search = search;
  }

  /** Returns the cause for an opened request. Skips the search if the page no longer waits for it. */
  async causeFor(
    response: ServerResponse,
    { summary: { id }, request }: StoredRequest,
  ): Promise<{ readonly diagnosis?: MismatchCause | undefined }> {
    const found = this.#turn.then(() => this.#searchOnce(id, request, response));
    // Serves the senders that have waited before the next search begins.
    this.#turn = found.then(nextLoop, nextLoop);
    await found;
    return { diagnosis: this.#store.get(id)?.request.diagnosis };
  }

  /** Keeps the result without `isCutShort`, because the same search would find no more. */
  #searchOnce(id: number, request: StoredRequest['request'], response: ServerResponse): void {
    if (response.destroyed || this.#store.get(id)?.request.diagnosis?.isCutShort !== true) return;
    const cause = this.#search(request, SEARCH_MS);
    this.#store.diagnose(id, cause && { code: cause.code, hint: cause.hint });
  }
}

const nextLoop = (): Promise<void> => setImmediate();
