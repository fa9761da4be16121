import { buildMessage } from '../message/build.ts';
import { encodeBody } from '../message/outgoing-message.ts';
import type { JsonObject, JsonValue, Message } from '../message/types.ts';
import { SeededRandom } from './plan/seeded-random.ts';
import type { ProofMessage } from './subject.ts';

export interface ProofMessageOptions {
  /** Timestamp, in ms since the epoch, of the first message without one. Each further message is one second later. */
  readonly now: number;
  readonly seed: number;
}

const [USER, OTHER_USER] = ['hooks-test-user', 'hooks-test-user-2'];

/**
 * A message of each type, and a second identify and track of the same user: only these show a receiver that replaces a newer
 * value by an older one. The messages belong to several users, so that they can be interleaved.
 */
const SAMPLES: readonly JsonObject[] = [
  { type: 'identify', userId: USER, traits: { email: 'hooks-test@example.com', plan: 'free', logins: 5 } },
  { type: 'page', userId: USER, properties: { title: 'Hooks Test', url: 'https://example.com/hooks-test' } },
  {
    type: 'track',
    userId: USER,
    event: 'Hooks Test',
    properties: { orderId: 'hooks-test-1', revenue: 27.5, currency: 'EUR' },
  },
  { type: 'screen', anonymousId: 'hooks-test-visitor', name: 'Hooks Test' },
  {
    type: 'group',
    groupId: 'hooks-test-group',
    userId: OTHER_USER,
    traits: { name: 'Hooks Test Inc.', employees: 12 },
  },
  { type: 'identify', userId: USER, traits: { email: 'hooks-test@example.com', plan: 'pro', logins: 6 } },
  {
    type: 'track',
    userId: USER,
    event: 'Hooks Test',
    properties: { orderId: 'hooks-test-2', revenue: 99, currency: 'EUR' },
  },
  { type: 'alias', previousId: 'hooks-test-anonymous', userId: USER },
  { type: 'delete', userId: OTHER_USER },
];

export function sampleMessages(options: ProofMessageOptions): readonly ProofMessage[] {
  return proofMessages(SAMPLES, options);
}

/**
 * Builds messages with the ids, timestamps and bodies that every attempt repeats. Throws ValidationError if a message is
 * invalid.
 */
export function proofMessages(
  inputs: readonly JsonValue[],
  { now, seed }: ProofMessageOptions,
): readonly ProofMessage[] {
  const labels = new Map<string, number>();
  return inputs.map((input, place) => {
    // Timestamps differ, so that a receiver that compares them never has a tie.
    const message = buildMessage(input, { now: now + place * 1_000 });
    const count = (labels.get(message.type) ?? 0) + 1;
    labels.set(message.type, count);
    const label = count === 1 ? message.type : `${message.type} ${count}`;
    return proofMessage(message, { label, messageId: message.messageId ?? messageIdOf(seed, place) });
  });
}

/** Encodes a message after replacing its `messageId` with the given one. */
export function proofMessage(
  given: Message,
  { label, messageId }: Pick<ProofMessage, 'label' | 'messageId'>,
): ProofMessage {
  const message: Message = { ...given, messageId };
  return { label, messageId, message, body: Buffer.from(encodeBody(message)) };
}

/** Makes a message id as long as the ids of Segment's libraries. */
function messageIdOf(seed: number, place: number): string {
  const random = new SeededRandom(`${seed} message id ${place}`);
  const hex = (length: number): string =>
    Array.from({ length }, () => random.below(16).toString(16)).join('');
  return `hooks-test-${hex(8)}-${hex(4)}-4${hex(3)}-8${hex(3)}-${hex(12)}`;
}
