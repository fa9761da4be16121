import type { EnqueueOptions, Receipt, Sink } from '../../client/sink.ts';
import type { Router } from '../../engine/router.ts';
import { HooksError, messageOf } from '../../errors.ts';
import { encodeBody, type OutgoingMessage } from '../../message/outgoing-message.ts';
import { givenTraceContext } from '../../message/trace-context.ts';
import type { Outcomes, TrackedMessage } from './outcomes.ts';

/** Creates the client's sink over the router. It accepts a batch when the batch's deliveries are in the queue. */
export function createRouterSink(parts: RouterSinkParts): Sink {
  const { outcomes } = parts;
  return {
    // The sink may submit batches in parallel, because the queue keeps the order of messages with equal order keys.
    maxInFlight: 8,
    encode,
    submit: (batch) => submit(batch, parts),
    ...(outcomes?.followsAll && { onSettled: (listener) => outcomes.onSettled(listener) }),
    close: async () => {},
  };
}

interface RouterSinkParts {
  readonly router: Pick<Router, 'submit'>;
  readonly source: string;
  /** Follows the deliveries of messages. @default outcomes are unknown, because another process delivers */
  readonly outcomes?: Outcomes | undefined;
}

/** Serializes a message once; every attempt at every webhook sends these bytes. */
function encode(
  { message, orderKeys = NO_KEYS, exactBody, deliveryId, traceparent, tracestate }: EnqueueOptions,
  messageId: string,
): OutgoingMessage {
  // Assigned field by field: with a spread V8 would create a new hidden class for each of a million objects.
  const { type, integrations } = message;
  const body = exactBody ?? Buffer.from(encodeBody(message));
  const trace = givenTraceContext({ traceparent, tracestate });
  return { messageId, type, integrations, body, orderKeys, deliveryId, trace };
}

const NO_KEYS: readonly string[] = [];

async function submit(
  batch: readonly OutgoingMessage[],
  { router, source, outcomes }: RouterSinkParts,
): Promise<readonly Receipt[]> {
  let tracked: readonly TrackedMessage[] = [];
  try {
    const routed = await router.submit(source, batch, (messages) => {
      if (outcomes !== undefined) tracked = outcomes.routed(messages);
    });
    return batch.map(({ messageId }, index) => ({
      accepted: true,
      messageId,
      deliveries: routed[index]?.deliveries ?? [],
    }));
  } catch (error) {
    return batch.map(({ messageId }) => rejectedReceipt(messageId, error));
  } finally {
    // Callers get their receipts and subscribe in the turn in which the promise of `submit` resolves, so `release` must run
    // a turn later.
    if (outcomes !== undefined) setImmediate(() => outcomes.release(tracked));
  }
}

function rejectedReceipt(messageId: string, error: unknown): Receipt {
  const code = error instanceof HooksError ? error.code.replace('ERR_HOOKS_', '').toLowerCase() : 'engine';
  return { accepted: false, messageId, code, reason: messageOf(error) };
}
