/** What `--only` and `--skip` name, in the order in which results are listed. */
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

/** What is sent, for people. */
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

/** One way to send the messages that must end in the state of the reference. */
export interface Schedule {
  readonly code: ScheduleCode;
  /** Counts from 1 within its code: with the code and the seed it names the schedule. */
  readonly number: number;
  /** Sent one after the other: a wave begins when every response to the one before it is in. */
  readonly waves: readonly Wave[];
}

export interface Wave {
  /** Places of messages, from 0. Several are sent at the same moment. */
  readonly messages: readonly number[];
  /** Ms to wait before the wave. */
  readonly pauseMs?: number;
  /** Each request after the first begins this share of its message's latency later than the one before it. */
  readonly gapShare?: number;
  /** Destroys the connection at the first byte of the response; a later wave sends the message again. */
  readonly cut?: true;
  /** Kills the receiver with SIGKILL and starts it again; a later wave sends the message again unless it got a response. */
  readonly kill?: Kill;
}

/** `share`: after this part of the message's latency, or as soon as it has responded. */
export type Kill =
  | { readonly when: 'during'; readonly share: number }
  | { readonly when: 'after' }
  /** What a schedule has after it ran: shrinking repeats the very time. */
  | { readonly when: 'at'; readonly ms: number };

export function requestCount({ waves }: Pick<Schedule, 'waves'>): number {
  return waves.reduce((sum, { messages }) => sum + messages.length, 0);
}

/** The messages that a schedule sends, in the order in which each is sent first. */
export function scheduledMessages({ waves }: Pick<Schedule, 'waves'>): readonly number[] {
  return [...new Set(waves.flatMap(({ messages }) => messages))];
}
