/** Codes of the checks of a proof, the values of `--only` and `--skip`, in the order of the results. */
export const SCHEDULE_CODES = [
  'once',
  'twice',
  'twice-at-once',
  'answer-lost',
  'after-5xx',
  'interleaved',
  'late',
  'killed',
  'shuffled',
] as const;

export type ScheduleCode = (typeof SCHEDULE_CODES)[number];

/** Codes with schedules. The others are proved by the reference run and its repetitions. */
export type PlannedCode = Exclude<ScheduleCode, 'once' | 'after-5xx'>;

/** Descriptions of the requests of each code, for people. */
export const SCHEDULE_TITLES = {
  once: 'each message once, and each counts',
  twice: 'each message twice',
  'twice-at-once': 'each message twice at the same moment',
  'answer-lost': 'the connection is cut at the first byte of the response, and the message sent again',
  'after-5xx': 'what the receiver rejects with 5xx is sent again',
  interleaved: 'the messages of several users interleaved',
  late: 'a message again much later',
  killed: 'the receiver is killed before or after its response, and started again',
  shuffled: 'the messages of one user in any order',
} as const satisfies Readonly<Record<ScheduleCode, string>>;

/** One order and timing of requests. A correct receiver ends in the state of the reference run. */
export interface Schedule {
  readonly code: PlannedCode;
  /** Number within the code, from 1. The code, this number and the seed identify the schedule. */
  readonly number: number;
  /** Groups of requests, sent one after another: a wave begins when all requests of the wave before it have responses. */
  readonly waves: readonly Wave[];
}

export interface Wave {
  /** Indexes of the messages of a wave, which are sent at the same moment unless there is a `gapShare`. */
  readonly messages: readonly number[];
  /** Milliseconds to wait before the first request of the wave. */
  readonly pauseMs?: number;
  /** Gap before each further request of the wave, as a share of the usual latency of its message. */
  readonly gapShare?: number;
  /** Destroys the connection at the first byte of the response. A later wave sends the message again. */
  readonly cut?: true;
  /** Kills the receiver with SIGKILL and starts it again. If there was no response, a later wave sends the message again. */
  readonly kill?: Kill;
}

/**
 * Moment of a kill. `during`: after this share of the message's latency, or with the response if that is earlier. `after`:
 * when the response has arrived.
 */
export type Kill =
  | { readonly when: 'during'; readonly share: number }
  | { readonly when: 'after' }
  /** Milliseconds from the request to the kill in an earlier run, so that shrinking repeats the exact time. */
  | { readonly when: 'at'; readonly ms: number };

/** Returns the message index of each request, in the order of the requests. */
export function scheduledRequests({ waves }: Pick<Schedule, 'waves'>): readonly number[] {
  return waves.flatMap(({ messages }) => messages);
}

/** Indexes of the messages of a schedule, in the order of their first requests. */
export function scheduledMessages(schedule: Pick<Schedule, 'waves'>): readonly number[] {
  return [...new Set(scheduledRequests(schedule))];
}
