import type { Delivery } from './delivery.ts';
import type { LaneStats, QueueInspection } from './inspection.ts';

/** The state of a queue in numbers, with some examples. */
export interface QueueSurvey {
  readonly lanes: readonly LaneStats[];
  /** Number of dead letters by reason. If they are not counted by reason, all are under the reason ''. */
  readonly dead: Readonly<Record<string, number>>;
  /** A sample of the deliveries that wait for a retry, with the results of their attempts. */
  readonly retrying: readonly Delivery[];
  /** The processes that deliver from the queue. Undefined if the store does not know them. */
  readonly deliverers: readonly { readonly pid: number; readonly isHere: boolean }[] | undefined;
  /**
   * When the latest delivery was added. Milliseconds since the epoch. Undefined if the queue is empty or the store does not
   * know.
   */
  readonly newestAt: number | undefined;
}

const MAX_SAMPLE = 50;

/**
 * Surveys any queue through its inspection. Omits the delivering processes, which an inspection does not know, and the
 * reasons of dead letters, because each dead letter would have to be read.
 */
export async function surveyInspection(inspection: QueueInspection): Promise<QueueSurvey> {
  const lanes = await inspection.stats();
  const isRetrying = lanes.some(({ retrying }) => retrying > 0);
  const dead = lanes.reduce((sum, lane) => sum + lane.dead, 0);
  const { deliveries } = isRetrying
    ? await inspection.list({ states: ['retrying'], limit: MAX_SAMPLE })
    : { deliveries: [] };
  return {
    lanes,
    dead: dead === 0 ? {} : { '': dead },
    retrying: deliveries,
    deliverers: undefined,
    newestAt: undefined,
  };
}
