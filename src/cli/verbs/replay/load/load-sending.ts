import type { LoadEvent } from '../../../../replay/load/load-recorder.ts';

/** A part of a load that all senders start together: the whole load, or one step of a search. */
export interface LoadPart {
  /** A shape that `--load` accepts, except `max`. */
  readonly shape: string;
  readonly forMs: number | undefined;
  readonly warmupMs: number;
  /** Start of the part on the clock of `elapsedMs`, which all threads share. */
  readonly startAt: number;
}

export interface PartTimes {
  /** Time during which messages were due, including the warm-up. Shorter than the part if it ended early. */
  readonly sentMs: number;
  /** When the part ended and all its messages were settled, in ms since its start. */
  readonly endedMs: number;
  /** Whether the part ended early. */
  readonly isShort: boolean;
}

/** Receives the events of the messages of a part. Times are in ms since the start of the part. */
export interface LoadEvents {
  readonly add: (event: LoadEvent) => void;
  /** Reports that all events before `now` were added. Called at least ten times a second. */
  readonly advance: (now: number) => void;
}

/** The results so far of one sender, or of all senders together. `counts` includes warm-ups. */
export interface LoadReport {
  /** The URL of the webhook, without its secrets. */
  readonly url: string;
  readonly counts: LoadCounts & Readonly<Record<LoadCount, number>>;
  /** Number of failures by error text, without those of warm-ups. */
  readonly failures: LoadCounts;
  /** Whether no message is left. */
  readonly isEnded: boolean;
}

type LoadCounts = Readonly<Record<string, number>>;

type LoadCount =
  'read' | 'delivered' | 'failed' | 'unsent' | 'invalid' | 'filtered' | 'skipped' | 'warmupFailed';

/** A sender of a load, or of a share of it: `LoadRun` sends in the current thread, `LoadThread` in another one. */
export interface LoadSending {
  /** `LoadThread` updates its report at the end of each part. */
  readonly report: LoadReport;
  /** Sends one part and waits for the responses. Throws if an input cannot be read or a request cannot be made. */
  readonly part: (part: LoadPart, events: LoadEvents) => Promise<PartTimes>;
  /** Stops sending. Messages in flight still settle. */
  readonly stop: () => void;
  /** Aborts the attempts in flight. */
  readonly abort: () => void;
  readonly close: () => Promise<void>;
}

/** Combines the reports of two senders that share a load. */
export function joinReports(one: LoadReport, other: LoadReport): LoadReport {
  return {
    url: one.url,
    counts: { ...one.counts, ...sumOf(one.counts, other.counts) },
    failures: sumOf(one.failures, other.failures),
    isEnded: one.isEnded || other.isEnded,
  };
}

/** Adds up the counts that have the same name. */
function sumOf(one: LoadCounts, other: LoadCounts): LoadCounts {
  const names = Object.keys({ ...one, ...other });
  return Object.fromEntries(names.map((name) => [name, (one[name] ?? 0) + (other[name] ?? 0)]));
}
