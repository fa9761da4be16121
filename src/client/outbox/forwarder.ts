import { callDetached } from '../../errors.ts';
import type { OutgoingMessage } from '../../message/outgoing-message.ts';
import { receiptsFrom, type Receipt } from '../sink.ts';
import type { BatcherParts } from './batcher.ts';
import { Room, type ClientCall, type Settle } from './room.ts';

type ForwarderParts = Omit<BatcherParts, 'clock'>;

/**
 * Submits messages to a sink that itself keeps messages in memory, those of one turn together: a batch would only delay
 * them. A message counts against `maxQueued` until the sink reports it as settled. Receipts come in the order of the calls,
 * because a submit to a queue in memory is never retried.
 */
export class Forwarder {
  readonly #parts: ForwarderParts;
  readonly #room: Room;
  /** Messages of this turn of the event loop, which are submitted together, because a submit costs several promises. */
  #messages: OutgoingMessage[] = [];
  #settles: Settle[] = [];
  #receipts = 0;
  #flushes: { readonly below: number; readonly resolve: () => void }[] = [];

  constructor(parts: ForwarderParts) {
    this.#parts = parts;
    this.#room = new Room({ ...parts, take: (call) => this.#gather(call) });
    parts.sink.onSettled?.((messages) => this.#room.give(messages));
  }

  /** Adds a message. Throws QueueError if the client has no room for it, like `Room.add`. */
  add(message: OutgoingMessage, settle: Settle): void {
    this.#room.add({ message, settle });
  }

  /** Resolves when the client has room for one more message. */
  ready(): Promise<void> {
    return this.#room.ready();
  }

  /** Resolves when every message added so far has its receipt. */
  flush(): Promise<void> {
    const below = this.#room.called;
    if (this.#receipts >= below) return Promise.resolve();
    return new Promise((resolve) => this.#flushes.push({ below, resolve }));
  }

  /** Flushes. Calls no longer wait for room: after an interruption, unsettled messages never free their room. */
  close(): Promise<void> {
    this.#room.close();
    return this.flush();
  }

  #gather({ message, settle }: ClientCall): void {
    this.#settles.push(settle);
    if (this.#messages.push(message) === 1) queueMicrotask(() => void this.#submit());
  }

  async #submit(): Promise<void> {
    const [messages, settles] = [this.#messages, this.#settles];
    [this.#messages, this.#settles] = [[], []];
    const receipts = await receiptsFrom(this.#parts.sink, messages);
    for (const [index, settle] of settles.entries()) this.#settle(settle, receipts[index]);
    while (this.#flushes[0] !== undefined && this.#flushes[0].below <= this.#receipts) {
      this.#flushes.shift()?.resolve();
    }
  }

  #settle(settle: Settle, receipt: Receipt | undefined): void {
    if (receipt === undefined) throw new TypeError('Expected a receipt per message');
    this.#parts.log?.('receipts: %d accepted of 1', receipt.accepted ? 1 : 0);
    const isKept = receipt.accepted && receipt.deliveries.length > 0;
    // Frees the room before the callback, so that the callback can send another message.
    if (!isKept) this.#room.give(1);
    callDetached(settle, receipt);
    this.#receipts++;
  }
}
