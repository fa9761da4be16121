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
  /** Messages that got a 200, each once. */
  readonly taken: number;
  /** Further times that they were. */
  readonly duplicates: number;
  /** Requests whose signature is not that of the bytes that came. */
  readonly unsigned: number;
  /** Requests that repeat a message with other bytes. */
  readonly changed: number;
  /** Counts whatever was answered, before anything else comes of it. */
  readonly answers: Countdown;
}

/** What has come of one message. */
export interface Arrivals {
  readonly body: string;
  /** How often it came, and how often it got a 200. */
  readonly came: number;
  readonly taken: number;
}

/** What came so often is taken, or the waits before its last rounds would be long. */
const MAY_FAIL = 2;
/** Of n messages, n(1 + p + p²) requests come and n(p + p²) of them fail: one in three. */
const FAILS = 0.366;
/** Of the failures; the others are 503. */
const RESETS = 0.2;

/** What it never takes. */
export const REFUSED = 'Refused';

/** Fails one request in three: 503, or the connection is reset. It takes no message of the event REFUSED (400). */
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
