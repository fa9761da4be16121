import type { ArrivedMessage, MessageCheck, ExpectationResult } from '../../src/expectation/finding.ts';
import { trackingCallOf } from '../../src/receiver/messages/tracking-call.ts';

/** The messages of one batch, as they arrive. */
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
  return check.findings({ requests: batches.length, messages, refusedMessages: 0 });
}
