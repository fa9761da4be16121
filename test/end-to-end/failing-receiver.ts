import { onTestFinished } from 'vitest';
import { receiver, type ReceivedRequest } from '../raw-receiver.ts';
import { Countdown } from './countdown.ts';
import { SECRET } from './receiving.ts';
import { sign } from '../sign.ts';

export interface FailingReceiver {
  readonly url: string;
  /** By `messageId`. */
  readonly arrivals: ReadonlyMap<string, Arrivals>;
  readonly requests: number;
  readonly failed: number;
  /** Number of messages that got a 200. */
  readonly taken: number;
  /** Number of further 200s for the same messages. */
  readonly duplicates: number;
  /** Number of requests whose signature does not match their bytes. */
  readonly unsigned: number;
  /** Number of requests that repeat a message with other bytes. */
  readonly changed: number;
  /** Counts each response in the turn in which it is written. */
  readonly answers: Countdown;
}

/** The requests with one message. */
export interface Arrivals {
  readonly body: string;
  /** Number of requests. */
  readonly came: number;
  /** Number of 200s. */
  readonly taken: number;
}

/** Number of requests with one message that may fail. With more, the waits before its last rounds would be long. */
const MAY_FAIL = 2;
/** Probability of a failure. Of n messages, n(1 + p + p²) requests arrive and n(p + p²) fail: one in three. */
const FAILS = 0.366;
/** Share of the failures that reset the connection. The others are 503. */
const RESETS = 0.2;

/** The event of the messages that are always rejected. */
export const REFUSED = 'Refused';

/** Starts a receiver that fails one request in three (503 or reset), and rejects messages of the event REFUSED (400). */
export async function failingReceiver(random: () => number): Promise<FailingReceiver> {
  const arrivals = new Map<string, { body: string; came: number; taken: number }>();
  const answers = new Countdown();
  const counts = { requests: 0, failed: 0, taken: 0, duplicates: 0, unsigned: 0, changed: 0 };
  const failing = await receiver((socket, request) => {
    const body = request.body.toString();
    const { messageId, event } = JSON.parse(body) as { messageId: string; event?: string };
    const message = arrivals.get(messageId) ?? { body, came: 0, taken: 0 };
    arrivals.set(messageId, message);
    message.came++;
    counts.requests++;
    if (!isSigned(request)) counts.unsigned++;
    if (body !== message.body) counts.changed++;
    if (event === REFUSED) {
      socket.write(answer(400));
    } else if (message.came <= MAY_FAIL && random() < FAILS) {
      counts.failed++;
      if (random() < RESETS) socket.resetAndDestroy();
      else socket.write(answer(503));
    } else {
      if (message.taken++ === 0) counts.taken++;
      else counts.duplicates++;
      socket.write(answer(200));
    }
    answers.count();
  });
  onTestFinished(() => failing.close());
  return Object.assign(counts, { url: failing.url, arrivals, answers });
}

function isSigned({ head, body }: ReceivedRequest): boolean {
  const signature = head.find((line) => /^x-signature:/i.test(line))?.split(/: */)[1];
  return signature === sign(body, SECRET);
}

export function answer(status: number, headers = ''): string {
  return `HTTP/1.1 ${status} .\r\nContent-Length: 0\r\n${headers}\r\n`;
}
