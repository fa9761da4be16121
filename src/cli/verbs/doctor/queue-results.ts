import { dirname } from 'node:path';
import type { Sources } from '../../../engine/options.ts';
import type { QueueExamination } from '../../../stores/open.ts';
import type { Delivery } from '../../../queue/delivery.ts';
import type { LaneStats } from '../../../queue/inspection.ts';
import type { QueueSurvey } from '../../../queue/survey.ts';
import { isoTime } from '../../../clock.ts';
import { formatCount } from '../../../message/limits.ts';
import { attemptText } from '../../attempt-text.ts';
import { fail, ok, warn, type DoctorResult } from './doctor-result.ts';

const MB = 1024 * 1024;
/** Free space below which a queue accepts nothing. */
const LEAST_BYTES = 1 * MB;
const LITTLE_BYTES = 100 * MB;
/** Time after which a due delivery counts as overdue, because no process claims it. */
const OVERDUE_MS = 10_000;
/** Maximum difference between the clocks of machines that share a queue. */
const CLOCKS_DIFFER_MS = 5 * 60_000;

/**
 * Reports the state of the queue's file: locks, damage, permissions and free space. `isNeeded`: the config is for `serve` or
 * names a store, so a file that cannot be made is a failure.
 */
export function storeResults(
  seen: QueueExamination,
  { isNeeded }: { readonly isNeeded: boolean },
): DoctorResult[] {
  if (seen.kind === 'absent') {
    return [absentResult(seen, isNeeded), ...diskResults(dirname(seen.file), seen.freeBytes)];
  }
  const { store, problem, freeBytes } = seen;
  return [
    lockResult(store),
    integrityResult(store),
    ...permissionResults(store, problem),
    ...diskResults(dirname(store.file), freeBytes),
  ];
}

type AbsentStore = Extract<QueueExamination, { readonly kind: 'absent' }>;
type PresentStore = Exclude<QueueExamination, { readonly kind: 'absent' }>['store'];

function absentResult({ file, problem, engineProblem }: AbsentStore, isNeeded: boolean): DoctorResult {
  if (engineProblem !== undefined) {
    const { message: said, hint } = engineProblem;
    return { check: 'store', status: isNeeded ? 'fail' : 'warn', said, hint };
  }
  if (problem === undefined) {
    return ok('store', `${file}: not there yet; serve, worker and --queue create it`);
  }
  const said = `${file}: not there yet, and cannot be created: ${problem.what}`;
  return fail('store', said, `${problem.fix}, or name another folder with HOOKS_DATA_DIR or --store`);
}

function lockResult({ file, bytes, sqliteVersion, isLocked }: PresentStore): DoctorResult {
  const facts = `${file}: ${megabytes(bytes)}, SQLite ${sqliteVersion}`;
  if (!isLocked) return ok('store', `${facts}, not locked`);
  const hint = 'end the program that holds it (a backup, an open sqlite3)';
  return warn('store', `${facts}: another program holds it`, hint);
}

function integrityResult({ damage, isChecked }: PresentStore): DoctorResult {
  if (damage === undefined) {
    return ok('integrity', isChecked ? 'nothing is damaged' : 'the file is too large for a quick check');
  }
  const hint = 'stop what uses it, run `hooks queue recover FILE --to NEW`, and replace FILE by NEW';
  return fail('integrity', `the file is damaged: ${damage}`, hint);
}

function permissionResults({ file, mode }: PresentStore, problem: AbsentStore['problem']): DoctorResult[] {
  const isShared = (mode & 0o077) !== 0;
  const shared = `${file} may be read by others (mode ${mode.toString(8)})`;
  return [
    ...(isShared ? [warn('permissions', shared, `chmod 600 ${file}`)] : []),
    ...(problem === undefined ? [] : [unwritableResult(file, problem)]),
  ];
}

function unwritableResult(file: string, { what, fix }: NonNullable<AbsentStore['problem']>): DoctorResult {
  const said = `${file} cannot be written: ${what}, so nothing can be queued or delivered`;
  return fail('store', said, `${fix}, or name another with --store`);
}

/** Reports the room on the disk, if its file system reports that. */
function diskResults(folder: string, freeBytes: number): DoctorResult[] {
  return Number.isFinite(freeBytes) ? [diskResult(folder, freeBytes)] : [];
}

function diskResult(folder: string, freeBytes: number): DoctorResult {
  const said = `${megabytes(freeBytes)} free at ${folder}`;
  if (freeBytes < LEAST_BYTES) {
    const hint = 'make room on that disk, or name another folder with HOOKS_DATA_DIR or --store';
    return fail('disk', `${said}: the disk is full, so nothing is accepted`, hint);
  }
  return freeBytes < LITTLE_BYTES
    ? warn('disk', said, 'make room: on a full disk nothing is accepted')
    : ok('disk', said);
}

/** Reports the waiting deliveries, their retries and the dead letters. */
export function queueResults(survey: QueueSurvey, sources: Sources | undefined, now: number): DoctorResult[] {
  const { lanes, newestAt } = survey;
  if (newestAt !== undefined && newestAt > now + CLOCKS_DIFFER_MS) {
    const said = `the last delivery was added in the future, at ${isoTime(newestAt)}`;
    return [fail('clock', said, 'set the clock of this machine, or of the one that added it')];
  }
  return [
    waitingResult(survey, now),
    ...(sources === undefined ? [] : lanes.flatMap((lane) => strandedResults(lane, sources))),
    ...retryingResults(survey.retrying),
    ...Object.entries(survey.dead).map(([reason, count]) => deadResult(reason, count)),
  ];
}

function waitingResult({ lanes, deliverers }: QueueSurvey, now: number): DoctorResult {
  const counts = lanes.map(({ pending, sending, retrying }) => pending + sending + retrying);
  const waiting = counts.reduce((sum, count) => sum + count, 0);
  const said = `${formatCount(waiting)} waiting${whoDelivers(deliverers)}`;
  const isOverdue = lanes.some(({ nextDueAt = Infinity }) => nextDueAt < now - OVERDUE_MS);
  if (waiting === 0 || !isOverdue) return ok('queue', said);
  const hint = 'start hooks worker or hooks serve with this config and --store';
  if (deliverers?.length === 0) return fail('queue', said, hint);
  const busy = 'look into its log: it may be busy, or hang';
  return warn(
    'queue',
    `${said}, but some are overdue`,
    deliverers === undefined ? `${hint}; where one runs, ${busy}` : busy,
  );
}

function whoDelivers(deliverers: QueueSurvey['deliverers']): string {
  if (deliverers === undefined) return '';
  if (deliverers.length === 0) return ', no process delivers';
  const names = deliverers.map(({ pid, isHere }) => `process ${pid}${isHere ? '' : ' of another machine'}`);
  return `, delivered by ${names.join(', ')}`;
}

/** Reports deliveries that the config has no destination for. */
function strandedResults(
  { source, destination, pending, retrying }: LaneStats,
  sources: Sources,
): DoctorResult[] {
  if (pending + retrying === 0) return [];
  const found = sources[source]?.destinations[destination];
  if (found?.enabled === true) return [];
  const why = found === undefined ? 'which the config does not have' : 'which is disabled';
  const said = `${pending + retrying} wait for ${source} → ${destination}, ${why}`;
  const hint =
    'fix the config before a worker turns them into dead letters; hooks queue retry restores those';
  return [warn('queue', said, hint)];
}

function retryingResults(deliveries: readonly Delivery[]): DoctorResult[] {
  const counts = new Map<string, number>();
  for (const { progress } of deliveries) {
    const last = progress.attempts.at(-1);
    const text = last === undefined ? 'not tried yet' : attemptText(last);
    counts.set(text, (counts.get(text) ?? 0) + 1);
  }
  const hint = "run hooks queue list to see them, and look into the receiver's log";
  return [...counts].map(([text, count]) => warn('retrying', `${count} will be retried: ${text}`, hint));
}

const DEAD_LETTER_HINTS: Readonly<Record<string, string>> = {
  rejected: 'see the responses with hooks queue list --state dead; fix the cause, then hooks queue retry',
  exhausted: 'run hooks queue retry --all --filter reason=exhausted once the webhook works',
  invalid: 'see what is wrong with hooks queue list --state dead --filter reason=invalid',
  cancelled:
    'run hooks queue retry --all --filter reason=cancelled: the destination was gone or disabled (--to NAME for one that was renamed)',
  damaged: 'check the disk, which changed stored bodies, and send the messages again from their source',
};

function deadResult(reason: string, count: number): DoctorResult {
  const said = `${formatCount(count)} dead letter${count === 1 ? '' : 's'}${reason === '' ? '' : `: ${reason}`}`;
  return warn('dead-letters', said, DEAD_LETTER_HINTS[reason] ?? 'see hooks queue list --state dead');
}

function megabytes(bytes: number): string {
  return bytes < 10 * MB ? `${(bytes / MB).toFixed(1)} MB` : `${formatCount(Math.round(bytes / MB))} MB`;
}
