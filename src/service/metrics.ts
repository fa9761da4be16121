import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';

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
  /** A webhook went down, or is back. */
  webhookUp(webhook: WebhookLabels, isUp: boolean): void;
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

/** How many deliveries a destination has, by state. */
type LaneCounts = LaneLabels & Readonly<Record<(typeof STATES)[number], number>>;

export interface WebhookLabels extends LaneLabels {
  /** As it is shown: without secrets. */
  readonly url: string;
}

interface MetricsOptions {
  /** What each destination has in the queue. */
  readonly lanes: () => Promise<readonly LaneCounts[]>;
  /** When the oldest delivery that is not settled was added. Ms since the epoch. */
  readonly oldestAt: () => Promise<number | undefined>;
  /** The webhooks of the config: each counts as up until it is known to be down. */
  readonly webhooks: readonly WebhookLabels[];
  readonly version: string;
  /** The time of the queue. Ms since the epoch. */
  readonly now: () => number;
}

/** Buckets in seconds, from a quick receiver on the same machine to the end of the retry window. */
const DELIVERY_BUCKETS = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1_800, 7_200, 14_400];
const ATTEMPT_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** Makes the metrics in a new registry, so that several services in one process do not mix. */
export function createMetrics(options: MetricsOptions): Metrics {
  const registry = new Registry();
  const { requests, messages, attempts, deadLetters } = addCounters([registry]);
  const { attemptSeconds, deliverySeconds } = addHistograms([registry]);
  addGauges([registry], options);
  collectDefaultMetrics({ register: registry });
  const up = webhookGauge([registry], options);
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
    webhookUp: ({ source, destination, url }, isUp) => up.set({ source, destination, url }, isUp ? 1 : 0),
    text: () => registry.metrics(),
  };
}

type Counters = Readonly<Record<'requests' | 'messages' | 'attempts' | 'deadLetters', Counter>>;

function addCounters(registers: Registry[]): Counters {
  return {
    requests: new Counter({
      name: 'hooks_requests_total',
      help: 'Responses, by route and status.',
      labelNames: ['route', 'status'],
      registers,
    }),
    messages: new Counter({
      name: 'hooks_ingest_messages_total',
      help: 'Messages that came in: accepted, duplicate (seen before, not delivered again) or rejected.',
      labelNames: ['source', 'outcome'],
      registers,
    }),
    attempts: new Counter({
      name: 'hooks_attempts_total',
      help: 'Attempts made, by result.',
      labelNames: ['source', 'destination', 'result'],
      registers,
    }),
    deadLetters: new Counter({
      name: 'hooks_dead_letters_total',
      help: 'Deliveries that were given up, by reason.',
      labelNames: ['source', 'destination', 'reason'],
      registers,
    }),
  };
}

function addHistograms(
  registers: Registry[],
): Readonly<Record<'attemptSeconds' | 'deliverySeconds', Histogram>> {
  const labelNames = ['source', 'destination'];
  return {
    attemptSeconds: new Histogram({
      name: 'hooks_attempt_seconds',
      help: 'How long attempts took, to the status line.',
      labelNames,
      buckets: ATTEMPT_BUCKETS,
      registers,
    }),
    deliverySeconds: new Histogram({
      name: 'hooks_delivery_seconds',
      help: 'From taking a message to its delivery.',
      labelNames,
      buckets: DELIVERY_BUCKETS,
      registers,
    }),
  };
}

const STATES = ['pending', 'sending', 'retrying', 'delivered', 'dead'] as const;

/** Adds gauges, which are read at each scrape. A store that cannot be asked must not keep everything else from being known. */
function addGauges(registers: Registry[], { lanes, oldestAt, version, now }: MetricsOptions): void {
  const deliveries: Gauge<'source' | 'destination' | 'state'> = new Gauge({
    name: 'hooks_queue_deliveries',
    help: 'Deliveries in the queue, by source, destination and state.',
    labelNames: ['source', 'destination', 'state'],
    registers,
    collect: async () => {
      const all = await lanes().catch(() => []);
      deliveries.reset();
      for (const lane of all) {
        const { source, destination } = lane;
        for (const state of STATES) deliveries.set({ source, destination, state }, lane[state]);
      }
    },
  });
  const oldest: Gauge = new Gauge({
    name: 'hooks_queue_oldest_seconds',
    help: 'Age of the oldest delivery that is not settled; 0 when there is none.',
    registers,
    collect: async () => {
      const at = await oldestAt().catch(() => null);
      if (at === null) oldest.remove();
      else oldest.set(at === undefined ? 0 : Math.max(0, now() - at) / 1000);
    },
  });
  const build = new Gauge({
    name: 'hooks_build_info',
    help: 'Always 1; the labels say which version runs.',
    labelNames: ['version', 'node'],
    registers,
  });
  build.set({ version, node: process.versions.node }, 1);
}

function webhookGauge(registers: Registry[], { webhooks }: MetricsOptions): Gauge<keyof WebhookLabels> {
  const up = new Gauge({
    name: 'hooks_webhook_up',
    help: 'Whether a webhook takes messages: 0 after several failures in a row, 1 again after a success.',
    labelNames: ['source', 'destination', 'url'],
    registers,
  });
  for (const { source, destination, url } of webhooks) up.set({ source, destination, url }, 1);
  return up;
}
