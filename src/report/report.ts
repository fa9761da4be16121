/** The result of one message in a report. A result line of the command line has these fields and more. */
export interface ReportedResult {
  /** For people: `track "Signup"`. */
  readonly name: string;
  /** `line` counts from 1. */
  readonly origin: { readonly file: string; readonly line: number };
  readonly outcome: ReportedOutcome;
  readonly messageId?: string | undefined;
  /** The URL of the attempt that decided; redacted. */
  readonly url?: string | undefined;
  readonly status?: number | undefined;
  /** A stable code: `timeout refused … http-5xx`. */
  readonly error?: string | undefined;
  /** Why it was not delivered, in words. */
  readonly reason?: string | undefined;
  /** Absent when the replay that is resumed delivered it. */
  readonly attempts?: number | undefined;
  /** From the start of the first attempt to the end. */
  readonly ms?: number | undefined;
}

export type ReportedOutcome = 'delivered' | 'failed' | 'queued' | 'filtered' | 'invalid' | 'unsent';

/** The final counts of a replay; `skipped` is outside `read`. */
export interface ReportedSummary extends Readonly<Record<ReportedOutcome, number>> {
  readonly read: number;
  readonly skipped: number;
  readonly ms: number;
  readonly perSecond: number;
  readonly latencyMs: {
    readonly p50: number | null;
    readonly p95: number | null;
    readonly p99: number | null;
  };
  /** Only of a replay that continues an earlier one: what that delivered or queued, which is among the `skipped`. */
  readonly resumed?: { readonly finished: boolean; readonly delivered: number; readonly queued: number };
  /** The `--offset` of the first unread entry, when the input was not read to its end and cannot be resumed from. */
  readonly unreadFrom?: number;
  /** The `--offset` of the first entry that is unsent or unread. */
  readonly unsentFrom?: number;
}

/** A report that takes results one by one, in constant memory, and appears under its name when it is complete. */
export interface Report {
  /** Adds a result. Returns a promise when the disk is slower than the results: wait for it before the next call. */
  add(result: ReportedResult): Promise<void> | undefined;
  /** Completes the report, also after an interruption. Throws InputError when it could not be written. */
  finish(summary: ReportedSummary): Promise<void>;
  /** Removes the incomplete report. */
  abandon(): Promise<void>;
}
