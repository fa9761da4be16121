import type { Clock } from '../clock.ts';
import type { Deletions } from '../deletion/request.ts';
import type { IngestTarget } from './ingest/ingest-target.ts';
import type { PlanGuard } from './ingest/plan-guard.ts';
import type { ServiceLog } from './log.ts';
import type { Metrics } from './metrics.ts';
import type { Seen } from './ingest/seen.ts';

export type DeletionReach = 'own' | 'all';

export interface ListenAddress {
  /** A name or address of this machine, at which a server listens. */
  readonly host: string;
  /** The port, 0 to 65,535; 0 selects a free port. */
  readonly port: number;
}

export interface ServiceOptions extends ListenAddress {
  /** A separate address for `/metrics`, for when `port` is public. @default on `port` */
  readonly metricsAt?: ListenAddress | undefined;
  /** The sources by name. Clients cannot call a source without a write key. */
  readonly sources: Readonly<Record<string, { readonly writeKey?: string | undefined }>>;
  /** Tracking plans of sources, by the name of the source. @default none */
  readonly planGuards?: Readonly<Record<string, PlanGuard>> | undefined;
  readonly ingestTarget: IngestTarget;
  readonly deletions: Deletions;
  /**
   * The sources at which a write key may ask for deletion: only its own, because anyone can read the keys of browsers and
   * apps, or all.
   * @default 'own'
   */
  readonly deletionReach?: DeletionReach;
  readonly seen: Seen;
  readonly metrics: Metrics;
  readonly log: ServiceLog;
  readonly clock: Clock;
  /** Rejects if the store does not accept messages now, for `/readyz`. */
  readonly checkStore: () => Promise<void>;
  readonly limits?: Partial<ServiceLimits>;
}

export interface ServiceLimits {
  /**
   * Total bytes of all request bodies that are being read, unpacked or stored; further requests get 429. Memory use is a
   * small multiple of it. @default 16_777_216 (16 MiB)
   */
  readonly bytesInFlight: number;
  /**
   * The `Retry-After` of 429 and 503. Segment's clients give up a batch after 30 such responses.
   * Seconds, at least 1. @default 5
   */
  readonly retryAfterSeconds: number;
  /** Time from a connection's first byte to the end of the headers. Ms. @default 10_000 */
  readonly headersMs: number;
  /** Time from a connection's first byte to the end of the body. Ms. @default 30_000 */
  readonly requestMs: number;
  /** Most connections at once; further connections are closed at once. @default 4096 */
  readonly connections: number;
  /** How long close() waits for requests that are being received or stored. Ms. @default 500 */
  readonly graceMs: number;
}

export const SERVICE_LIMITS: ServiceLimits = {
  bytesInFlight: 16 * 1024 * 1024,
  retryAfterSeconds: 5,
  headersMs: 10_000,
  requestMs: 30_000,
  connections: 4096,
  graceMs: 500,
};
