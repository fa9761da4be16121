import type { EnqueueOptions, Receipt, Sink } from '../../src/client/sink.ts';
import type { OutgoingMessage } from '../../src/message/outgoing-message.ts';

/** A sink that records its batches. A batch gets its receipts at once, or with `hold` at `release()`. */
export class RecordingSink implements Sink {
  readonly maxInFlight: number;
  readonly batches: (readonly OutgoingMessage[])[] = [];
  readonly #hold: boolean;
  readonly #held: (() => void)[] = [];
  mostInFlight = 0;
  /** The most messages that were in flight at once. */
  mostHeld = 0;
  closed = 0;
  #inFlight = 0;
  #heldMessages = 0;

  constructor({ hold = false, maxInFlight = 1 }: { hold?: boolean; maxInFlight?: number } = {}) {
    this.#hold = hold;
    this.maxInFlight = maxInFlight;
  }

  /** The message ids of each batch. */
  get ids(): string[][] {
    return this.batches.map((batch) => batch.map(({ messageId }) => messageId));
  }

  encode({ message, orderKeys = [], exactBody }: EnqueueOptions, messageId: string): OutgoingMessage {
    const body = exactBody ?? Buffer.from(JSON.stringify(message));
    return { messageId, type: message.type, body, orderKeys };
  }

  async submit(batch: readonly OutgoingMessage[]): Promise<readonly Receipt[]> {
    this.batches.push(batch);
    this.mostInFlight = Math.max(this.mostInFlight, ++this.#inFlight);
    this.#heldMessages += batch.length;
    this.mostHeld = Math.max(this.mostHeld, this.#heldMessages);
    if (this.#hold) await new Promise<void>((resolve) => this.#held.push(resolve));
    this.#inFlight--;
    this.#heldMessages -= batch.length;
    return batch.map(({ messageId }) => ({ accepted: true, messageId, deliveries: [] }));
  }

  /** Releases the nth held batch, from 0. */
  release(nth = 0): void {
    this.#held.splice(nth, 1)[0]?.();
  }

  close(): Promise<void> {
    this.closed++;
    return Promise.resolve();
  }
}
