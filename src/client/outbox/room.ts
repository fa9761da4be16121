import { QueueError } from '../../errors.ts';
import type { OutgoingMessage } from '../../message/outgoing-message.ts';
import { printable } from '../../redact.ts';
import { Fifo } from './fifo.ts';
import type { DebugLog } from '../log.ts';
import { endWarningOfLoss, warnOfLoss, type MessageHolder } from './loss-warning.ts';
import type { ResolvedClientOptions } from '../options.ts';
import type { Receipt } from '../sink.ts';

export type Settle = (receipt: Receipt) => void;

/** A message, and the callback for its receipt. */
export interface ClientCall {
  readonly message: OutgoingMessage;
  readonly settle: Settle;
}

interface RoomParts {
  readonly options: ResolvedClientOptions;
  readonly log: DebugLog | undefined;
  /** Called for each message in the order of the calls, once there is room for the message. */
  readonly take: (call: ClientCall) => void;
}

/** The messages that a client may hold: at most `maxQueued`. Further calls wait for room, or throw. */
export class Room implements MessageHolder {
  readonly #options: ResolvedClientOptions;
  readonly #log: DebugLog | undefined;
  readonly #take: (call: ClientCall) => void;
  #maxQueued: number;
  #called = 0;
  #taken = 0;
  /** Undefined until a call waits: most clients are never full. */
  #waiting: Fifo<ClientCall> | undefined;
  #readies: Fifo<() => void> | undefined;

  constructor({ options, log, take }: RoomParts) {
    this.#options = options;
    this.#log = log;
    this.#take = take;
    this.#maxQueued = options.maxQueued;
  }

  /** Throws QueueError when full and asked to throw, or when too many calls wait; otherwise the message is taken or waits its turn. */
  add(call: ClientCall): void {
    const { maxQueued, whenFull, warnOnLoss } = this.#options;
    const hasRoom = !this.#isFull && this.#calls === 0;
    if (!hasRoom && whenFull === 'throw') throw clientFullError(maxQueued);
    if (!hasRoom && this.#calls >= maxQueued) throw tooManyWaitError(maxQueued);
    const { type, messageId } = call.message;
    this.#log?.('enqueue %s %s%s', type, printable(messageId), hasRoom ? '' : ' (waits: full)');
    this.#called++;
    if (warnOnLoss && this.heldMessages === 0) warnOfLoss(this);
    if (hasRoom) this.#letIn(call);
    else (this.#waiting ??= new Fifo()).push(call);
  }

  /** The messages of all calls so far. */
  get called(): number {
    return this.#called;
  }

  get heldMessages(): number {
    return this.#taken + this.#calls;
  }

  /** Whether a caller waits for room. */
  get isAwaited(): boolean {
    return this.#calls > 0 || this.#isAsked;
  }

  /** Resolves when there is room for one more message. */
  ready(): Promise<void> {
    if (!this.#isFull) return Promise.resolve();
    return new Promise((resolve) => (this.#readies ??= new Fifo()).push(resolve));
  }

  /** Gives back the room of messages. */
  give(messages: number): void {
    this.#taken -= messages;
    this.#letAllIn();
  }

  /** Lets in the calls that wait, however many messages are held. */
  close(): void {
    this.#maxQueued = Infinity;
    this.#letAllIn();
  }

  /** The number of calls that wait. */
  get #calls(): number {
    return this.#waiting?.length ?? 0;
  }

  /** Whether a caller waits for `ready()`. */
  get #isAsked(): boolean {
    return this.#readies !== undefined && this.#readies.length > 0;
  }

  get #isFull(): boolean {
    return this.#taken >= this.#maxQueued;
  }

  #letIn(call: ClientCall): void {
    this.#taken++;
    this.#take(call);
  }

  #letAllIn(): void {
    while (this.#calls > 0 && !this.#isFull) {
      const call = this.#waiting?.shift();
      if (call !== undefined) this.#letIn(call);
    }
    for (let left = this.#maxQueued - this.#taken; left > 0 && this.#isAsked; left--) {
      this.#readies?.shift()?.();
    }
    if (this.#options.warnOnLoss && this.heldMessages === 0) endWarningOfLoss(this);
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
