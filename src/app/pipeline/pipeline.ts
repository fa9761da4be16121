import { createClient, promiseOrThrow, type Client } from '../../client/client.ts';
import type { ResolvedClientOptions } from '../../client/options.ts';
import type { EnqueueOptions, Receipt, Sink } from '../../client/sink.ts';
import { sleep, systemClock, type Clock } from '../../clock.ts';
import { prepareDestinations } from '../../engine/destination.ts';
import type { EngineEvent } from '../../engine/engine-event.ts';
import { Engine } from '../../engine/engine.ts';
import type { Sources } from '../../engine/options.ts';
import { Router } from '../../engine/router.ts';
import { MemoryQueue } from '../../stores/open.ts';
import type { DurableQueue } from '../../stores/opened-queue.ts';
import type { Transport } from '../../transport/transport.ts';
import { createUndiciTransport } from '../../transport/undici-transport.ts';
import { validateRoutes } from '../validate-routes.ts';
import type { PipelineEngineParts, SharedOptions } from './options.ts';
import { Outcomes, queuedOutcome, type Outcome } from './outcomes.ts';
import { createRouterSink } from './router-sink.ts';
import { USER_AGENT } from '../version.ts';

/** A client and all that delivers its messages: `send`, `replay` and programs that embed hooks use it. */
export interface Pipeline {
  readonly client: Client;
  /**
   * Enqueues a message and resolves when it is settled at every destination, or the pipeline is interrupted. Never rejects;
   * throws QueueError and ClosedError at once, as the calls of the client do.
   */
  deliver(options: EnqueueOptions): Promise<Outcome>;
  /** Delivers as `deliver` does without a promise, for programs that send millions: `onOutcome` is called once, and what it throws is an uncaught exception. Throws ClosedError and QueueError. */
  deliverThen(options: EnqueueOptions, onOutcome: (outcome: Outcome) => void): void;
  /** Stops delivering: attempts in flight get `graceMs`, then they are cut. What is not settled then is `unsent`. A close() that is waiting ends with it. */
  interrupt(graceMs: number): Promise<void>;
  /**
   * Flushes, waits until every delivery is settled, and releases every socket and timer. Over a tracking API that fails it
   * takes `retryForMs` and the time of one attempt at most. Over webhooks that fail or hang it takes the rest of
   * `delivery.retryForMs` (4 h by default) and the time of one round at most: what is not delivered by then is a dead letter.
   * `interrupt` ends it sooner. Either way every message has its receipt.
   */
  close(): Promise<void>;
}

/** The options of a pipeline, validated and complete. */
export interface DeliveryParts extends Omit<SharedOptions, 'client'>, PipelineEngineParts {
  readonly sources: Sources;
  /** The source whose calls the client makes. */
  readonly source: string;
  readonly client: ResolvedClientOptions;
}

/** Client → engine → queue → transport. Throws ConfigError for webhooks that cannot be reached because of their URL or the route to it. */
export function openDeliveryPipeline(options: DeliveryParts): Pipeline {
  const { sources, source, client, clock = systemClock, random = Math.random } = options;
  const transport = options.transport ?? undici(options);
  const queue = options.queue ?? new MemoryQueue(clock);
  const boundsMemory = options.queue === undefined;
  const outcomes = new Outcomes({ followsAll: boundsMemory });
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
    loadCauses: () => import('../../diagnosis/explain.ts'),
  });
  if (options.transport === undefined) validateRoutes(sources, options.proxyEnv);
  engine.start();
  const release = async (): Promise<void> => {
    await engine.close();
    // Includes messages that came too late to be waited for.
    outcomes.interrupt();
    await queue.close();
    await transport.close();
  };
  return new ClientPipeline({
    sink: createRouterSink({ router: engine, source, outcomes, boundsMemory }),
    clock,
    client,
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

export interface QueuePipelineOptions {
  readonly sources: Sources;
  /** The source whose calls the client makes. */
  readonly source: string;
  /** Closed with the pipeline. */
  readonly durable: DurableQueue;
  readonly clock: Clock;
  readonly client: ResolvedClientOptions;
}

/** Client → router → queue, and no further: another process delivers. Throws ConfigError for webhooks that cannot be sent to. */
export function createQueuePipeline(options: QueuePipelineOptions): Pipeline {
  const { sources, source, durable, clock, client } = options;
  // Only to check them: a message must not wait in the queue for a webhook that no process can ask.
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

export function undici({ proxyEnv }: SharedOptions): Transport {
  return createUndiciTransport(proxyEnv === undefined ? {} : { proxyEnv });
}

interface PipelineParts {
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
    const { sink, clock, client: options } = parts;
    this.client = createClient({ sink, clock, options });
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

  /** Once, however often it is closed and interrupted: an interruption comes while close() waits for the end. */
  #release(): Promise<void> {
    this.#released ??= this.client.close().then(() => this.#parts.release());
    return this.#released;
  }
}
