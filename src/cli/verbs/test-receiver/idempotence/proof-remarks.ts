import { formatDuration } from '../../../../duration.ts';
import { PROOF_DEFAULTS, type Reference, type ScheduleCode } from '../../../../idempotence/prove.ts';
import { durationText } from '../../../attempt-text.ts';
import type { IdempotenceFlags } from './options.ts';

/** Duration in ms from which a run, or the wait for a late message, is long enough to be announced. */
const LONG_MS = 120_000;

/** Returns a remark about a `--late` that is 0 or very long. */
export function remarksOfLate({ late }: IdempotenceFlags, codes: readonly ScheduleCode[]): readonly string[] {
  if (late === undefined || !codes.includes('late')) return [];
  if (late === 0) return ['With --late 0 a message is repeated immediately: late then equals twice'];
  if (late <= LONG_MS) return [];
  return [`--late ${formatDuration(late)}: the run waits that long once, and twice from 25 schedules on`];
}

/** Returns remarks after the reference run: which messages are left out, and how long the whole run may take. */
export function remarksOfReference(
  { leftOut, messages, runMs }: Reference,
  { schedules = PROOF_DEFAULTS.schedules, late = PROOF_DEFAULTS.lateMs }: IdempotenceFlags,
): readonly string[] {
  const remarks: string[] = [];
  if (leftOut.length > 0) {
    const each = leftOut.map(({ message: { label }, response: { status, error } }) => {
      return `${label} (${status ?? error})`;
    });
    const sent = `${messages.length} ${messages.length === 1 ? 'message is' : 'messages are'} left`;
    remarks.push(`Left out because the receiver does not accept them: ${each.join(', ')}; ${sent}`);
  }
  const ms = schedules * runMs + late;
  if (ms >= LONG_MS) {
    const minutes = durationText(Math.round(ms / 60_000) * 60_000);
    remarks.push(`${schedules} schedules may take about ${minutes}; --schedules 14 takes less`);
  }
  return remarks;
}
