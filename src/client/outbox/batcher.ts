import { callDetached } from '../../errors.ts';
import type { Clock } from '../../clock.ts';
import type { OutgoingMessage } from '../../message/outgoing-message.ts';
import { EMPTY_BATCH, grown, isAllowed, isBatchFull, type BatchSize } from '../batch.ts';
import { Fifo } from './fifo.ts';
import type { DebugLog } from '../log.ts';
import type { ResolvedClientOptions } from '../options.ts';
import { Room, type ClientCall, type Settle } from './room.ts';
import { receiptsFrom, type Sink } from '../sink.ts';

interface Batch {
  /** Sequence number of the first message of the batch. Messages are numbered from 0 in the order of the calls. */
  readonly first: number;
  readonly messages: OutgoingMessage[];
  readonly settles: Settle[];
  size: BatchSize;
}

export interface BatcherParts {
  readonly sink: Sink;
  readonly clock: Clock;
  readonly options: ResolvedClientOptions;
  readonly log: DebugLog | undefined;
}

/**
 * Collects messages in memory and submits them to the sink in batches:
 *
 *   add ─► waiting (only when full) ─► open batch ─cut─► cut batches ─► in flight ─► receipts
 *
 * A batch is cut when it is full, or when a flush is due and the sink has room for it. While the sink is busy, the open
 * batch continues to fill.
 */
export class Batcher {
  readonly #parts: BatcherParts;

  #open = emptyBatch(0);
  readonly #cut = new Fifo<Batch>();
  /** Batches in flight to the sink, oldest first. */
  readonly #inFlight: Batch[] = [];

  readonly #room: Room;
  /** Sequence number up to which `flush()` was called. Earlier messages do not wait for a full batch. */
  #flushBelow = 0;
  #flushedAt: number;
  #cancelTimer: () => void = () => {};
  readonly #flushes = new Fifo<{ readonly below: number; readonly resolve: () => void }>();

  constructor(parts: BatcherParts) {
    this.#parts = parts;
    this.#room = new Room({ ...parts, take: (call) => this.#take(call) });
    this.#flushedAt = parts.clock.now();
  }

  /** Adds a message. Throws QueueError if the client has no room for it, like `Room.add`. */
  add(message: OutgoingMessage, settle: Settle): void {
    this.#room.add({ message, settle });
    this.#pump();
  }

  /** Resolves when every message added so far has its receipt. */
  flush(): Promise<void> {
    const { called } = this.#room;
    if (this.#settledBelow() >= called) return Promise.resolve();
    this.#flushBelow = called;
    return new Promise((resolve) => {
      this.#flushes.push({ below: called, resolve });
      this.#pump();
    });
  }

  /** Flushes. Calls that wait for room are included, because each receipt frees room for one of them. */
  close(): Promise<void> {
    return this.flush();
  }

  /** Resolves when the client has room for one more message. */
  ready(): Promise<void> {
    const ready = this.#room.ready();
    this.#pump();
    return ready;
  }

  #take({ message, settle }: ClientCall): void {
    const { byteLength } = message.body;
    if (!isAllowed(grown(this.#open.size, byteLength))) this.#cutOpen();
    const batch = this.#open;
    batch.size = grown(batch.size, byteLength);
    batch.messages.push(message);
    batch.settles.push(settle);
    if (isBatchFull(batch.size, this.#parts.options.flushAt)) this.#cutOpen();
    else if (batch.size.count === 1) this.#startTimer();
  }

  #cutOpen(): void {
    this.#cancelTimer();
    this.#flushedAt = this.#parts.clock.now();
    this.#cut.push(this.#open);
    this.#open = emptyBatch(this.#open.first + this.#open.size.count);
  }

  /** Starts the flush timer. It keeps the process alive, so that no message is lost when the program ends normally. */
  #startTimer(): void {
    const left = this.#flushedAt + this.#parts.options.flushAfterMs - this.#parts.clock.now();
    this.#cancelTimer = this.#parts.clock.after(Math.max(0, left), () => {
      this.#flushBelow = Math.max(this.#flushBelow, this.#open.first + this.#open.size.count);
      this.#pump();
    });
  }

  #pump(): void {
    while (this.#inFlight.length < this.#parts.sink.maxInFlight) {
      if (this.#cut.length === 0 && this.#isFlushDue()) this.#cutOpen();
      const batch = this.#cut.shift();
      if (batch === undefined) return;
      void this.#submit(batch);
    }
  }

  /**
   * Whether to cut the open batch before it is full: `flush()` covers it, or a call waits for room while nothing is in
   * flight. Without the second condition, only the timer would free room.
   */
  #isFlushDue(): boolean {
    const { first, size } = this.#open;
    if (size.count === 0) return false;
    return first < this.#flushBelow || (this.#room.isAwaited && this.#inFlight.length === 0);
  }

  async #submit(batch: Batch): Promise<void> {
    this.#inFlight.push(batch);
    this.#parts.log?.('flush %d messages, %d bytes', batch.size.count, batch.size.bodyBytes);
    const receipts = await receiptsFrom(this.#parts.sink, batch.messages);
    this.#parts.log?.(
      'receipts: %d accepted of %d',
      receipts.filter(({ accepted }) => accepted).length,
      receipts.length,
    );
    // Frees the room before the callbacks, so that a callback can send another message.
    this.#room.give(receipts.length);
    batch.settles.forEach((settle, index) => {
      const receipt = receipts[index];
      if (receipt !== undefined) callDetached(settle, receipt);
    });
    this.#inFlight.splice(this.#inFlight.indexOf(batch), 1);
    this.#pump();
    this.#resolveFlushes();
  }

  #resolveFlushes(): void {
    const settledBelow = this.#settledBelow();
    while ((this.#flushes.peek()?.below ?? Infinity) <= settledBelow) this.#flushes.shift()?.resolve();
  }

  /**
   * Sequence number below which every message has its receipt: that of the first message of the oldest unsettled batch,
   * because batches are submitted in order.
   */
  #settledBelow(): number {
    const [oldest] = this.#inFlight;
    return (oldest ?? this.#cut.peek() ?? this.#open).first;
  }
}

function emptyBatch(first: number): Batch {
  return { first, messages: [], settles: [], size: EMPTY_BATCH };
}
