import { Counter, Gauge, Histogram, Registry } from 'prom-client';

/** The metrics for Prometheus. Labels are names of the config and closed sets: nothing of a caller's becomes one. */
export interface Metrics {
  /** One request, by its route's name. */
  request(route: string, status: number): void;
  ingested(source: string, counts: IngestCounts): void;
  attempt(lane: LaneLabels, result: 'delivered' | 'retryable' | 'rejected', ms: number): void;
  /** Counts a settled delivery; `ms` since its message was accepted. */
  settled(
    lane: LaneLabels,
    end:
      | { readonly state: 'delivered'; readonly ms: number }
      | { readonly state: 'dead'; readonly reason: string },
  ): void;
  /** All of it, in Prometheus' text format. */
  text(): Promise<string>;
  readonly contentType: string;
}

export interface IngestCounts {
  readonly accepted: number;
  /** Seen before: accepted, and not delivered again. */
  readonly duplicate: number;
  readonly rejected: number;
}

export interface LaneLabels {
  readonly source: string;
  readonly destination: string;
}

interface MetricsOptions {
  /** Deliveries by state. */
  readonly depth: () => Promise<Readonly<Record<string, number>>>;
}

/** From a quick receiver on the same machine to the end of the retry window. */
const DELIVERY_BUCKETS = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1_800, 7_200, 14_400];
const ATTEMPT_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** Each in a registry of its own, so that several services in one process do not mix. */
export function createMetrics({ depth }: MetricsOptions): Metrics {
  const registers = [new Registry()];
  const [registry = new Registry()] = registers;
  const requests = new Counter({
    name: 'hooks_requests_total',
    help: 'Requests answered, by route and status.',
    labelNames: ['route', 'status'],
    registers,
  });
  const messages = new Counter({
    name: 'hooks_ingest_messages_total',
    help: 'Messages that came in: accepted, duplicate (seen before, not delivered again) or rejected.',
    labelNames: ['source', 'outcome'],
    registers,
  });
  const attempts = new Counter({
    name: 'hooks_attempts_total',
    help: 'Attempts made, by result.',
    labelNames: ['source', 'destination', 'result'],
    registers,
  });
  const attemptSeconds = new Histogram({
    name: 'hooks_attempt_seconds',
    help: 'How long attempts took, to the status line.',
    labelNames: ['source', 'destination'],
    buckets: ATTEMPT_BUCKETS,
    registers,
  });
  const deliverySeconds = new Histogram({
    name: 'hooks_delivery_seconds',
    help: 'From taking a message to its delivery.',
    labelNames: ['source', 'destination'],
    buckets: DELIVERY_BUCKETS,
    registers,
  });
  const deadLetters = new Counter({
    name: 'hooks_dead_letters_total',
    help: 'Deliveries that were given up, by reason.',
    labelNames: ['source', 'destination', 'reason'],
    registers,
  });
  addGauges(registers, depth);
  return {
    contentType: registry.contentType,
    request: (route, status) => requests.inc({ route, status }),
    ingested: (source, counts) => {
      for (const [outcome, count] of Object.entries(counts)) {
        if (count > 0) messages.inc({ source, outcome }, count);
      }
    },
    attempt: ({ source, destination }, result, ms) => {
      attempts.inc({ source, destination, result });
      attemptSeconds.observe({ source, destination }, ms / 1000);
    },
    settled: ({ source, destination }, end) => {
      if (end.state === 'delivered') deliverySeconds.observe({ source, destination }, end.ms / 1000);
      else deadLetters.inc({ source, destination, reason: end.reason });
    },
    text: () => registry.metrics(),
  };
}

/** Adds gauges, which are read at each scrape. */
function addGauges(registers: Registry[], depth: MetricsOptions['depth']): void {
  const deliveries: Gauge<'state'> = new Gauge({
    name: 'hooks_queue_deliveries',
    help: 'Deliveries in the queue, by state.',
    labelNames: ['state'],
    registers,
    collect: async () => {
      // A store that cannot be asked must not keep everything else from being known.
      const states = await depth().catch(() => ({}));
      deliveries.reset();
      for (const [state, count] of Object.entries(states)) deliveries.set({ state }, count);
    },
  });
  const memory: Gauge = new Gauge({
    name: 'process_resident_memory_bytes',
    help: 'Resident memory of this process.',
    registers,
    collect: () => memory.set(process.memoryUsage.rss()),
  });
}
