import { randomUUID } from 'node:crypto';
import type { Clock } from '../clock.ts';
import { ClosedError, ValidationError } from '../errors.ts';
import { isObject, kindOf } from '../validate-options.ts';
import { buildMessage, validateMessageSize, messageBytes } from '../message/build.ts';
import { MAX_MESSAGE_BYTES } from '../message/limits.ts';
import { isAllSent, type OutgoingMessage } from '../message/outgoing-message.ts';
import type { Message, MessageType } from '../message/types.ts';
import { Batcher } from './outbox/batcher.ts';
import type {
  AliasCall,
  CallOptions,
  DeleteCall,
  GroupCall,
  IdentifyCall,
  PageCall,
  ScreenCall,
  TraceParent,
  TrackCall,
} from './calls.ts';
import { Forwarder } from './outbox/forwarder.ts';
import { createDebugLog } from './log.ts';
import type { ResolvedClientOptions } from './options.ts';
import type { Settle } from './outbox/room.ts';
import type { EnqueueOptions, Receipt, Sink } from './sink.ts';

/**
 * Queues messages in memory and submits them to a sink in the background: in batches, or one by one if the sink itself keeps
 * messages in memory. A call returns a promise of its receipt: `await` it for the result, or only `await close()` at the
 * end. The promise never rejects, so a call that is not awaited cannot end the process. A call that throws queues nothing:
 * ValidationError (not a message, over 32,768 bytes, or rejected by the tracking plan of the pipeline), QueueError (full) or ClosedError.
 */
export interface Client {
  identify(call: IdentifyCall, parent?: TraceParent): Promise<Receipt>;
  track(call: TrackCall, parent?: TraceParent): Promise<Receipt>;
  page(call: PageCall, parent?: TraceParent): Promise<Receipt>;
  screen(call: ScreenCall, parent?: TraceParent): Promise<Receipt>;
  group(call: GroupCall, parent?: TraceParent): Promise<Receipt>;
  alias(call: AliasCall, parent?: TraceParent): Promise<Receipt>;
  delete(call: DeleteCall, parent?: TraceParent): Promise<Receipt>;
  /** Queues a message that `buildMessage` made. The caller has validated its size. */
  enqueue(options: EnqueueOptions): Promise<Receipt>;
  /**
   * Queues a message like `enqueue`, but without a promise, for programs that send millions of messages. `onReceipt` is
   * called once, later. If it throws, the error is an uncaught exception, and other messages still get receipts.
   */
  enqueueThen(options: EnqueueOptions, onReceipt: (receipt: Receipt) => void): void;
  /** Resolves when the client has room for another message. A loop that awaits this before each call has bounded memory. */
  ready(): Promise<void>;
  /** Sends all queued messages now. Resolves when all calls until now have their receipts. */
  flush(): Promise<void>;
  /** Flushes, then closes the sink. Later calls throw ClosedError. */
  close(): Promise<void>;
}

export interface ClientParts {
  readonly sink: Sink;
  readonly clock: Clock;
  readonly options: ResolvedClientOptions;
  /** Checks each message. An error that it throws is thrown by the call, which then queues nothing. @default no check */
  readonly check?: ((message: Message) => void) | undefined;
}

export function createClient(parts: ClientParts): Client {
  return new QueueingClient(parts);
}

class QueueingClient implements Client {
  readonly #sink: Sink;
  readonly #clock: Clock;
  readonly #check: ClientParts['check'];
  readonly #outbox: Batcher | Forwarder;
  #closing: Promise<void> | undefined;

  constructor({ sink, clock, options, check }: ClientParts) {
    const parts = { sink, clock, options, log: createDebugLog() };
    this.#sink = sink;
    this.#clock = clock;
    this.#check = check;
    this.#outbox = sink.onSettled === undefined ? new Batcher(parts) : new Forwarder(parts);
  }

  identify(call: IdentifyCall, parent?: TraceParent): Promise<Receipt> {
    return this.#call('identify', call, parent);
  }

  track(call: TrackCall, parent?: TraceParent): Promise<Receipt> {
    return this.#call('track', call, parent);
  }

  page(call: PageCall, parent?: TraceParent): Promise<Receipt> {
    return this.#call('page', call, parent);
  }

  screen(call: ScreenCall, parent?: TraceParent): Promise<Receipt> {
    return this.#call('screen', call, parent);
  }

  group(call: GroupCall, parent?: TraceParent): Promise<Receipt> {
    return this.#call('group', call, parent);
  }

  alias(call: AliasCall, parent?: TraceParent): Promise<Receipt> {
    return this.#call('alias', call, parent);
  }

  delete(call: DeleteCall, parent?: TraceParent): Promise<Receipt> {
    return this.#call('delete', call, parent);
  }

  enqueue(options: EnqueueOptions): Promise<Receipt> {
    return promiseOrThrow((settle) => this.enqueueThen(options, settle));
  }

  enqueueThen(options: EnqueueOptions, settle: Settle): void {
    if (this.#closing !== undefined) throw closedError();
    validateEnqueued(options);
    this.#check?.(options.message);
    this.#outbox.add(this.#encode(options), settle);
  }

  ready(): Promise<void> {
    return this.#outbox.ready();
  }

  flush(): Promise<void> {
    return this.#outbox.flush();
  }

  close(): Promise<void> {
    this.#sink.beginClose?.();
    this.#closing ??= this.#outbox.close().then(() => this.#sink.close());
    return this.#closing;
  }

  #call(
    type: MessageType,
    call: CallOptions,
    { traceparent, tracestate }: TraceParent = {},
  ): Promise<Receipt> {
    // The type comes last so that a field of a JavaScript caller cannot override it.
    const message = buildMessage({ ...call, type }, { now: this.#clock.now() });
    if (this.#closing !== undefined) throw closedError();
    this.#check?.(message);
    const outgoing = this.#encode({ message, traceparent, tracestate });
    validateGivenSize({ ...call }, message, outgoing);
    return promiseOrThrow((settle) => this.#outbox.add(outgoing, settle));
  }

  #encode(options: EnqueueOptions): OutgoingMessage {
    const messageId = options.messageId ?? options.message.messageId ?? randomUUID();
    return this.#sink.encode(options, messageId);
  }
}

/**
 * Throws ValidationError if the argument of a call exceeds the size limit, not counting the type that the client adds. The
 * argument is not serialized again if the body contains all of it and is within the limit.
 */
function validateGivenSize(
  given: Readonly<Record<string, unknown>>,
  message: Message,
  { body }: OutgoingMessage,
): void {
  if (body.byteLength <= MAX_MESSAGE_BYTES && isAllSent(given, message)) return;
  validateMessageSize(messageBytes(given));
}

/** Throws ValidationError if the argument of `enqueue` has no message object, since JavaScript can pass anything. */
function validateEnqueued(given: EnqueueOptions): void {
  if (isObject(given) && isObject(given.message)) return;
  const [what, got] = isObject(given) ? ['`message`', given.message] : ['the argument of enqueue()', given];
  throw new ValidationError(`Expected ${what} to be an object, got ${kindOf(got)}`, {
    path: isObject(given) ? 'message' : '',
    got: kindOf(got),
    hint: 'pass { message }, with a message that buildMessage has made',
  });
}

function closedError(): ClosedError {
  return new ClosedError('Expected a client that is open, got a call after close()', {
    hint: 'call it before close(), or create a new client',
  });
}

/** Works like `new Promise`, but an error that `start` throws is thrown synchronously, so the promise never rejects. */
export function promiseOrThrow<T>(start: (resolve: (value: T) => void) => void): Promise<T> {
  let settle: ((value: T) => void) | undefined;
  const promise = new Promise<T>((resolve) => {
    settle = resolve;
  });
  // By now the Promise constructor has set `settle`, because it calls its argument synchronously.
  start((value) => settle?.(value));
  return promise;
}
