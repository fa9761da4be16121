import { requestCount, scheduledMessages, type Schedule } from './schedule.ts';

/** What an explanation names of a schedule: messages that come again, the order of the first times, cut connections and kills. */
const FEATURES: readonly ((schedule: Schedule) => boolean)[] = [
  isInOrder,
  (schedule) => requestCount(schedule) > scheduledMessages(schedule).length,
  ({ waves }) => waves.some(({ messages }) => new Set(messages).size < messages.length),
  ({ waves }) => waves.some(({ cut }) => cut !== undefined),
  ({ waves }) => waves.some(({ kill }) => kill !== undefined),
  sendsAgain,
];

/**
 * Whether a smaller schedule has every feature of the whole one. Without one of them it may still end in another state, but for another
 * reason: two messages in another order show nothing about a message that comes again.
 */
export function keepsStory(whole: Schedule, smaller: Schedule): boolean {
  return FEATURES.every((has) => has(smaller) || !has(whole));
}

/** Whether the first times of the messages come in the order of the reference. */
function isInOrder(schedule: Schedule): boolean {
  const sent = scheduledMessages(schedule);
  return sent.every((message, at) => at === 0 || message > (sent[at - 1] ?? 0));
}

/** Whether each message whose connection is cut, or at which the receiver is killed, comes again later. */
function sendsAgain({ waves }: Schedule): boolean {
  return waves.every(
    ({ messages, cut, kill }, at) =>
      (cut === undefined && kill === undefined) ||
      messages.every((message) => waves.slice(at + 1).some((later) => later.messages.includes(message))),
  );
}
