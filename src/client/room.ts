import { QueueError } from '../errors.ts';
import type { Receipt } from './sink.ts';

/** How many more messages a client may hold: `maxQueued`, less those that it holds. */
export class Room {
  readonly #maxQueued: number;
  readonly #keepsAccepted: boolean;
  /** Messages that have no receipt yet, but for the ones that wait for room. */
  #held = 0;
  /** Messages that the sink has accepted and keeps. Below 0 while some are settled before their receipts are in. */
  #unsettled = 0;
  #isClosing = false;

  /** @param keepsAccepted whether the sink keeps what it has accepted until it says that it is settled. */
  constructor(maxQueued: number, { keepsAccepted }: { readonly keepsAccepted: boolean }) {
    this.#maxQueued = maxQueued;
    this.#keepsAccepted = keepsAccepted;
  }

  /** Messages that are held, less those that wait. */
  get taken(): number {
    return this.#held + this.#unsettled;
  }

  get left(): number {
    return this.#maxQueued - this.#held - (this.#isClosing ? 0 : this.#unsettled);
  }

  take(): void {
    this.#held++;
  }

  /** Gives back the room of messages that have their receipts. */
  give(receipts: readonly Receipt[]): void {
    this.#held -= receipts.length;
    if (this.#keepsAccepted) this.#unsettled += receipts.filter(isUnsettled).length;
  }

  settled(messages: number): void {
    this.#unsettled -= messages;
  }

  /** No more calls come. What waits need not wait for what is unsettled, which an interruption leaves so forever. */
  close(): void {
    this.#isClosing = true;
  }
}

/** The sink says, or has said already, when it is settled. */
function isUnsettled(receipt: Receipt): boolean {
  return receipt.accepted && receipt.deliveries.length > 0;
}

export function clientFullError(maxQueued: number): QueueError {
  return new QueueError(`Expected room for the message: ${maxQueued} are queued or on their way already`, {
    hint: "await `client.ready()` before the call, raise `maxQueued`, or set `whenFull` to 'wait'",
  });
}

export function tooManyWaitError(maxQueued: number): QueueError {
  return new QueueError(
    `Expected at most ${maxQueued} messages to wait for room, got one more: the client is full`,
    { hint: 'await `client.ready()` before the call, or raise `maxQueued`' },
  );
}
