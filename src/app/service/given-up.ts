import type { Clock } from '../../clock.ts';
import type { LaneId } from '../../queue/queue.ts';

interface GivenUpOptions {
  readonly clock: Clock;
  /** Tells how many more there were than were told one by one. */
  readonly onMore: (group: DeadGroup, more: number) => void;
}

interface DeadGroup extends LaneId {
  readonly reason: string;
}

/** Told one by one in a minute, of each destination and reason: what they have in common is seen from these. */
const TOLD_IN_MINUTE = 5;
const MINUTE_MS = 60_000;

/** Bounds the lines about dead letters: an outage may give up a million. */
export class GivenUp {
  readonly #options: GivenUpOptions;
  readonly #groups = new Map<string, { count: number; readonly end: () => void }>();

  constructor(options: GivenUpOptions) {
    this.#options = options;
  }

  /** Counts a dead letter. Returns whether it gets a line of its own. */
  isTold({ source, destination, reason }: DeadGroup): boolean {
    const key = JSON.stringify([source, destination, reason]);
    const group = this.#groups.get(key) ?? this.#begin(key, { source, destination, reason });
    group.count += 1;
    return group.count <= TOLD_IN_MINUTE;
  }

  /** Tells at once what is not told yet. */
  close(): void {
    for (const { end } of this.#groups.values()) end();
  }

  #begin(key: string, lane: DeadGroup): { count: number } {
    const { clock, onMore } = this.#options;
    const end = (): void => {
      cancel();
      this.#groups.delete(key);
      const more = group.count - TOLD_IN_MINUTE;
      if (more > 0) onMore(lane, more);
    };
    const group = { count: 0, end };
    const cancel = clock.after(MINUTE_MS, end);
    this.#groups.set(key, group);
    return group;
  }
}
