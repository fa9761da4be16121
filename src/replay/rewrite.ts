import { readTimestamp } from '../message/timestamp.ts';
import type { JsonObject } from '../message/types.ts';
import { isoTime } from '../clock.ts';

export interface RewriteOptions {
  /** `now`: sets each timestamp to the current time. `shift`: moves the first timestamp to now, and keeps the gaps. */
  readonly timestamps: 'keep' | 'now' | 'shift';
  /** `new`: replaces each `messageId`, but does not add one to a message without it. */
  readonly messageIds: 'keep' | 'new';
  /** Returns the current time, in ms since the epoch. */
  readonly now: () => number;
  readonly newId: () => string;
}

export type Rewrite = (message: JsonObject) => JsonObject;

/**
 * Returns the function that changes each parsed message before validation. It keeps the order of the fields. Only
 * `timestamps: 'now'` can add a field: a missing timestamp. `shift` keeps unreadable timestamps, which validation rejects.
 */
export function createRewrite({ timestamps, messageIds, now, newId }: RewriteOptions): Rewrite {
  const steps: Rewrite[] = [];
  if (timestamps === 'now') {
    steps.push((message) => ({ ...message, timestamp: isoTime(now()) }));
  }
  if (timestamps === 'shift') steps.push(createShift(now));
  if (messageIds === 'new') {
    steps.push((message) =>
      message['messageId'] === undefined ? message : { ...message, messageId: newId() },
    );
  }
  return (message) => steps.reduce((changed, step) => step(changed), message);
}

function createShift(now: () => number): Rewrite {
  let offsetMs: number | undefined;
  return (message) => {
    const recordedAt = recordedAtOf(message);
    if (recordedAt === undefined) return message;
    offsetMs ??= Math.round(now()) - recordedAt;
    return { ...message, timestamp: isoTime(recordedAt + offsetMs) };
  };
}

/** Returns the timestamp of a message in ms since the epoch; undefined if it is missing or unreadable. */
export function recordedAtOf({ timestamp }: JsonObject): number | undefined {
  if (timestamp === undefined) return undefined;
  const reading = readTimestamp(timestamp);
  return reading.ok ? Date.parse(reading.iso) : undefined;
}
