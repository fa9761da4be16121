/** Undocumented names of BullMQ. Only this file spells them, and `releaseCanary` checks them on the installed BullMQ. */
import type { EntryState } from './server.ts';

/** Prefix of all keys on Redis: the default of BullMQ, because its tools look for queues there. `classes/queue-keys.ts` */
export const PREFIX = 'bull';

/** Field that limits the number of events that BullMQ keeps of a queue. Hooks reads none; Bull Board shows the latest. */
export const EVENTS_LIMIT = { field: 'opts.maxLenEvents', value: '100' } as const;

/** Ends of the keys of a queue that hold the ids of the jobs in each state. `classes/queue-keys.ts` */
export const IDS_KEY = {
  waiting: 'wait',
  active: 'active',
  delayed: 'delayed',
  completed: 'completed',
  failed: 'failed',
} as const satisfies Record<EntryState, string>;

/** Ends of the keys of a queue besides those of IDS_KEY. The marker wakes a `Worker` of BullMQ. `classes/queue-keys.ts` */
export const KEY = { events: 'events', marker: 'marker', meta: 'meta' } as const;

/** Ends of keys that hold ids only if a person or a tool moved jobs there. `commands/includes/removeJobFromAnyState.lua` */
export const STRANGE_IDS_KEYS = { lists: ['paused'], sets: ['prioritized', 'waiting-children'] } as const;

/** Suffix of the key of a job that holds the token of its lock. `commands/includes/removeLock.lua` */
export const LOCK_END = ':lock';

/** Suffixes of further keys that BullMQ's tools may have made for a job. `commands/includes/removeJobKeys.lua` */
export const JOB_KEYS = [':logs', ':dependencies', ':processed', ':failed', ':unsuccessful'] as const;

/** Fields of a job on Redis that hooks reads, in the order of reading. `classes/job.ts`, `commands/includes/storeJob.lua` */
export const READ_FIELD = {
  data: 'data',
  addedAt: 'timestamp',
  settledAt: 'finishedOn',
  failedReason: 'failedReason',
  returnvalue: 'returnvalue',
  stacktrace: 'stacktrace',
  progress: 'progress',
  takes: 'ats',
  takenAt: 'processedOn',
  name: 'name',
} as const;

/** All fields of a job on Redis that hooks reads or writes. */
export const FIELD = { ...READ_FIELD, options: 'opts', delay: 'delay', settles: 'atm' } as const;

/** Field of `KEY.meta` that exists while the queue is paused. `commands/pause-7.lua` */
export const PAUSED = 'paused';

/** Fields of an event, besides those of the job. `commands/moveToFinished-14.lua` */
export const EVENT = { name: 'event', id: 'jobId', from: 'prev' } as const;

/** Scores of delayed jobs on Redis are ms times this, plus the order of adding. `commands/includes/getDelayedScore.lua` */
export const DELAYED_STEP = 0x1000;

/** The schema of BullMQ's tables on PostgreSQL. Those of hooks are in the schema `hooks`. `postgres/migrations` */
export const SCHEMA = 'bullmq';

/** BullMQ's tables on PostgreSQL; a row of `meta` has the columns series, `field` and `value`. `postgres/migrations` */
export const TABLE = { jobs: 'job', meta: 'meta' } as const;

/** Columns of BullMQ's tables on PostgreSQL, besides `id`, `name` and `data`. `state` holds an EntryState. */
export const COLUMN = {
  series: 'queue',
  state: 'state',
  addedAt: 'added_at_ms',
  dueAt: 'process_at_ms',
  takes: 'attempts_started',
  takenAt: 'processed_at_ms',
  settledAt: 'finished_at_ms',
  failedReason: 'failed_reason',
  returnvalue: 'return_value',
  stacktrace: 'stacktrace',
  progress: 'progress',
  token: 'lock_token',
  isStalled: 'stalled_marked',
  priority: 'priority',
  order: 'seq',
} as const;

/** BullMQ's functions on PostgreSQL. `postgres/sql-scripts.ts` */
export const FUNCTION = {
  add: 'add_flow',
  take: 'move_to_active',
  extend: 'extend_lock',
  note: 'update_progress',
  complete: 'move_to_completed',
  fail: 'move_to_failed',
  delay: 'move_to_delayed',
  recover: 'move_stalled_jobs_to_wait',
  wakeDelayed: 'promote',
  wakeFailed: 'reprocess_job',
  remove: 'remove',
  forget: 'clean',
} as const;

/** Error code of BullMQ's functions on PostgreSQL for a change that the state or the lock of a job does not allow. */
export const NOT_ALLOWED = 'BM001';

/** Channel on which BullMQ on PostgreSQL announces, once per commit, the name of each queue that gets waiting jobs. */
export const CHANNEL = 'bullmq_jobs';
