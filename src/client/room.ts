import { QueueError } from '../errors.ts';

/** How many more messages a client may hold: `maxQueued`, less those that it holds. */
export class Room {
  readonly #maxQueued: number;
  /** Those that have no receipt yet, but for the ones that wait for room. */
  #held = 0;
  /** Those that the sink has accepted and keeps. Below 0 while some are settled before their receipts are in. */
  #unsettled = 0;
  #isClosing = false;

  constructor(maxQueued: number) {
    this.#maxQueued = maxQueued;
  }

  get left(): number {
    return this.#maxQueued - this.#held - (this.#isClosing ? 0 : this.#unsettled);
  }

  take(): void {
    this.#held++;
  }

  /** A batch of so many has its receipts; the sink keeps `unsettled` of them. */
  give(messages: number, unsettled: number): void {
    this.#held -= messages;
    this.#unsettled += unsettled;
  }

  settled(messages: number): void {
    this.#unsettled -= messages;
  }

  /** No more calls come. What waits need not wait for what is unsettled, which an interruption leaves so forever. */
  close(): void {
    this.#isClosing = true;
  }
}

export function fullError(maxQueued: number): QueueError {
  return new QueueError(`Expected room for the message: ${maxQueued} are queued or on their way already`, {
    hint: "Await `client.ready()` before the call, raise `maxQueued`, or set `whenFull` to 'wait'",
  });
}

export function tooManyWaitError(maxQueued: number): QueueError {
  return new QueueError(
    `Expected at most ${maxQueued} messages to wait for room, got one more: the client is full`,
    { hint: 'await `client.ready()` before the call, or raise `maxQueued`' },
  );
}
