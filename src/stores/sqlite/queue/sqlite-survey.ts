import type { Clock } from '../../../clock.ts';
import type { Store } from '../file/store.ts';
import type { QueueSurvey } from '../../../queue/survey.ts';
import { livingOwners } from './owner.ts';
import { SqliteInspection } from './sqlite-inspection.ts';

const SOME = 50;

/** Reads only. `store` has QUEUE_TABLES. */
export async function surveyQueue(store: Store, clock: Clock): Promise<QueueSurvey> {
  const inspection = new SqliteInspection({ store, clock });
  const [lanes, { deliveries }] = [
    await inspection.stats(),
    await inspection.list({ states: ['retrying'], limit: SOME }),
  ];
  return store.read((sql) => ({
    lanes,
    retrying: deliveries,
    dead: Object.fromEntries(
      sql(DEAD)
        .all()
        .map((row) => [String(row['reason']), Number(row['count'])]),
    ),
    deliverers: livingOwners(sql, clock.now()),
    newestAt: Number(sql(NEWEST).get()?.['created_at']) || undefined,
  }));
}

const DEAD = `SELECT reason, count(*) AS count FROM progress WHERE settled_state = 'dead' GROUP BY reason ORDER BY reason`;
const NEWEST = 'SELECT created_at FROM deliveries ORDER BY seq DESC LIMIT 1';
