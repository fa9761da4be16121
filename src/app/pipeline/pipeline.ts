import { createClient, promiseOrThrow, type Client, type ClientParts } from '../../client/client.ts';
import type { ResolvedClientOptions } from '../../client/options.ts';
import type { EnqueueOptions, Receipt, Sink } from '../../client/sink.ts';
import { sleep, systemClock, type Clock } from '../../clock.ts';
import { prepareDestinations } from '../../engine/destination.ts';
import type { EngineEvent } from '../../engine/engine-event.ts';
import { Engine, type EngineOptions } from '../../engine/engine.ts';
import type { Sources } from '../../engine/options.ts';
import { Router } from '../../engine/router.ts';
import type { LaneId } from '../../queue/queue.ts';
import { MemoryQueue } from '../../stores/open.ts';
import type { DurableQueue } from '../../stores/opened-queue.ts';
import type { Transport } from '../../transport/transport.ts';
import { createUndiciTransport } from '../../transport/undici-transport.ts';
import { validateRoutes } from '../validate-routes.ts';
import type { PipelineEngineParts, SharedOptions } from './options.ts';
import { Outcomes, queuedOutcome, type Outcome } from './outcomes.ts';
import { checkOfPlan } from './plan-option.ts';
import { createRouterSink } from './router-sink.ts';
import { USER_AGENT } from '../version.ts';

/** A client with everything that delivers its messages, for `send`, `replay` and programs that embed hooks. */
export interface Pipeline {
  readonly client: Client;
  /**
   * Enqueues a message and resolves when it is settled at every destination or the pipeline is interrupted. Never rejects.
   * Throws QueueError and ClosedError synchronously, like the calls of the client.
   */
  deliver(options: EnqueueOptions): Promise<Outcome>;
  /**
   * Delivers like `deliver` without a promise, for programs that send millions: calls `onOutcome` once; an error that
   * `onOutcome` throws is an uncaught exception. Throws ClosedError and QueueError.
   */
  deliverThen(options: EnqueueOptions, onOutcome: (outcome: Outcome) => void): void;
  /**
   * Stops delivering: aborts attempts in flight after `graceMs`. Messages that are not settled by then are `unsent`. Also
   * ends a waiting close().
   */
  interrupt(graceMs: number): Promise<void>;
  /**
   * Flushes, waits until every delivery is settled, and releases every socket and timer. With a failing tracking API this
   * takes at most `retryForMs` and the time of one attempt. With failing webhooks it takes at most the rest of
   * `delivery.retryForMs` (4 h by default) and the time of one round; undelivered messages then are dead letters. A call of
   * `interrupt` shortens the wait. In any case every message gets its receipt.
   */
  close(): Promise<void>;
}

/** The options of a pipeline, validated and complete. */
export interface DeliveryParts extends Omit<SharedOptions, 'client'>, PipelineEngineParts {
  readonly sources: Sources;
  /** Name of the source that the client's messages belong to. */
  readonly source: string;
  readonly client: ResolvedClientOptions;
  readonly headersOfBody?: EngineOptions['headersOfBody'];
  readonly wrapTransport?: TransportWrapper;
}

/** Adds something to the transport that a pipeline creates itself. */
export type TransportWrapper = (transport: Transport) => Transport;

/**
 * Opens a pipeline: client → engine → queue → transport. Throws ConfigError for webhooks with an unusable URL, proxy or CA
 * file.
 */
export function openDeliveryPipeline(options: DeliveryParts): Pipeline {
  const { sources, source, client, clock = systemClock, random = Math.random } = options;
  const transport = options.transport ?? undici(options, options.wrapTransport);
  const memory = new MemoryQueue(clock);
  const { queue = memory } = options;
  const outcomes = new Outcomes({ followsAll: options.queue === undefined });
  const onEvent = (event: EngineEvent): void => {
    outcomes.see(event);
    options.onEvent?.(event);
  };
  const engine = new Engine({
    sources,
    queue,
    transport,
    clock,
    random,
    userAgent: USER_AGENT,
    onEvent,
    headersOfBody: options.headersOfBody,
    ...(queue === memory && { makeDue: async (lane: LaneId) => memory.makeDue(lane) }),
    loadCauses: () => import('../../diagnosis/explain.ts'),
  });
  if (options.transport === undefined) validateRoutes(sources, options.proxyEnv);
  engine.start();
  const release = async (): Promise<void> => {
    await engine.close();
    // The interruption also reports messages that were added while the engine was closing.
    outcomes.interrupt();
    await queue.close();
    await transport.close();
  };
  return new ClientPipeline({
    sink: createRouterSink({ router: engine, source, outcomes }),
    clock,
    client,
    check: options.plan && checkOfPlan(options.plan),
    onReceipt: (receipt, onOutcome) => outcomes.subscribe(receipt, onOutcome),
    settled: () => engine.idle(),
    cut: async (graceMs) => {
      const over = new AbortController();
      const finished = engine.close().finally(() => over.abort());
      await Promise.race([finished, sleep(clock, graceMs, over.signal)]);
      over.abort();
      await engine.abort();
    },
    release,
  });
}

export interface QueuePipelineOptions extends Pick<DeliveryParts, 'sources' | 'source' | 'client'> {
  /** The queue; closed with the pipeline. */
  readonly durable: DurableQueue;
  readonly clock: Clock;
}

/**
 * Creates a pipeline that only queues: client → router → queue. Another process delivers. Throws ConfigError for webhooks
 * with an unusable URL.
 */
export function createQueuePipeline(options: QueuePipelineOptions): Pipeline {
  const { sources, source, durable, clock, client } = options;
  // Validates the webhooks: no message may wait in the queue for a webhook with an unusable URL.
  prepareDestinations(sources, USER_AGENT);
  const router = new Router({ sources, queue: durable.queue, clock: durable.clock });
  return new ClientPipeline({
    sink: createRouterSink({ router, source }),
    clock,
    client,
    onReceipt: (receipt, onOutcome) => onOutcome(queuedOutcome(receipt)),
    settled: async () => {},
    cut: async () => {},
    release: () => durable.close(),
  });
}

export function undici({ proxyEnv }: SharedOptions, wrap?: TransportWrapper): Transport {
  const transport = createUndiciTransport(proxyEnv === undefined ? {} : { proxyEnv });
  return wrap === undefined ? transport : wrap(transport);
}

interface PipelineParts extends Pick<ClientParts, 'check'> {
  readonly sink: Sink;
  readonly clock: Clock;
  readonly client: ResolvedClientOptions;
  readonly onReceipt: (receipt: Receipt, onOutcome: (outcome: Outcome) => void) => void;
  /** Resolves when every accepted message is settled. */
  readonly settled: () => Promise<void>;
  readonly cut: (graceMs: number) => Promise<void>;
  readonly release: () => Promise<void>;
}

export class ClientPipeline implements Pipeline {
  readonly client: Client;
  readonly #parts: PipelineParts;
  #released: Promise<void> | undefined;

  constructor(parts: PipelineParts) {
    const { client: options, ...others } = parts;
    this.client = createClient({ ...others, options });
    this.#parts = parts;
  }

  deliver(options: EnqueueOptions): Promise<Outcome> {
    return promiseOrThrow((resolve) => this.deliverThen(options, resolve));
  }

  deliverThen(options: EnqueueOptions, onOutcome: (outcome: Outcome) => void): void {
    const { onReceipt } = this.#parts;
    this.client.enqueueThen(options, (receipt) => onReceipt(receipt, onOutcome));
  }

  async interrupt(graceMs: number): Promise<void> {
    await this.#parts.cut(graceMs);
    await this.#release();
  }

  async close(): Promise<void> {
    this.#parts.sink.beginClose?.();
    await this.client.flush();
    await this.#parts.settled();
    await this.#release();
  }

  /** Releases everything only once: interrupt() and close() both call this, and interrupt() may run while close() waits. */
  #release(): Promise<void> {
    this.#released ??= this.client.close().then(() => this.#parts.release());
    return this.#released;
  }
}
