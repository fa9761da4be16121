import { HooksError } from '../../errors.ts';
import { scheduledMessages, type Schedule, type ScheduleCode } from '../plan/schedule.ts';
import { shrink, type Shrunk } from '../plan/shrink.ts';
import { hasMore } from '../state-difference.ts';
import { likelyMessages, type KnownMessages } from './likely-messages.ts';
import { withKillTimes, type Deviation, type ProofRunner } from './proof-runner.ts';

/** Time limit of shrinking. Shrinking on a busy machine may exceed it, up to SHRINKING_RUNS or LONGEST_SHRINKING_MS. */
const SHRINKING_MS = 12_000;
const SHRINKING_RUNS = 30;
const LONGEST_SHRINKING_MS = 60_000;
/** Codes whose schedules depend on timing: the same schedule may pass the next time. */
const RACES: ReadonlySet<ScheduleCode> = new Set(['twice-at-once', 'answer-lost', 'interleaved', 'killed']);
/** Maximum runs to see a race again: `few` for one or two messages, `many` for more. */
const RACE_TRIES = { few: 3, many: 2 };

/** Finds the fewest requests that still end in a wrong state, by running smaller schedules. */
export async function shrinkDeviation(
  runner: ProofRunner,
  { schedule: found, seen: deviation }: Shrunk<Deviation>,
  known: KnownMessages,
): Promise<Shrunk<Deviation>> {
  const { clock } = runner.options;
  const startedAt = clock.now();
  let [runs, canGoOn] = [0, true];
  const hasTime = (): boolean => {
    const ms = clock.now() - startedAt;
    return canGoOn && (ms < SHRINKING_MS || (runs < SHRINKING_RUNS && ms < LONGEST_SHRINKING_MS));
  };
  const run = async (smaller: Schedule): Promise<Deviation | undefined> => {
    const tries = triesOf(smaller);
    try {
      for (let tried = 1; ; tried++) {
        runs++;
        const judged = await runner.judge(smaller);
        const seen = judged?.kind === deviation.kind ? judged : undefined;
        if (seen !== undefined || tried >= tries || !hasTime()) return seen;
      }
    } catch (error) {
      if (!(error instanceof HooksError)) throw error;
      // Stops shrinking: a kill may have left a receiver that cannot start, and the reset may need a running receiver.
      canGoOn = false;
      return undefined;
    }
  };
  const whole = { schedule: withKillTimes(found, deviation.execution), seen: deviation };
  const smallest = await shrink(whole, { run, likely: likelyMessages(found, deviation, known), hasTime });
  return withoutRepeat(smallest, run);
}

/**
 * Reduces a schedule with a kill to one request and a kill after its response, if that already loses the message. The repeat
 * then has no part in the loss.
 */
async function withoutRepeat(
  smallest: Shrunk<Deviation>,
  run: (smaller: Schedule) => Promise<Deviation | undefined>,
): Promise<Shrunk<Deviation>> {
  const { schedule, seen } = smallest;
  const [message, other] = scheduledMessages(schedule);
  const isKill = schedule.code === 'killed' && seen.kind === 'state';
  if (!isKill || message === undefined || other !== undefined || hasMore(seen.expected, seen.state)) {
    return smallest;
  }
  const lost = { ...schedule, waves: [{ messages: [message], kill: { when: 'after' } }] } as const;
  const alone = await run(lost);
  return alone?.kind === 'state' ? { schedule: lost, seen: alone } : smallest;
}

function triesOf(schedule: Schedule): number {
  if (!RACES.has(schedule.code)) return 1;
  return scheduledMessages(schedule).length <= 2 ? RACE_TRIES.few : RACE_TRIES.many;
}
