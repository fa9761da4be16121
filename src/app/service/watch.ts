import type { EngineEvent } from '../../engine/engine-event.ts';
import { isoTime, type Clock } from '../../clock.ts';
import type { Delivery } from '../../queue/delivery.ts';
import { errorFields, type LogFields, type ServiceLog } from '../../service/log.ts';
import type { Metrics } from '../../service/metrics.ts';
import type { LaneId } from '../../queue/queue.ts';
import { LineLimit } from '../../service/line-limit.ts';
import { Outages, type Outage } from './outages.ts';

interface WatchOptions {
  readonly log: ServiceLog;
  readonly metrics: Metrics;
  readonly clock: Clock;
  /** Counts the deliveries that wait for a destination. May reject. */
  readonly waiting: (lane: LaneId) => Promise<number>;
}

const CANCELLED = 'deliveries were cancelled: the config has no such destination, or it is disabled';

/** Turns engine events into metrics and log lines. */
export class Watch {
  readonly #log: ServiceLog;
  readonly #metrics: Metrics;
  readonly #waiting: WatchOptions['waiting'];
  readonly #outages: Outages;
  readonly #givenUp: LineLimit<LaneId & { readonly reason: string }>;
  readonly #cancelled: LineLimit<LaneId>;

  constructor({ log, metrics, clock, waiting }: WatchOptions) {
    this.#log = log;
    this.#metrics = metrics;
    this.#waiting = waiting;
    this.#givenUp = new LineLimit({
      clock,
      onMore: (group, more) => log.warn('more deliveries were given up', { ...group, more }),
    });
    this.#cancelled = new LineLimit({
      clock,
      lines: 0,
      onMore: (lane, deliveries) => log.warn(CANCELLED, { ...lane, deliveries }),
    });
    this.#outages = new Outages({
      clock,
      onDown: (outage) => {
        metrics.webhookUp(outage, false);
        const { status, error, detail } = outage.last;
        void this.#outage(outage, (facts) =>
          log.warn('a webhook is down', { ...facts, status, error, detail }),
        );
      },
      onBack: (outage) => {
        metrics.webhookUp(outage, true);
        void this.#outage(outage, (facts) => log.info('a webhook is back', facts));
      },
    });
  }

  see(event: EngineEvent): void {
    switch (event.kind) {
      case 'attempt':
        return this.#attempt(event);
      case 'settled':
        return this.#settled(event);
      case 'lost':
        return this.#log.warn('a delivery was taken over by another process', {
          delivery: event.delivery.id,
        });
      case 'error':
        return this.#error(event);
      case 'rescheduled':
        return undefined;
      default:
        return event satisfies never;
    }
  }

  /** Writes the pending summaries of dead letters now instead of at the end of the minute. */
  close(): void {
    this.#givenUp.close();
    this.#cancelled.close();
  }

  unrecorded({ id, messageId }: Delivery, error: unknown): void {
    const fields = { delivery: id, messageId, ...errorFields(error) };
    this.#log.error('the state of a deletion request could not be recorded', fields);
  }

  #attempt({ delivery, attempt }: EngineEvent & { kind: 'attempt' }): void {
    const { id, source, destination, messageId } = delivery;
    const { url, result, status, error, detail, ms, round, traceId, spanId } = attempt;
    this.#metrics.attempt(delivery, result, ms);
    const ids = { delivery: id, source, destination, messageId, traceId, spanId };
    const fields = { ...ids, url, status, error, detail, ms, round };
    this.#outages.see(delivery, attempt);
    if (result === 'delivered') this.#log.debug('delivered', fields);
    else this.#log.debug('an attempt failed', { ...fields, result });
  }

  /** Writes a line about an outage. Omits the number of waiting deliveries if the store does not respond. */
  async #outage(outage: Outage, write: (facts: LogFields) => void): Promise<void> {
    const { source, destination, url, since } = outage;
    const waiting = await this.#waiting(outage).catch(() => undefined);
    write({ source, destination, url, since: isoTime(since), waiting });
  }

  #settled({ delivery }: EngineEvent & { kind: 'settled' }): void {
    const { id, source, destination, messageId, state, createdAt, progress, detail } = delivery;
    const { reason = '', settledAt = createdAt } = delivery;
    if (state === 'delivered') return this.#metrics.settled(delivery, { state, ms: settledAt - createdAt });
    this.#metrics.settled(delivery, { state: 'dead', reason });
    // All deliveries of a lane without a destination are cancelled for the same reason, so a line counts them.
    if (reason === 'cancelled' && !this.#cancelled.getsLine({ source, destination })) return;
    if (!this.#givenUp.getsLine({ source, destination, reason })) return;
    const ids = { delivery: id, source, destination, messageId, reason };
    const { url, status, error, detail: why = detail } = progress.attempts.at(-1) ?? {};
    this.#log.warn('a delivery was given up', { ...ids, url, status, error, detail: why });
  }

  #error({ during, error, lane, delivery }: EngineEvent & { kind: 'error' }): void {
    this.#log.error('the queue failed; it will be retried', {
      during,
      ...errorFields(error),
      source: lane?.source ?? delivery?.source,
      destination: lane?.destination ?? delivery?.destination,
      delivery: delivery?.id,
    });
  }
}
