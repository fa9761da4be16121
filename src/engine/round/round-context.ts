import type { Clock } from '../../clock.ts';
import type { Queue } from '../../queue/queue.ts';
import type { ReceivedHeaders } from '../../signature/received-headers.ts';
import type { Transport } from '../../transport/transport.ts';
import type { Destination } from '../destination.ts';
import type { EngineEvent } from '../engine-event.ts';
import type { LaneHealth } from '../health.ts';
import type { UninterruptedRun } from '../uninterrupted-run.ts';
import type { ResponseCauses } from './classify.ts';

/** Returns the headers of the captured request that had this body. Undefined if there was none. */
export type HeadersOfBody = (body: Uint8Array) => ReceivedHeaders | undefined;

/** Context that the rounds of a lane share. */
export interface RoundContext {
  readonly destination: Destination;
  readonly health: LaneHealth;
  readonly queue: Queue;
  readonly transport: Transport;
  readonly clock: Clock;
  /** Knows since when this process has run. A retry window that ended earlier gets another round: no process used it. */
  readonly uninterruptedRun: UninterruptedRun;
  /** Aborted when the engine stops: attempts in flight continue, but no other attempt starts. */
  readonly stopping: AbortSignal;
  /** Aborts the attempts in flight. */
  readonly aborting: AbortSignal;
  readonly onEvent: ((event: EngineEvent) => void) | undefined;
  readonly headersOfBody?: HeadersOfBody | undefined;
  /** Loads the functions that explain failed responses. Called after each failed response. */
  readonly loadCauses?: () => Promise<ResponseCauses>;
}
