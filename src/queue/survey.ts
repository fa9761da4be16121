import type { QueueInspection } from './inspection.ts';
import type { QueueSurvey } from '../stores/sqlite/queue/sqlite-survey.ts';

const SOME = 50;

/** What any queue says of itself: not who delivers, nor why its dead letters died, without a look at each. */
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
