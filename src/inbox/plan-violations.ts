import type { JsonValue } from '../message/types.ts';
import { messageLabel } from '../receiver/messages/messages-of.ts';
import type { ReceivedMessage } from '../receiver/messages/tracking-call.ts';

/** Finds what a message violates in the tracking plan, as sentences. The inbox does not know plans: its caller passes this in. */
export type DescribeViolations = (message: JsonValue) => readonly string[];

/** Maximum number of violations that an opened request lists. */
const MOST_LISTED = 100;

/** Lists what the messages of a request violate. Not escaped. */
export function listViolations(
  messages: readonly ReceivedMessage[],
  violations: DescribeViolations,
): readonly string[] {
  const all = messages.flatMap((message) => {
    const label = messages.length === 1 ? '' : `${message.index + 1}. ${messageLabel(message)}: `;
    return violations(message.value).map((sentence) => label + sentence);
  });
  const more = all.length - MOST_LISTED;
  return more > 0 ? [...all.slice(0, MOST_LISTED), `${more} more violations`] : all;
}
