import { callDetached, messageOf } from '../../errors.ts';
import type { OutgoingMessage } from '../../message/outgoing-message.ts';
import type { DebugLog } from '../log.ts';
import type { ResolvedClientOptions } from '../options.ts';
import { Room, type ClientCall, type Settle } from './room.ts';
import { rejectedBySink, type Receipt, type Sink } from '../sink.ts';

export interface ForwarderParts {
  readonly sink: Sink;
  readonly options: ResolvedClientOptions;
  readonly log: DebugLog | undefined;
}

/**
 * Hands each message straight on to a sink that keeps messages in memory itself: a batch would only delay them. A message counts
 * against `maxQueued` until the sink has settled it. Receipts come in the order of the calls, because nothing in memory is retried.
 */
export class Forwarder {
  readonly #sink: Sink;
  readonly #log: DebugLog | undefined;
  readonly #room: Room;
  #receipts = 0;
  #flushes: { readonly below: number; readonly resolve: () => void }[] = [];

  constructor({ sink, options, log }: ForwarderParts) {
    this.#sink = sink;
    this.#log = log;
    this.#room = new Room({ options, log, take: (call) => void this.#submit(call) });
    sink.onSettled?.((messages) => this.#room.give(messages));
  }

  /** Throws QueueError as `Room.add` does. */
  add(message: OutgoingMessage, settle: Settle): void {
    this.#room.add({ message, settle });
  }

  /** Resolves when there is room for one more message. */
  ready(): Promise<void> {
    return this.#room.ready();
  }

  /** Resolves when every message added so far has its receipt. */
  flush(): Promise<void> {
    const below = this.#room.called;
    if (this.#receipts >= below) return Promise.resolve();
    return new Promise((resolve) => this.#flushes.push({ below, resolve }));
  }

  /** The same. Calls that wait do not wait for unsettled messages any longer: after an interruption these never settle. */
  close(): Promise<void> {
    this.#room.close();
    return this.flush();
  }

  async #submit({ message, settle }: ClientCall): Promise<void> {
    const receipt = await this.#receiptOf(message);
    this.#log?.('receipts: %d accepted of 1', receipt.accepted ? 1 : 0);
    const isKept = receipt.accepted && receipt.deliveries.length > 0;
    // Before the callback, so that one that sends another message finds its place.
    if (!isKept) this.#room.give(1);
    callDetached(settle, receipt);
    this.#receipts++;
    while (this.#flushes[0] !== undefined && this.#flushes[0].below <= this.#receipts) {
      this.#flushes.shift()?.resolve();
    }
  }

  /** A sink never rejects; one that does must not leave its caller waiting, nor end the process. */
  async #receiptOf(message: OutgoingMessage): Promise<Receipt> {
    try {
      const [receipt] = await this.#sink.submit([message]);
      return receipt ?? rejectedBySink(message, 'no receipt');
    } catch (error) {
      return rejectedBySink(message, messageOf(error));
    }
  }
}
