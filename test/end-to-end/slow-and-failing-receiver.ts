import type { Socket } from 'node:net';
import { onTestFinished } from 'vitest';
import { receiver } from '../raw-receiver.ts';
import { answer, REFUSED } from './failing-receiver.ts';

export interface SlowAndFailingReceiver {
  readonly url: string;
  /** Number of requests with each message, by its id. */
  readonly requests: ReadonlyMap<string, number>;
  /** Number of requests. */
  readonly count: number;
  /** Number of requests that wait for a response. */
  readonly held: number;
  /** Accepts all further requests immediately. */
  recover(): void;
}

/** Number of failures after which a message is accepted. */
const MOST_FAILURES = 2;

/**
 * Starts a receiver that responds immediately, late, with 503, or never, at random, and rejects messages of the event
 * REFUSED (400). `longestMs` limits the delay of a late response.
 */
export async function slowAndFailingReceiver(
  random: () => number,
  longestMs: number,
): Promise<SlowAndFailingReceiver> {
  const requests = new Map<string, number>();
  const state = { count: 0, held: 0, isWell: false };
  const hold = (socket: Socket, answerLater: (() => void) | undefined): void => {
    state.held++;
    const timer = answerLater && setTimeout(answerLater, random() * longestMs);
    const over = (): void => {
      state.held--;
      clearTimeout(timer);
      socket.off('close', over).off('data', over);
    };
    // Data on the connection means that the request got its response: the next one is sent after it.
    socket.on('close', over).on('data', over);
  };
  const slow = await receiver((socket, { body }) => {
    const { messageId, event } = JSON.parse(body.toString()) as { messageId: string; event?: string };
    const before = requests.get(messageId) ?? 0;
    requests.set(messageId, before + 1);
    state.count++;
    const take = (): void => void socket.write(answer(event === REFUSED ? 400 : 200));
    const chance = state.isWell || before >= MOST_FAILURES ? 1 : random();
    if (chance < 0.1) hold(socket, undefined);
    else if (chance < 0.4) hold(socket, take);
    else if (chance < 0.6) socket.write(answer(503));
    else take();
  });
  onTestFinished(() => slow.close());
  return Object.assign(state, {
    url: slow.url,
    requests,
    recover: () => {
      state.isWell = true;
    },
  });
}
