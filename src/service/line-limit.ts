import type { Clock } from '../clock.ts';

interface LineLimitOptions<Group> {
  readonly clock: Clock;
  /** Called at the end of a minute with the number of events of the group that got no log line. */
  readonly onMore: (group: Group, more: number) => void;
  /** Log lines per minute for events of the same group. @default 5 */
  readonly lines?: number;
}

/** Log lines per minute for events of the same group: enough to see what they have in common. */
const LINES_IN_MINUTE = 5;
const MINUTE_MS = 60_000;

/** Limits the log lines about events, such as dead letters, because an outage can cause a million. */
export class LineLimit<Group extends object> {
  readonly #options: LineLimitOptions<Group>;
  readonly #groups = new Map<string, { count: number; readonly end: () => void }>();

  constructor(options: LineLimitOptions<Group>) {
    this.#options = options;
  }

  get #lines(): number {
    return this.#options.lines ?? LINES_IN_MINUTE;
  }

  /** Counts an event. Returns whether it gets a log line. */
  getsLine(group: Group): boolean {
    const key = JSON.stringify(group);
    const counted = this.#groups.get(key) ?? this.#begin(key, group);
    counted.count += 1;
    return counted.count <= this.#lines;
  }

  /** Ends every running minute of the limit now: reports the number of its events that got no log line. */
  close(): void {
    for (const { end } of this.#groups.values()) end();
  }

  #begin(key: string, group: Group): { count: number } {
    const { clock, onMore } = this.#options;
    const end = (): void => {
      cancel();
      this.#groups.delete(key);
      const more = counted.count - this.#lines;
      if (more > 0) onMore(group, more);
    };
    const counted = { count: 0, end };
    const cancel = clock.after(MINUTE_MS, end);
    this.#groups.set(key, counted);
    return counted;
  }
}
