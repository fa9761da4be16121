import type { ServerResponse } from 'node:http';
import type { Clock } from '../../clock.ts';
import type { RequestStore } from './request-store.ts';
import type { SummaryBatch } from './wire.ts';

/** Requests that come within it are told of together. */
const GATHER_MS = 40;
const BATCH = 500;
/** So that a connection that died silently is noticed. */
const BEAT_MS = 15_000;
/** Pages open at once. */
const MAX_READERS = 32;

interface FeedReader {
  readonly response: ServerResponse;
  nextId: number;
  isFull: boolean;
}

/** Tells the pages that are open what came, as server-sent events. A slow one is told later, never from a queue that grows. */
export class Feed {
  readonly #store: RequestStore;
  readonly #clock: Clock;
  readonly #readers = new Set<FeedReader>();
  #cancelGather: (() => void) | undefined;
  #cancelBeat: (() => void) | undefined;

  constructor(store: RequestStore, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
  }

  get isFull(): boolean {
    return this.#readers.size >= MAX_READERS;
  }

  /** Tells all from this id on, then what comes. */
  open(response: ServerResponse, fromId: number): void {
    const reader: FeedReader = { response, nextId: fromId, isFull: false };
    this.#readers.add(reader);
    response.on('drain', () => {
      reader.isFull = false;
      this.#tell(reader);
    });
    response.on('close', () => this.#readers.delete(reader));
    // At once, and be it empty: the page knows then that it is connected.
    this.#write(reader);
    this.#tell(reader);
    this.#cancelBeat ??= this.#clock.after(BEAT_MS, this.#beat);
  }

  /** Something came. */
  wake(): void {
    if (this.#readers.size === 0 || this.#cancelGather !== undefined) return;
    this.#cancelGather = this.#clock.after(GATHER_MS, () => {
      this.#cancelGather = undefined;
      for (const reader of this.#readers) this.#tell(reader);
    });
  }

  close(): void {
    this.#cancelGather?.();
    this.#cancelBeat?.();
    for (const { response } of this.#readers) response.end();
  }

  #tell(reader: FeedReader): void {
    while (!reader.isFull && reader.nextId < this.#store.nextId) this.#write(reader);
  }

  #write(reader: FeedReader): void {
    const { firstId, nextId } = this.#store;
    const requests = this.#store.since(reader.nextId, BATCH).map(({ summary }) => summary);
    reader.nextId = Math.max(reader.nextId, firstId) + requests.length;
    const batch: SummaryBatch = { requests, firstId, newestId: nextId - 1 };
    reader.isFull = !reader.response.write(`id: ${reader.nextId - 1}\ndata: ${JSON.stringify(batch)}\n\n`);
  }

  #beat = (): void => {
    for (const { response, isFull } of this.#readers) if (!isFull) response.write(': \n\n');
    this.#cancelBeat = this.#readers.size === 0 ? undefined : this.#clock.after(BEAT_MS, this.#beat);
  };
}
