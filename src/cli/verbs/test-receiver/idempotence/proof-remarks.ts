import { formatDuration } from '../../../../duration.ts';
import { PROOF_DEFAULTS, type Reference, type ScheduleCode } from '../../../../idempotence/prove.ts';
import { durationText } from '../../../attempt-text.ts';
import type { IdempotenceFlags } from './options.ts';

/** A run that takes longer is announced. */
const LONG_MS = 120_000;

/** What `--late` means where that is not what it is for. */
export function remarksOfLate({ late }: IdempotenceFlags, codes: readonly ScheduleCode[]): readonly string[] {
  if (late === undefined || !codes.includes('late')) return [];
  if (late === 0) return ['With --late 0 a message comes again at once: late then shows no more than twice'];
  if (late <= LONG_MS) return [];
  return [`--late ${formatDuration(late)}: the run waits that long once, and twice from 25 schedules on`];
}

/** What the reference run shows of the run that follows. */
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
    remarks.push(`Left out, since the receiver does not take them: ${each.join(', ')}; ${sent}`);
  }
  const ms = schedules * runMs + late;
  if (ms >= LONG_MS) {
    const minutes = durationText(Math.round(ms / 60_000) * 60_000);
    remarks.push(`${schedules} schedules may take about ${minutes}; --schedules 14 takes less`);
  }
  return remarks;
}
