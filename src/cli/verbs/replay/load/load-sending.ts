import type { LoadEvent } from '../../../../replay/load/load-recorder.ts';

/** A part of a load: a curve with one start. */
export interface LoadPart {
  /** A shape as `--load` takes it, but not `max`. */
  readonly shape: string;
  readonly forMs: number | undefined;
  readonly warmupMs: number;
  /** Start of the part in the time of `elapsedMs`, which all threads share. */
  readonly startAt: number;
}

export interface PartTimes {
  /** Time, with the warm-up, for which messages were due: shorter than the part if it ended before. */
  readonly sentMs: number;
  /** When the last message had its response, in ms since the start. */
  readonly endedMs: number;
  /** Whether the sending ended before its time. */
  readonly isShort: boolean;
}

/** Receives what happens to the messages of a part. Times are ms since its start. */
export interface LoadEvents {
  readonly add: (event: LoadEvent) => void;
  /** Tells that all events before `now` are added. Called at least ten times a second. */
  readonly advance: (now: number) => void;
}

/** The counts of all messages so far, those of warm-ups included. */
export interface LoadReport {
  /** The URL of the webhook, without its secrets. */
  readonly url: string;
  readonly counts: LoadCounts & Readonly<Record<LoadCount, number>>;
  /** The number of failures by their text. */
  readonly failures: LoadCounts;
  /** Whether no message is left. */
  readonly isEnded: boolean;
}

type LoadCounts = Readonly<Record<string, number>>;

type LoadCount =
  'read' | 'delivered' | 'failed' | 'unsent' | 'invalid' | 'filtered' | 'skipped' | 'warmupFailed';

/** Sends a load: in one thread (`LoadRun`), or in several (`LoadWorkers`). */
export interface LoadSending {
  readonly report: LoadReport;
  /** Sends one part and waits for the responses. Throws the error of an unreadable input or an unusable request. */
  readonly part: (part: LoadPart, events: LoadEvents) => Promise<PartTimes>;
  /** Ends the sending. Messages in flight still settle. */
  readonly stop: () => void;
  /** Aborts the attempts in flight. */
  readonly abort: () => void;
  readonly close: () => Promise<void>;
}

/** Sums the reports of senders that share a load. */
export function joinReports(one: LoadReport, other: LoadReport): LoadReport {
  return {
    url: one.url,
    counts: { ...one.counts, ...sumOf(one.counts, other.counts) },
    failures: sumOf(one.failures, other.failures),
    isEnded: one.isEnded || other.isEnded,
  };
}

/** Adds the counts of the same name. */
function sumOf(one: LoadCounts, other: LoadCounts): LoadCounts {
  const names = Object.keys({ ...one, ...other });
  return Object.fromEntries(names.map((name) => [name, (one[name] ?? 0) + (other[name] ?? 0)]));
}
