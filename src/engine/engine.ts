import { setMaxListeners } from 'node:events';
import { callDetached, ClosedError } from '../errors.ts';
import { backoffMs, sleep } from '../clock.ts';
import type { Delivery } from '../queue/delivery.ts';
import type { LaneId, Queue } from '../queue/queue.ts';
import type { Transport } from '../transport/transport.ts';
import { prepareDestinations, type Destination, type NamedDestination } from './destination.ts';
import type { MakeDue } from './catch-up.ts';
import type { EngineEvent } from './engine-event.ts';
import { Lane } from './lane.ts';
import type { LaneContext } from './lane-context.ts';
import type { ResponseCauses } from './round/classify.ts';
import type { HeadersOfBody } from './round/round-context.ts';
import { UninterruptedRun } from './uninterrupted-run.ts';
import { Router, type RoutedMessage, type RouterOptions } from './router.ts';
import { FAILURE_BACKOFF } from './settlement.ts';

export interface EngineOptions extends RouterOptions {
  readonly queue: Queue;
  readonly transport: Transport;
  /** The `User-Agent` of all requests: a product token, `<name>/<version>`. */
  readonly userAgent: string;
  /** Returns a random number for the jitter of waits: at least 0, less than 1. @default Math.random */
  readonly random?: () => number;
  /**
   * Milliseconds between two polls for deliveries of other processes. The queue may announce them sooner (`watch`).
   * @default no polls, because no other process adds deliveries
   */
  readonly pollMs?: number;
  /**
   * How to treat deliveries to a destination that `sources` does not have: mark them dead (cancelled), or leave them to a
   * process that has the destination. @default 'cancel'
   */
  readonly unknownLanes?: 'cancel' | 'leave' | undefined;
  /**
   * Makes the retrying deliveries of a lane due now, except those whose webhook asked for a longer wait. Called when a
   * destination that was down is back. @default each delivery waits for its own time
   */
  readonly makeDue?: MakeDue | undefined;
  /**
   * Called for each event, while deliveries wait for it, so it must be quick. An error that it throws becomes an uncaught
   * exception; the deliveries continue.
   */
  readonly onEvent?: (event: EngineEvent) => void;
  /** Returns the headers of the captured request that had a body, to send them with it. @default there is none */
  readonly headersOfBody?: HeadersOfBody | undefined;
  /**
   * Loads the functions that explain failed responses. Called only after a failed response, so that a run without failures
   * stays fast. @default no cause is stored
   */
  readonly loadCauses?: () => Promise<ResponseCauses>;
}

/**
 * Delivers the messages that its router adds to the queue, and the deliveries that the queue already holds. Does not close
 * its queue or its transport. `submit` throws ClosedError after close().
 */
export class Engine implements Pick<Router, 'submit'> {
  readonly #options: EngineOptions;
  readonly #router: Router;
  readonly #destinations: readonly NamedDestination[];
  readonly #lanes = new Map<string, Lane>();
  readonly #stopping = new AbortController();
  readonly #aborting = new AbortController();
  #laneContext: LaneContext | undefined;
  #adding = 0;
  /** Whether the lanes that are in the queue but not in the config are known, or need not be known. */
  #knowsAllLanes = false;
  #idleWaiters: (() => void)[] = [];
  #stopped: Promise<void> | undefined;
  #endWatch: (() => void) | undefined;
  #isClosed = false;

  /** Throws ConfigError for a destination with an invalid webhook or secret. */
  constructor(options: EngineOptions) {
    this.#options = options;
    const { sources, clock, newId } = options;
    const { addsOnce = false } = options.queue;
    const queue: Pick<Queue, 'add' | 'addsOnce'> = { add: (...args) => this.#add(...args), addsOnce };
    this.#router = new Router({ sources, queue, clock, newId });
    this.#destinations = prepareDestinations(sources, options.userAgent);
    // Removes the listener limit, because each attempt in flight and each wait adds a listener to these signals.
    setMaxListeners(0, this.#stopping.signal, this.#aborting.signal);
  }

  async submit(...args: Parameters<Router['submit']>): Promise<readonly RoutedMessage[]> {
    if (this.#isClosed) throw new ClosedError('The engine is closed');
    return this.#router.submit(...args);
  }

  /** Starts delivering. Before `start`, `submit` only adds to the queue. */
  start(): void {
    if (this.#laneContext !== undefined || this.#stopping.signal.aborted) return;
    const { queue, clock, random = Math.random, pollMs, onEvent: listener } = this.#options;
    this.#laneContext = {
      ...this.#options,
      random,
      isWatched: pollMs !== undefined && queue.watch !== undefined,
      // Isolates deliveries from a listener that throws; otherwise, a delivered message would look undelivered.
      onEvent: listener && ((event) => callDetached(listener, event)),
      stopping: this.#stopping.signal,
      aborting: this.#aborting.signal,
      onQuiet: () => this.#announceIdle(),
      uninterruptedRun: new UninterruptedRun(clock, () => pollMs !== undefined || !this.#isIdle),
    };
    this.#laneContext.uninterruptedRun.watch();
    for (const { lane, destination } of this.#destinations) this.#open(lane, destination, this.#laneContext);
    if (this.#options.unknownLanes === 'leave') this.#noteAllLanesKnown();
    else void this.#findLanes(this.#laneContext);
    const onAdded = (lane: LaneId): void => this.#lanes.get(laneKey(lane))?.wakeSoon();
    if (pollMs !== undefined) this.#endWatch = queue.watch?.(onAdded);
  }

  /** Resolves when nothing is in flight and no delivery waits, not even for a later round; or when the engine is closed. */
  async idle(): Promise<void> {
    if (this.#isIdle || this.#stopping.signal.aborted) return;
    await new Promise<void>((resolve) => {
      this.#idleWaiters.push(resolve);
    });
  }

  /** Waits for the attempts in flight, and does not start others. Messages submitted later are only queued. */
  stop(): Promise<void> {
    this.#stopping.abort();
    this.#endWatch?.();
    this.#stopped ??= this.#closeLanes();
    return this.#stopped;
  }

  /** Stops the engine and rejects further messages. Unsettled deliveries stay in the queue. */
  close(): Promise<void> {
    this.#isClosed = true;
    return this.stop();
  }

  /** Closes the engine and aborts attempts in flight: they are recorded as `aborted`, and their deliveries stay queued. */
  abort(): Promise<void> {
    this.#aborting.abort();
    return this.close();
  }

  async #closeLanes(): Promise<void> {
    await Promise.all([...this.#lanes.values()].map((lane) => lane.close()));
    this.#laneContext?.uninterruptedRun.close();
    this.#wakeIdleWaiters();
  }

  async #add(...[deliveries, once]: Parameters<Queue['add']>): ReturnType<Queue['add']> {
    const { queue } = this.#options;
    this.#adding++;
    try {
      const added = queue.add(deliveries, once);
      if (queue.claimsAddedInTurn) this.#wakeLanes(deliveries);
      const known = await added;
      if (!queue.claimsAddedInTurn) this.#wakeLanes(deliveries);
      return known;
    } finally {
      this.#adding--;
      this.#announceIdle();
    }
  }

  #wakeLanes(deliveries: readonly Delivery[]): void {
    this.#laneContext?.uninterruptedRun.watch();
    for (const lane of laneKeys(deliveries)) this.#lanes.get(lane)?.wake();
  }

  #open(name: LaneId, destination: Destination | undefined, context: LaneContext): void {
    const lane = new Lane(name, destination, context);
    this.#lanes.set(laneKey(name), lane);
    lane.wake();
  }

  /** Opens lanes for destinations that are in the queue but not in the config: such a lane cancels its deliveries. */
  async #findLanes({ queue, clock, random, pollMs, stopping, onEvent }: LaneContext): Promise<void> {
    let failures = 0;
    while (!stopping.aborted) {
      try {
        for (const name of await queue.lanes()) this.#openIfUnknown(name);
        failures = 0;
        this.#noteAllLanesKnown();
      } catch (error) {
        // Does not report the error: the caller of stop() closes the queue without waiting for `queue.lanes`, which fails.
        if (stopping.aborted) return;
        failures++;
        onEvent?.({ kind: 'error', during: 'lanes', error });
      }
      const waitMs = failures === 0 ? pollMs : backoffMs(FAILURE_BACKOFF, failures, random());
      if (waitMs === undefined) return;
      await sleep(clock, waitMs, stopping);
    }
  }

  #noteAllLanesKnown(): void {
    this.#knowsAllLanes = true;
    this.#announceIdle();
  }

  #openIfUnknown(name: LaneId): void {
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

/** Returns the keys of the lanes of a batch. Most batches have one lane, whose key is then built only once. */
function laneKeys(deliveries: readonly Delivery[]): ReadonlySet<string> {
  const keys = new Set<string>();
  let last: LaneId | undefined;
  for (const delivery of deliveries) {
    if (delivery.source === last?.source && delivery.destination === last.destination) continue;
    keys.add(laneKey(delivery));
    last = delivery;
  }
  return keys;
}

function laneKey({ source, destination }: LaneId): string {
  return JSON.stringify([source, destination]);
}
