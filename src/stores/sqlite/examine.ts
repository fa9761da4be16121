import { access, constants } from 'node:fs/promises';
import type { Clock } from '../../clock.ts';
import type { QueueError } from '../../errors.ts';
import type { UnusableReason } from '../../file-problem.ts';
import { surveyInspection, type QueueSurvey } from '../../queue/survey.ts';
import { boundConfig } from './bound-config.ts';
import { isMissing } from './file/files.ts';
import { fileOf } from './file/open-store.ts';
import {
  examineStore,
  fileEnvironmentOf,
  type StoreExamination,
  type FileEnvironment,
} from './file/examine-store.ts';
import { engineProblem } from './file/sqlite.ts';
import { storeError, storeProblem } from './file/store-error.ts';
import type { Store } from './file/store.ts';
import { livingOwners } from './queue/owner.ts';
import { SqliteInspection } from './queue/sqlite-inspection.ts';
import { TABLES } from './tables.ts';

/** The result of examining the file of a queue. The examination creates and changes nothing. */
export type FileExamination =
  | ({
      readonly kind: 'absent';
      readonly file: string;
      /** Why this Node cannot create the file. Undefined if SQLite is installed. */
      readonly engineProblem: QueueError | undefined;
    } & FileEnvironment)
  | {
      readonly kind: 'there';
      readonly freeBytes: number;
      /** Why this user cannot write the file, or create its log in the same folder. Undefined if the user can. */
      readonly problem: UnusableReason | undefined;
      readonly store: StoreExamination;
      /** The state of the queue in numbers. Undefined if the file is damaged. */
      readonly survey: QueueSurvey | undefined;
      /** The config to which the file is bound (see QueueFile). Undefined if it is not bound, or damaged. */
      readonly config: string | undefined;
    };

/**
 * Examines a file; `place` is a path or `sqlite:PATH`. Throws ConfigError for a store that is not a file, QueueError for a
 * file that cannot be found or opened.
 */
export async function examineFile(place: string, clock: Clock): Promise<FileExamination> {
  const file = fileOf(place);
  const around = await fileEnvironmentOf(file).catch((error: unknown) => {
    throw storeError(error, file);
  });
  if (await isMissing(file)) return { kind: 'absent', file, engineProblem: await engineProblem(), ...around };
  const { used, ...store } = await examineStore(file, { clock, tables: TABLES }, async (opened) => ({
    survey: await surveyQueue(opened, clock),
    config: await boundConfig(opened),
  }));
  const problem = around.problem ?? (await writeProblem(file));
  return {
    kind: 'there',
    freeBytes: around.freeBytes,
    problem,
    store,
    survey: used?.survey,
    config: used?.config,
  };
}

async function writeProblem(file: string): Promise<UnusableReason | undefined> {
  try {
    await access(file, constants.W_OK);
    return undefined;
  } catch (error) {
    return storeProblem(error, file);
  }
}

/** Surveys the queue in `store`, which has QUEUE_TABLES, without adding or delivering. */
async function surveyQueue(store: Store, clock: Clock): Promise<QueueSurvey> {
  const survey = await surveyInspection(new SqliteInspection({ store, clock }));
  return store.read((sql) => ({
    ...survey,
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
