import type { EngineEvent } from '../engine/engine-event.ts';
import type { Delivery } from '../queue/delivery.ts';
import { errorFields, type ServiceLog } from '../service/log.ts';
import type { Metrics } from '../service/metrics.ts';

/** What the engine says, as metrics and log lines. */
export class Watch {
  readonly #log: ServiceLog;
  readonly #metrics: Metrics;

  constructor(log: ServiceLog, metrics: Metrics) {
    this.#log = log;
    this.#metrics = metrics;
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

  unrecorded({ id, messageId }: Delivery, error: unknown): void {
    const fields = { delivery: id, messageId, ...errorFields(error) };
    this.#log.error('the state of a deletion request could not be recorded', fields);
  }

  #attempt({ delivery, attempt }: EngineEvent & { kind: 'attempt' }): void {
    const { id, source, destination, messageId } = delivery;
    const { url, result, status, error, detail, ms, round } = attempt;
    this.#metrics.attempt(delivery, result, ms);
    const fields = { delivery: id, source, destination, messageId, url, status, error, detail, ms, round };
    if (result === 'delivered') this.#log.debug('delivered', fields);
    else this.#log.warn('an attempt failed', { ...fields, result });
  }

  #settled({ delivery }: EngineEvent & { kind: 'settled' }): void {
    const {
      id,
      source,
      destination,
      messageId,
      state,
      reason = '',
      createdAt,
      settledAt = createdAt,
    } = delivery;
    if (state === 'delivered') return this.#metrics.settled(delivery, { state, ms: settledAt - createdAt });
    this.#metrics.settled(delivery, { state: 'dead', reason });
    this.#log.warn('a delivery was given up', { delivery: id, source, destination, messageId, reason });
  }

  #error({ during, error, lane, delivery }: EngineEvent & { kind: 'error' }): void {
    this.#log.error('the queue failed; it is tried again', {
      during,
      ...errorFields(error),
      source: lane?.source ?? delivery?.source,
      destination: lane?.destination ?? delivery?.destination,
      delivery: delivery?.id,
    });
  }
}
