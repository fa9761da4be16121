import type { ServerResponse } from 'node:http';
import type { Clock } from '../clock.ts';
import type { RequestStore } from './request-store.ts';
import type { SummaryBatch } from './wire.ts';

/** Requests that arrive within this time are sent together. */
const GATHER_MS = 40;
/** Maximum number of request summaries in an event. */
const BATCH = 500;
/** Interval of empty events, which reveal a dead connection, in ms. */
const BEAT_MS = 15_000;
/** Maximum number of open pages. */
const MAX_READERS = 32;

/** An open page, which receives events. */
interface FeedReader {
  readonly response: ServerResponse;
  /** Id of the first request that was not sent to the page. */
  nextId: number;
  isFull: boolean;
  /** Whether the page needs an event even without new requests, such as after requests were cleared. */
  isStale: boolean;
}

interface FeedSources {
  readonly store: RequestStore;
  /** Returns the current script of responses, such as `503x2,200`. */
  readonly respond: () => string;
  readonly clock: Clock;
}

/** Sends new requests to the open pages as server-sent events. A slow page gets them later, without a growing queue. */
export class Feed {
  readonly #sources: FeedSources;
  readonly #readers = new Set<FeedReader>();
  #cancelGather: (() => void) | undefined;
  #cancelBeat: (() => void) | undefined;

  constructor(sources: FeedSources) {
    this.#sources = sources;
  }

  get isFull(): boolean {
    return this.#readers.size >= MAX_READERS;
  }

  /** Sends a page all requests from `fromId` on, then new ones as they arrive. */
  open(response: ServerResponse, fromId: number): void {
    const reader: FeedReader = { response, nextId: fromId, isFull: false, isStale: true };
    this.#readers.add(reader);
    response.on('drain', () => {
      reader.isFull = false;
      this.#sendNew(reader);
    });
    response.on('close', () => this.#readers.delete(reader));
    // Sends an event at once, even without requests, so that the page knows that it is connected.
    this.#sendNew(reader);
    this.#cancelBeat ??= this.#sources.clock.after(BEAT_MS, this.#beat);
  }

  /** Sends new requests to all open pages after a short delay. */
  wake(): void {
    if (this.#readers.size === 0 || this.#cancelGather !== undefined) return;
    this.#cancelGather = this.#sources.clock.after(GATHER_MS, () => {
      this.#cancelGather = undefined;
      for (const reader of this.#readers) this.#sendNew(reader);
    });
  }

  /** Sends an event about other changes than new requests, such as cleared requests, to all pages. */
  refresh(): void {
    for (const reader of this.#readers) {
      reader.isStale = true;
      this.#sendNew(reader);
    }
  }

  close(): void {
    this.#cancelGather?.();
    this.#cancelBeat?.();
    for (const { response } of this.#readers) response.end();
  }

  #sendNew(reader: FeedReader): void {
    const { store } = this.#sources;
    while (!reader.isFull && (reader.isStale || reader.nextId < store.nextId)) this.#write(reader);
  }

  #write(reader: FeedReader): void {
    const { store, respond } = this.#sources;
    const { firstId, nextId, evicted } = store;
    reader.isStale = false;
    const requests = store.since(reader.nextId, BATCH).map(({ summary }) => summary);
    reader.nextId = Math.max(reader.nextId, firstId) + requests.length;
    const newestId = nextId - 1;
    const batch: SummaryBatch = { requests, firstId, newestId, evicted, respond: respond() };
    reader.isFull = !reader.response.write(`id: ${reader.nextId - 1}\ndata: ${JSON.stringify(batch)}\n\n`);
  }

  #beat = (): void => {
    for (const { response, isFull } of this.#readers) if (!isFull) response.write(': \n\n');
    this.#cancelBeat = this.#readers.size === 0 ? undefined : this.#sources.clock.after(BEAT_MS, this.#beat);
  };
}
