import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';

/** The metrics for Prometheus. Label values are config names and closed sets, never input of a caller. */
export interface Metrics {
  /** Counts a request by its route name. */
  request(route: string, status: number): void;
  ingested(source: string, counts: IngestCounts): void;
  attempt(lane: LaneLabels, result: 'delivered' | 'retryable' | 'rejected', ms: number): void;
  /** Counts a settled delivery. `ms` is the time since its message was accepted. */
  settled(
    lane: LaneLabels,
    end:
      | { readonly state: 'delivered'; readonly ms: number }
      | { readonly state: 'dead'; readonly reason: string },
  ): void;
  /** Counts rejected messages that became dead letters, by their reason. */
  kept(source: string, reason: 'invalid' | 'unplanned', count: number): void;
  /** Counts a violation of a tracking plan. `event` is an event of the plan, or empty. */
  planViolation(violation: PlanViolationLabels): void;
  /** Records that a webhook is down or back. */
  webhookUp(webhook: WebhookLabels, isUp: boolean): void;
  /** All metrics in Prometheus' text format. */
  text(): Promise<string>;
  readonly contentType: string;
}

export interface IngestCounts {
  readonly accepted: number;
  /** Number of messages that were accepted before, and so are not delivered again. */
  readonly duplicate: number;
  readonly rejected: number;
}

export interface LaneLabels {
  readonly source: string;
  readonly destination: string;
}

/** Number of deliveries of a destination, by state. */
type LaneCounts = LaneLabels & Readonly<Record<(typeof STATES)[number], number>>;

export interface PlanViolationLabels {
  readonly source: string;
  readonly event: string;
  readonly kind: string;
}

export interface WebhookLabels extends LaneLabels {
  /** The URL of the webhook without secrets. */
  readonly url: string;
}

interface MetricsOptions {
  /** Counts the deliveries in the queue for each destination. */
  readonly lanes: () => Promise<readonly LaneCounts[]>;
  /**
   * When the oldest unsettled delivery was added to the queue. Ms since the epoch. Undefined if every delivery is settled.
   */
  readonly oldestAt: () => Promise<number | undefined>;
  /** The sources that this process accepts messages for. */
  readonly sources: readonly string[];
  /**
   * The webhooks that this process delivers to. Each counts as up until it is known to be down. Without webhooks there are
   * no metrics of attempts, because zeros would suggest that everything works.
   */
  readonly webhooks: readonly WebhookLabels[];
  readonly version: string;
  /** The current time of the queue's clock. Ms since the epoch. */
  readonly now: () => number;
}

/** Buckets of delivery times, in seconds: from a fast receiver on the same machine to the end of the retry window. */
const DELIVERY_BUCKETS = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1_800, 7_200, 14_400];
const ATTEMPT_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** Creates the metrics in a new registry, so that several services in one process stay separate. */
export function createMetrics(options: MetricsOptions): Metrics {
  const registry = new Registry();
  const attemptRegisters = options.webhooks.length > 0 ? [registry] : [];
  const { requests, messages, deadLetters, planViolations } = addCounters([registry]);
  const { attempts, attemptSeconds, deliverySeconds } = addAttempts(attemptRegisters);
  addGauges([registry], options);
  collectDefaultMetrics({ register: registry });
  const up = webhookGauge(attemptRegisters, options);
  startAtZero(deadLetters, options);
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
    kept: (source, reason, count) => deadLetters.inc({ source, destination: '', reason }, count),
    planViolation: ({ source, event, kind }) => planViolations.inc({ source, event, kind }),
    webhookUp: ({ source, destination, url }, isUp) => up.set({ source, destination, url }, isUp ? 1 : 0),
    text: () => registry.metrics(),
  };
}

function addCounters(registers: Registry[]) {
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
    planViolations: new Counter({
      name: 'hooks_plan_violations_total',
      help: 'Violations of the tracking plan, by event of the plan and kind.',
      labelNames: ['source', 'event', 'kind'],
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

/** Reasons of rejected messages. They are counted with an empty destination, which an invalid one does not name reliably. */
const KEPT_REASONS = ['invalid', 'unplanned'];
const REASONS = ['rejected', 'exhausted', 'cancelled', 'damaged'];

/**
 * Exports each dead letter counter as 0 at the start: Prometheus sees no increase if a counter first appears with a value.
 */
function startAtZero(deadLetters: Counter, { sources, webhooks }: MetricsOptions): void {
  for (const source of sources) {
    for (const reason of KEPT_REASONS) deadLetters.inc({ source, destination: '', reason }, 0);
  }
  for (const { source, destination } of webhooks) {
    for (const reason of REASONS) deadLetters.inc({ source, destination, reason }, 0);
  }
}

function addAttempts(registers: Registry[]) {
  const labelNames = ['source', 'destination'];
  return {
    attempts: new Counter({
      name: 'hooks_attempts_total',
      help: 'Attempts made, by result.',
      labelNames: ['source', 'destination', 'result'],
      registers,
    }),
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

/** Adds gauges, which are updated at each scrape. If the store does not respond, all other metrics are still exported. */
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
