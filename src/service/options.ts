import type { Clock } from '../clock.ts';
import type { Deletions } from '../deletion/request.ts';
import type { IngestTarget } from './ingest/ingest-target.ts';
import type { ServiceLog } from './log.ts';
import type { Metrics } from './metrics.ts';
import type { Seen } from './ingest/seen.ts';

export type DeletionReach = 'own' | 'all';

export interface ListenAddress {
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
}

export interface ServiceOptions {
  /** A name or address of this machine. @default '127.0.0.1' */
  readonly host?: string;
  /** 0 to 65,535; 0 takes a free one. @default 0 */
  readonly port?: number;
  /** Where `/metrics` is served, and not on `port`, which others may reach. @default on `port` */
  readonly metricsAt?: ListenAddress | undefined;
  /** By name. A source without a write key cannot be called. */
  readonly sources: Readonly<Record<string, { readonly writeKey?: string | undefined }>>;
  readonly ingestTarget: IngestTarget;
  readonly deletions: Deletions;
  /**
   * The sources at which a write key may ask for deletion: its own, since the keys of browsers and apps can be read by anyone, or all.
   * @default 'own'
   */
  readonly deletionReach?: DeletionReach;
  readonly seen: Seen;
  readonly metrics: Metrics;
  readonly log: ServiceLog;
  readonly clock: Clock;
  /** Rejects when nothing could be stored at this time: what `/readyz` asks. */
  readonly checkStore: () => Promise<void>;
  /** For messages that came without an id. @default a UUID */
  readonly newId?: () => string;
  readonly limits?: Partial<ServiceLimits>;
}

export interface ServiceLimits {
  /**
   * Of request bodies that are being read, unpacked or stored, together; more is rejected with 429. Memory is a small
   * multiple of it. @default 16_777_216 (16 MiB)
   */
  readonly bytesInFlight: number;
  /**
   * When to come back, as 429 and 503 say it. Segment's clients give a batch up after 30 of them.
   * Seconds, at least 1. @default 5
   */
  readonly retryAfterSeconds: number;
  /** From a connection's first byte to the end of the headers. Ms. @default 10_000 */
  readonly headersMs: number;
  /** From a connection's first byte to the end of the body. Ms. @default 30_000 */
  readonly requestMs: number;
  /** Connections at once; more are closed as they come. @default 4096 */
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
