import type { ServerResponse } from 'node:http';
import type { Clock } from '../clock.ts';
import type { RequestStore } from './request-store.ts';
import type { SummaryBatch } from './wire.ts';

/** Requests that arrive within this time are sent together. */
const GATHER_MS = 40;
const BATCH = 500;
/** The interval of empty events, which reveal a dead connection. */
const BEAT_MS = 15_000;
/** The most pages open at once. */
const MAX_READERS = 32;

interface FeedReader {
  readonly response: ServerResponse;
  nextId: number;
  isFull: boolean;
  /** Whether it is to be told of something besides new requests. */
  isStale: boolean;
}

interface FeedSources {
  readonly store: RequestStore;
  /** The script in use. */
  readonly respond: () => string;
  readonly clock: Clock;
}

/** Sends new requests to the open pages as server-sent events. A slow page gets them later, without a growing queue. */
export class Feed {
  readonly #store: RequestStore;
  readonly #respond: () => string;
  readonly #clock: Clock;
  readonly #readers = new Set<FeedReader>();
  #cancelGather: (() => void) | undefined;
  #cancelBeat: (() => void) | undefined;

  constructor({ store, respond, clock }: FeedSources) {
    this.#store = store;
    this.#respond = respond;
    this.#clock = clock;
  }

  get isFull(): boolean {
    return this.#readers.size >= MAX_READERS;
  }

  /** Sends all requests from this id on, then new ones. */
  open(response: ServerResponse, fromId: number): void {
    const reader: FeedReader = { response, nextId: fromId, isFull: false, isStale: true };
    this.#readers.add(reader);
    response.on('drain', () => {
      reader.isFull = false;
      this.#sendNew(reader);
    });
    response.on('close', () => this.#readers.delete(reader));
    // Sent at once, even if empty, to show the page that it is connected.
    this.#sendNew(reader);
    this.#cancelBeat ??= this.#clock.after(BEAT_MS, this.#beat);
  }

  /** Sends new requests after a short delay. */
  wake(): void {
    if (this.#readers.size === 0 || this.#cancelGather !== undefined) return;
    this.#cancelGather = this.#clock.after(GATHER_MS, () => {
      this.#cancelGather = undefined;
      for (const reader of this.#readers) this.#sendNew(reader);
    });
  }

  /** Tells all pages what changed besides new requests. */
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
    while (!reader.isFull && (reader.isStale || reader.nextId < this.#store.nextId)) this.#write(reader);
  }

  #write(reader: FeedReader): void {
    const { firstId, nextId, evicted } = this.#store;
    reader.isStale = false;
    const requests = this.#store.since(reader.nextId, BATCH).map(({ summary }) => summary);
    reader.nextId = Math.max(reader.nextId, firstId) + requests.length;
    const batch: SummaryBatch = {
      requests,
      firstId,
      newestId: nextId - 1,
      evicted,
      respond: this.#respond(),
    };
    reader.isFull = !reader.response.write(`id: ${reader.nextId - 1}\ndata: ${JSON.stringify(batch)}\n\n`);
  }

  #beat = (): void => {
    for (const { response, isFull } of this.#readers) if (!isFull) response.write(': \n\n');
    this.#cancelBeat = this.#readers.size === 0 ? undefined : this.#clock.after(BEAT_MS, this.#beat);
  };
}
