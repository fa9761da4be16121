import type { Clock } from '../../clock.ts';
import type { LaneId } from '../../queue/queue.ts';

interface GivenUpOptions {
  readonly clock: Clock;
  /** Called at the end of a minute with the number of dead letters that got no log line. */
  readonly onMore: (group: DeadGroup, more: number) => void;
}

interface DeadGroup extends LaneId {
  readonly reason: string;
}

/** Log lines per minute for the dead letters with equal destination and reason: enough to see what they have in common. */
const LINES_IN_MINUTE = 5;
const MINUTE_MS = 60_000;

/** Limits the log lines about dead letters, because an outage can cause a million. */
export class GivenUp {
  readonly #options: GivenUpOptions;
  readonly #groups = new Map<string, { count: number; readonly end: () => void }>();

  constructor(options: GivenUpOptions) {
    this.#options = options;
  }

  /** Counts a dead letter. Returns whether it gets a log line. */
  getsLine({ source, destination, reason }: DeadGroup): boolean {
    const key = JSON.stringify([source, destination, reason]);
    const group = this.#groups.get(key) ?? this.#begin(key, { source, destination, reason });
    group.count += 1;
    return group.count <= LINES_IN_MINUTE;
  }

  /** Ends every running minute of the limit now: reports the number of its dead letters that got no log line. */
  close(): void {
    for (const { end } of this.#groups.values()) end();
  }

  #begin(key: string, lane: DeadGroup): { count: number } {
    const { clock, onMore } = this.#options;
    const end = (): void => {
      cancel();
      this.#groups.delete(key);
      const more = group.count - LINES_IN_MINUTE;
      if (more > 0) onMore(lane, more);
    };
    const group = { count: 0, end };
    const cancel = clock.after(MINUTE_MS, end);
    this.#groups.set(key, group);
    return group;
  }
}
