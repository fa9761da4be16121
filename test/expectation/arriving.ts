import type {
  ArrivedMessage,
  MessageCheck,
  ExpectationResult,
} from '../../src/expectation/expectation-result.ts';
import { trackingCallOf } from '../../src/receiver/messages/tracking-call.ts';

/** The messages of a batch that arrives in one request. */
export function arriving(batch: readonly object[]): readonly ArrivedMessage[] {
  const body = Buffer.from(JSON.stringify({ batch }));
  const call = trackingCallOf({ method: 'POST', path: '/v1/batch', rawHeaders: [], body, at: 0 });
  const messages = call?.messages ?? [];
  return messages.map((message, index) => ({
    message,
    request: 1,
    isSole: messages.length === 1,
    number: index + 1,
  }));
}

export function judge(
  check: MessageCheck,
  batches: readonly (readonly object[])[],
): readonly ExpectationResult[] {
  let messages = 0;
  for (const batch of batches) {
    for (const arrived of arriving(batch)) {
      messages += 1;
      check.add(arrived);
    }
  }
  return check.results({ requests: batches.length, messages, uncountedMessages: 0 });
}
