import { scheduledRequests, scheduledMessages, type Schedule } from './schedule.ts';

/** Features of a schedule that an explanation names: repeated messages, the order of first sends, cut connections, kills. */
const FEATURES: readonly ((schedule: Schedule) => boolean)[] = [
  isInOrder,
  (schedule) => scheduledRequests(schedule).length > scheduledMessages(schedule).length,
  ({ waves }) => waves.some(({ messages }) => new Set(messages).size < messages.length),
  ({ waves }) => waves.some(({ cut }) => cut !== undefined),
  ({ waves }) => waves.some(({ kill }) => kill !== undefined),
  sendsAgain,
];

/**
 * Whether a smaller schedule has every feature of the whole schedule. If a feature is missing, the smaller schedule can end
 * in a wrong state for another reason: two messages in another order show nothing about a repeated message.
 */
export function keepsStory(whole: Schedule, smaller: Schedule): boolean {
  return FEATURES.every((has) => has(smaller) || !has(whole));
}

/** Whether the messages are first sent in the order of the reference run. */
function isInOrder(schedule: Schedule): boolean {
  const sent = scheduledMessages(schedule);
  return sent.every((message, at) => at === 0 || message > (sent[at - 1] ?? 0));
}

/** Whether each message with a cut connection or a kill is sent again later. */
function sendsAgain({ waves }: Schedule): boolean {
  return waves.every(
    ({ messages, cut, kill }, at) =>
      (cut === undefined && kill === undefined) ||
      messages.every((message) => waves.slice(at + 1).some((later) => later.messages.includes(message))),
  );
}
