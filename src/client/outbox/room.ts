import { QueueError } from '../../errors.ts';
import type { OutgoingMessage } from '../../message/outgoing-message.ts';
import { printable } from '../../redact.ts';
import { Fifo } from './fifo.ts';
import type { DebugLog } from '../log.ts';
import { endWarningOfLoss, warnOfLoss, type MessageHolder } from './loss-warning.ts';
import type { ResolvedClientOptions } from '../options.ts';
import type { Receipt } from '../sink.ts';

export type Settle = (receipt: Receipt) => void;

/** A message and the callback for its receipt. */
export interface ClientCall {
  readonly message: OutgoingMessage;
  readonly settle: Settle;
}

interface RoomParts {
  readonly options: ResolvedClientOptions;
  readonly log: DebugLog | undefined;
  /** Called for each message when there is room for the message, in the order of the calls. */
  readonly take: (call: ClientCall) => void;
}

/** Limits the messages that a client holds to `maxQueued`. Further calls wait for room or throw. */
export class Room implements MessageHolder {
  readonly #parts: RoomParts;
  #maxQueued: number;
  #called = 0;
  #taken = 0;
  /** Calls that wait for room. Undefined until a call waits, because most clients are never full. */
  #waiting: Fifo<ClientCall> | undefined;
  /** Callbacks that resolve the promises of `ready()`. */
  #readies: Fifo<() => void> | undefined;

  constructor(parts: RoomParts) {
    this.#parts = parts;
    this.#maxQueued = parts.options.maxQueued;
  }

  /**
   * Takes the message, or lets it wait for room. Throws QueueError if the client is full with `whenFull: 'throw'`, or if
   * `maxQueued` calls wait already.
   */
  add(call: ClientCall): void {
    const { maxQueued, whenFull, warnOnLoss } = this.#parts.options;
    const hasRoom = !this.#isFull && this.#calls === 0;
    if (!hasRoom && whenFull === 'throw') throw clientFullError(maxQueued);
    if (!hasRoom && this.#calls >= maxQueued) throw tooManyWaitError(maxQueued);
    const { type, messageId } = call.message;
    this.#parts.log?.('enqueue %s %s%s', type, printable(messageId), hasRoom ? '' : ' (waits: full)');
    this.#called++;
    if (warnOnLoss && this.heldMessages === 0) warnOfLoss(this);
    if (hasRoom) this.#letIn(call);
    else (this.#waiting ??= new Fifo()).push(call);
  }

  /** Number of messages that were added so far. */
  get called(): number {
    return this.#called;
  }

  get heldMessages(): number {
    return this.#taken + this.#calls;
  }

  /** Whether a call or a `ready()` waits for room. */
  get isAwaited(): boolean {
    return this.#calls > 0 || (this.#readies?.length ?? 0) > 0;
  }

  /** Resolves when the client has room for one more message. */
  ready(): Promise<void> {
    if (!this.#isFull) return Promise.resolve();
    return new Promise((resolve) => (this.#readies ??= new Fifo()).push(resolve));
  }

  /** Frees room: `messages` is the number of messages that no longer need any. */
  give(messages: number): void {
    this.#taken -= messages;
    this.#letAllIn();
  }

  /** Removes the limit of messages, which lets all waiting calls in. */
  close(): void {
    this.#maxQueued = Infinity;
    this.#letAllIn();
  }

  /** Number of calls that wait for room. */
  get #calls(): number {
    return this.#waiting?.length ?? 0;
  }

  get #isFull(): boolean {
    return this.#taken >= this.#maxQueued;
  }

  #letIn(call: ClientCall): void {
    this.#taken++;
    this.#parts.take(call);
  }

  #letAllIn(): void {
    while (this.#calls > 0 && !this.#isFull) {
      const call = this.#waiting?.shift();
      if (call !== undefined) this.#letIn(call);
    }
    for (let left = this.#maxQueued - this.#taken; left > 0; left--) {
      const ready = this.#readies?.shift();
      if (ready === undefined) break;
      ready();
    }
    if (this.#parts.options.warnOnLoss && this.heldMessages === 0) endWarningOfLoss(this);
  }
}

function clientFullError(maxQueued: number): QueueError {
  return new QueueError(`Expected room for the message: ${maxQueued} are queued or on their way already`, {
    hint: "await `client.ready()` before the call, raise `maxQueued`, or set `whenFull` to 'wait'",
  });
}

function tooManyWaitError(maxQueued: number): QueueError {
  return new QueueError(
    `Expected at most ${maxQueued} messages to wait for room, got one more: the client is full`,
    { hint: 'await `client.ready()` before the call, or raise `maxQueued`' },
  );
}
