import { printable } from '../redact.ts';
import {
  matchMessages,
  type ArrivedMessage,
  type DifferingMessage,
  type ExpectedMessage,
} from '../expectation/expectation.ts';
import { messageLabel } from '../receiver/messages/messages-of.ts';

interface WantedMessages extends ExpectedMessage {
  /** Number of messages that are expected. @default at least one */
  readonly wanted?: number;
  /** The time limit for the messages in words, such as `within 5s`. */
  readonly within?: string;
}

/** Describes the expected messages, the number of matches, and the differences of the nearest message. */
export function explainMessages(arrived: readonly ArrivedMessage[], matcher: WantedMessages): string {
  const { text, exactly, wanted = exactly ?? 1, within } = matcher;
  const { taken, nearest } = matchMessages(arrived, matcher.conditions);
  const count = taken.length;
  const expected = `Expected ${exactly === undefined ? '' : 'exactly '}${countText(wanted)} with ${printable(text.replace(/^\d+x /, ''), 200)}`;
  const came = arrived.length === 0 ? 'no message' : `${count} of ${countText(arrived.length)}`;
  const head = `${[expected, within].filter(Boolean).join(' ')}, got ${came}`;
  if (count > wanted) return [head, ...listMessages(taken)].join('\n');
  const differing = nearest();
  const isShort = differing !== undefined && count < wanted;
  return [head, ...(isShort ? differingMessageText(differing, 'comes nearest') : [])].join('\n');
}

function countText(messages: number): string {
  return `${messages} message${messages === 1 ? '' : 's'}`;
}

export function differingMessageText({ label, differences }: DifferingMessage, comes: string): string[] {
  return [
    `${printable(label, 200)} ${comes}:`,
    ...differences.map(
      ({ path, expected, got }) =>
        `  ${printable(path, 120)}: expected ${printable(expected, 120)}, got ${printable(got, 200)}`,
    ),
  ];
}

/** Lists the received messages, one per line, at most 20. */
export function listMessages(arrived: readonly ArrivedMessage[]): string[] {
  const shown = arrived
    .slice(0, 20)
    .map(({ message, number }) => `  ${number}. ${printable(messageLabel(message), 200)}`);
  return arrived.length > shown.length ? [...shown, `  and ${arrived.length - shown.length} more`] : shown;
}
