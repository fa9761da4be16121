import { scheduledMessages, scheduledRequests, type Schedule, type Wave } from './schedule.ts';
import { keepsStory } from './story.ts';

export interface ShrinkOptions<Seen> {
  /** Runs a schedule. Returns the deviation that it shows; undefined if it ends in the expected state. */
  readonly run: (schedule: Schedule) => Promise<Seen | undefined>;
  /** Groups of messages to try alone, the most likely group first. No group is larger than the next. */
  readonly likely: readonly (readonly number[])[];
  /** Whether there is time for another run. Shrinking stops if not. */
  readonly hasTime: () => boolean;
}

export interface Shrunk<Seen> {
  readonly schedule: Schedule;
  readonly seen: Seen;
}

/**
 * Finds a part of a schedule, as small as possible, that still ends in a wrong state. Tries the likely groups first. If none
 * fails, leaves out halves of the messages, down to single messages. Then leaves out single kills and single requests.
 */
export async function shrink<Seen>(
  found: Shrunk<Seen>,
  { run, likely, hasTime }: ShrinkOptions<Seen>,
): Promise<Shrunk<Seen>> {
  let smallest = found;
  const improves = async (schedule: Schedule): Promise<boolean> => {
    if (!hasTime() || scheduledRequests(schedule).length === 0) return false;
    if (sizeOf(schedule) >= sizeOf(smallest.schedule) || !keepsStory(found.schedule, schedule)) return false;
    const seen = await run(schedule);
    if (seen !== undefined) smallest = { schedule, seen };
    return seen !== undefined;
  };
  const count = scheduledMessages(found.schedule).length;
  for (const messages of likely.filter(({ length }) => length < count)) {
    if (await improves(withOnly(found.schedule, messages))) break;
  }
  if (smallest === found) await leaveOutMessages(() => smallest.schedule, improves);
  await leaveOutKills(() => smallest.schedule, improves);
  await leaveOutRequests(() => smallest.schedule, improves);
  return smallest;
}

type Improves = (schedule: Schedule) => Promise<boolean>;

/** Leaves out halves of the messages, then quarters, down to single messages. */
async function leaveOutMessages(current: () => Schedule, improves: Improves): Promise<void> {
  for (
    let size = Math.ceil(scheduledMessages(current()).length / 2);
    size >= 1;
    size = Math.floor(size / 2)
  ) {
    for (let at = 0; at < scheduledMessages(current()).length;) {
      const messages = scheduledMessages(current());
      const kept = messages.filter((_, place) => place < at || place >= at + size);
      if (!(await improves(withOnly(current(), kept)))) at += size;
    }
  }
}

async function leaveOutKills(current: () => Schedule, improves: Improves): Promise<void> {
  for (let at = current().waves.length - 1; at >= 0; at--) {
    const schedule = current();
    const waves = schedule.waves.map(({ kill, ...wave }, place) =>
      kill === undefined || place === at ? wave : { ...wave, kill },
    );
    await improves({ ...schedule, waves });
  }
}

function sizeOf(schedule: Schedule): number {
  return scheduledRequests(schedule).length + schedule.waves.filter(({ kill }) => kill !== undefined).length;
}

async function leaveOutRequests(current: () => Schedule, improves: Improves): Promise<void> {
  for (let at = scheduledRequests(current()).length - 1; at >= 0; at--) {
    const schedule = current();
    const waves = withoutRequest(schedule.waves, at);
    // Keeps at least one request of each message, because the state rightly lacks a message that is never sent.
    if (scheduledMessages({ waves }).length === scheduledMessages(schedule).length) {
      await improves({ ...schedule, waves });
    }
  }
}

function withOnly(schedule: Schedule, messages: readonly number[]): Schedule {
  return {
    ...schedule,
    waves: nonEmpty(
      schedule.waves.map((wave) => ({
        ...wave,
        messages: wave.messages.filter((message) => messages.includes(message)),
      })),
    ),
  };
}

function withoutRequest(waves: readonly Wave[], leftOut: number): readonly Wave[] {
  let at = 0;
  return nonEmpty(waves.map((wave) => ({ ...wave, messages: wave.messages.filter(() => at++ !== leftOut) })));
}

/** Drops empty waves. The pause of a dropped wave moves to the next wave, so that later requests are as late as before. */
function nonEmpty(waves: readonly Wave[]): readonly Wave[] {
  const kept: Wave[] = [];
  let pauseMs = 0;
  for (const wave of waves) {
    pauseMs += wave.pauseMs ?? 0;
    if (wave.messages.length === 0) continue;
    kept.push(pauseMs > 0 ? { ...wave, pauseMs } : wave);
    pauseMs = 0;
  }
  return kept;
}
