import type { Delivery } from './delivery.ts';
import type { LaneStats, QueueInspection } from './inspection.ts';

/** The state of a queue's deliveries in figures, with a few examples. */
export interface QueueSurvey {
  readonly lanes: readonly LaneStats[];
  /** Dead letters by reason; by '' where the reasons are not counted. */
  readonly dead: Readonly<Record<string, number>>;
  /** Some that will be tried again, with what their attempts came to. */
  readonly retrying: readonly Delivery[];
  /** Processes that deliver. Undefined: the store does not know. */
  readonly deliverers: readonly { readonly pid: number; readonly isHere: boolean }[] | undefined;
  /** When the last was added. Ms since the epoch. Undefined: nothing was, or the store does not know. */
  readonly newestAt: number | undefined;
}

const SOME = 50;

/** Surveys any queue by its inspection, which knows neither who delivers nor why dead letters died without reading each. */
export async function surveyInspection(inspection: QueueInspection): Promise<QueueSurvey> {
  const lanes = await inspection.stats();
  const isRetrying = lanes.some(({ retrying }) => retrying > 0);
  const dead = lanes.reduce((sum, lane) => sum + lane.dead, 0);
  const { deliveries } = isRetrying
    ? await inspection.list({ states: ['retrying'], limit: SOME })
    : { deliveries: [] };
  return {
    lanes,
    dead: dead === 0 ? {} : { '': dead },
    retrying: deliveries,
    deliverers: undefined,
    newestAt: undefined,
  };
}
