/** The result of one message in a report. Result lines of the command line have these fields and more. */
export interface ReportedResult {
  /** Label of the message: `track "Signup"`. */
  readonly name: string;
  /** Origin of the message. `line` counts from 1. */
  readonly origin: ResultOrigin;
  readonly outcome: ReportedOutcome | CheckedOutcome;
  readonly messageId?: string | undefined;
  /** Redacted URL of the attempt that delivered the message, else of the last attempt. */
  readonly url?: string | undefined;
  readonly status?: number | undefined;
  /** Stable code of why the message was not delivered, such as `timeout` or `http-5xx`. */
  readonly error?: string | undefined;
  /** Sentence that explains why the message was not delivered. */
  readonly reason?: string | undefined;
  /** Number of attempts; absent if an earlier run of a resumed replay delivered the message. */
  readonly attempts?: number | undefined;
  /** Milliseconds from the start of the first attempt to the end of the one that delivered the message, else of the last. */
  readonly ms?: number | undefined;
}

export type ReportedOutcome = 'delivered' | 'failed' | 'queued' | 'filtered' | 'invalid' | 'unsent';

/** Whether a message follows a tracking plan. `error` names the kind of the violation, and `reason` describes it. */
export type CheckedOutcome = 'valid' | 'violation';

/** The final counts of a replay. `skipped` entries are not included in `read`. */
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
  /** Counts of the earlier runs of a resumed replay, which are included in `skipped`. */
  readonly resumed?: { readonly finished: boolean; readonly delivered: number; readonly queued: number };
  /**
   * Value of `--offset` to continue with the first unread entry. Only if the replay did not read its input to the end and
   * cannot be resumed.
   */
  readonly unreadFrom?: number;
  /** Value of `--offset` to continue with the first entry that is unsent or unread. */
  readonly unsentFrom?: number;
}

/**
 * A report to which results are added one by one, in constant memory. The file gets its name only when the report is
 * complete.
 */
export interface Report {
  /** Adds a result. Returns a promise if the disk is slower than the results: wait for it before the next call. */
  add(result: ReportedResult): Promise<void> | undefined;
  /** Completes the report, also after an interruption. Throws InputError if it cannot be written. */
  finish(summary: { readonly ms: number }): Promise<void>;
  /** Removes the incomplete report. */
  abandon(): Promise<void>;
}

/** The place of a message. `request` is its number in a HAR file. */
export interface ResultOrigin {
  readonly file: string;
  readonly line: number;
  readonly request?: number;
}

/** The place of a message as text: `orders.ndjson:3`, or `x.har request 3`. */
export function originText({ file, line, request }: ResultOrigin): string {
  return request === undefined ? `${file}:${line}` : `${file} request ${request}`;
}
