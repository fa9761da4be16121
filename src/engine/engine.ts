import { setMaxListeners } from 'node:events';
import { callDetached } from '../call-detached.ts';
import { sleep, type Clock } from '../clock.ts';
import { ClosedError, ConfigError } from '../errors.ts';
import type { Integrations } from '../message/types.ts';
import type { NewDelivery } from '../queue/delivery.ts';
import type { Lane as LaneName, Queue } from '../queue/queue.ts';
import type { Transport } from '../transport/transport.ts';
import { createDeliveryIds, onceId } from './delivery-ids.ts';
import { prepareDestinations, type Destination, type NamedDestination } from './destination.ts';
import type { EngineEvent } from './engine-event.ts';
import { LaneRunner, type LaneContext } from './lane.ts';
import type { SourceOptions, Sources } from './options.ts';
import { Presence } from './presence.ts';
import { route } from './route.ts';
import { backoffMs } from './settlement.ts';

/** Routes messages to destinations, and sees their deliveries through. It owns neither its queue nor its transport. */
export interface Engine {
  /**
   * Adds the deliveries of a batch as the queue adds them; they are as durable as it is when this resolves. The answer has
   * one item per entry, in order: the deliveries that it became, none when `integrations` excluded every destination.
   * @param onRouted Told the same before, in the turn of the event loop in which they are added: what it writes to the
   *   file of the queue is committed with them.
   * @throws ConfigError for an unknown source, QueueError when they cannot be stored, ClosedError after close().
   */
  submit(
    source: string,
    entries: readonly OutgoingMessage[],
    onRouted?: (submitted: readonly Submitted[]) => void,
  ): Promise<readonly Submitted[]>;
  /** Begins to deliver. Without it, submit only queues. */
  start(): void;
  /** Resolves when nothing is queued or in flight, also for later; or when the engine is closed. */
  idle(): Promise<void>;
  /** Begins no attempt any more, and finishes those in flight. What is still submitted is queued. */
  stop(): Promise<void>;
  /** Takes no more, stops, and leaves the rest in the queue. */
  close(): Promise<void>;
  /** Like close, but cuts the attempts in flight: they are recorded as `aborted`, and their deliveries stay queued. */
  abort(): Promise<void>;
}

/** A message as the engine needs it. */
export interface OutgoingMessage {
  readonly messageId: string;
  readonly type: string;
  readonly integrations?: Integrations | undefined;
  /** The exact bytes of every attempt. */
  readonly body: Uint8Array;
  readonly orderKeys: readonly string[];
  /** What was submitted to the same source under the same name, and is still in the queue, is not added again. @default each is another */
  readonly onceAs?: string | undefined;
}

export interface Submitted {
  readonly deliveries: readonly { readonly id: string; readonly destination: string }[];
}

export interface EngineOptions {
  readonly sources: Sources;
  readonly queue: Queue;
  readonly transport: Transport;
  readonly clock: Clock;
  /** `<name>/<version>` */
  readonly userAgent: string;
  /** At least 0, less than 1. @default Math.random */
  readonly random?: () => number;
  /** Never the same twice, in any process that shares the queue. */
  readonly newId?: () => string;
  /** How often to look for what other processes have added. Ms. @default never: this one is alone */
  readonly pollMs?: number;
  /** Called in the midst of deliveries, so it should be quick. What it throws is an uncaught exception, and stops no delivery. */
  readonly onEvent?: (event: EngineEvent) => void;
}

/** @throws ConfigError for a destination whose webhooks cannot be asked, or whose secret is empty. */
export function createEngine(options: EngineOptions): Engine {
  return new QueueEngine(options);
}

class QueueEngine implements Engine {
  readonly #options: EngineOptions;
  readonly #newId: () => string;
  readonly #destinations: readonly NamedDestination[];
  readonly #lanes = new Map<string, LaneRunner>();
  readonly #stopping = new AbortController();
  readonly #aborting = new AbortController();
  #laneContext: LaneContext | undefined;
  #adding = 0;
  /** Whether the queue has been looked through for lanes that the config does not know. */
  #knowsAllLanes = false;
  #idleWaiters: (() => void)[] = [];
  #stopped: Promise<void> | undefined;
  #isClosed = false;

  constructor(options: EngineOptions) {
    this.#options = options;
    this.#newId = options.newId ?? createDeliveryIds();
    this.#destinations = prepareDestinations(options.sources, options.userAgent);
    // Every attempt in flight and every wait listens to these.
    setMaxListeners(0, this.#stopping.signal, this.#aborting.signal);
  }

  async submit(
    source: string,
    entries: readonly OutgoingMessage[],
    onRouted?: (submitted: readonly Submitted[]) => void,
  ): Promise<readonly Submitted[]> {
    if (this.#isClosed) throw new ClosedError('The engine is closed');
    const options = this.#sourceOf(source);
    const deliveries: NewDelivery[] = [];
    const submitted = entries.map((entry) => this.#toDeliveries(source, options, entry, deliveries));
    onRouted?.(submitted);
    if (deliveries.length > 0) await this.#add(deliveries);
    return submitted;
  }

  start(): void {
    if (this.#laneContext !== undefined || this.#stopping.signal.aborted) return;
    const { queue, transport, clock, random = Math.random, pollMs } = this.#options;
    const listener = this.#options.onEvent;
    // A listener that fails must not make a delivered message look as if it were not.
    const onEvent = listener && ((event: EngineEvent) => callDetached(listener, event));
    const [stopping, aborting] = [this.#stopping.signal, this.#aborting.signal];
    const onQuiet = (): void => this.#announceIdle();
    this.#laneContext = {
      queue,
      transport,
      clock,
      random,
      pollMs,
      onEvent,
      stopping,
      aborting,
      onQuiet,
      presence: new Presence(clock, () => pollMs !== undefined || !this.#isIdle),
    };
    this.#laneContext.presence.watch();
    for (const { lane, destination } of this.#destinations) this.#open(lane, destination, this.#laneContext);
    void this.#findLanes(this.#laneContext);
  }

  async idle(): Promise<void> {
    if (this.#isIdle || this.#stopping.signal.aborted) return;
    await new Promise<void>((resolve) => {
      this.#idleWaiters.push(resolve);
    });
  }

  stop(): Promise<void> {
    this.#stopping.abort();
    this.#stopped ??= this.#closeLanes();
    return this.#stopped;
  }

  close(): Promise<void> {
    this.#isClosed = true;
    return this.stop();
  }

  abort(): Promise<void> {
    this.#aborting.abort();
    return this.close();
  }

  async #closeLanes(): Promise<void> {
    await Promise.all([...this.#lanes.values()].map((lane) => lane.close()));
    this.#laneContext?.presence.close();
    this.#wakeIdleWaiters();
  }

  #sourceOf(name: string): SourceOptions {
    const { sources } = this.#options;
    const source = Object.hasOwn(sources, name) ? sources[name] : undefined;
    if (source !== undefined) return source;
    throw new ConfigError(`Expected the name of a source, got ${JSON.stringify(name)}`, {
      key: 'sources',
      hint: `Known sources: ${Object.keys(sources).join(', ') || 'none'}`,
    });
  }

  #toDeliveries(
    source: string,
    options: SourceOptions,
    entry: OutgoingMessage,
    all: NewDelivery[],
  ): Submitted {
    const { messageId, type, integrations, body, orderKeys, onceAs } = entry;
    const now = Math.floor(this.#options.clock.now());
    const deliveries = route(options, integrations).map((destination) => {
      const id = onceAs === undefined ? this.#newId() : onceId({ source, destination }, onceAs);
      all.push({ id, source, destination, messageId, type, body, orderKeys, createdAt: now, dueAt: now });
      return { id, destination };
    });
    return { deliveries };
  }

  async #add(deliveries: readonly NewDelivery[]): Promise<void> {
    this.#adding++;
    try {
      await this.#options.queue.add(deliveries);
      this.#laneContext?.presence.watch();
      for (const lane of new Set(deliveries.map(laneKey))) this.#lanes.get(lane)?.wake();
    } finally {
      this.#adding--;
      this.#announceIdle();
    }
  }

  #open(name: LaneName, destination: Destination | undefined, context: LaneContext): void {
    const lane = new LaneRunner(name, destination, context);
    this.#lanes.set(laneKey(name), lane);
    lane.wake();
  }

  /** A lane in the queue that the config has no destination for gets one, too: to say that its deliveries are cancelled. */
  async #findLanes({ queue, clock, random, pollMs, stopping, onEvent }: LaneContext): Promise<void> {
    let failures = 0;
    while (!stopping.aborted) {
      try {
        for (const name of await queue.lanes()) this.#openIfUnknown(name);
        failures = 0;
        this.#knowsAllLanes = true;
        this.#announceIdle();
      } catch (error) {
        failures++;
        onEvent?.({ kind: 'error', during: 'lanes', error });
      }
      const waitMs = failures === 0 ? pollMs : backoffMs(failures, random());
      if (waitMs === undefined) return;
      await sleep(clock, waitMs, stopping);
    }
  }

  #openIfUnknown(name: LaneName): void {
    if (this.#stopping.signal.aborted || this.#laneContext === undefined) return;
    if (!this.#lanes.has(laneKey(name))) this.#open(name, undefined, this.#laneContext);
  }

  get #isIdle(): boolean {
    if (!this.#knowsAllLanes || this.#adding > 0) return false;
    for (const lane of this.#lanes.values()) if (!lane.isQuiet) return false;
    return true;
  }

  #announceIdle(): void {
    if (this.#idleWaiters.length > 0 && this.#isIdle) this.#wakeIdleWaiters();
  }

  #wakeIdleWaiters(): void {
    const waiters = this.#idleWaiters;
    this.#idleWaiters = [];
    for (const resolve of waiters) resolve();
  }
}

function laneKey({ source, destination }: LaneName): string {
  return JSON.stringify([source, destination]);
}
