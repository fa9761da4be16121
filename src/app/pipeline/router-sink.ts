import type { EnqueueOptions, Receipt, Sink } from '../../client/sink.ts';
import type { Router } from '../../engine/router.ts';
import { HooksError, messageOf } from '../../errors.ts';
import { encodeBody, type OutgoingMessage } from '../../message/outgoing-message.ts';
import { givenTraceContext } from '../../message/trace-context.ts';
import type { Outcomes, TrackedMessage } from './outcomes.ts';

/** The client's sink over the router: a batch is accepted when its deliveries are in the queue. */
export function createRouterSink(parts: RouterSinkParts): Sink {
  return {
    // The queue orders by order keys; batches need not wait for one another.
    maxInFlight: 8,
    encode,
    submit: (batch) => submit(batch, parts),
    ...(parts.boundsMemory && parts.outcomes !== undefined && onSettledOf(parts.outcomes)),
    close: async () => {},
  };
}

interface RouterSinkParts {
  readonly router: Pick<Router, 'submit'>;
  readonly source: string;
  /** Follows the deliveries of awaited messages. @default another process delivers, and no outcome is known here */
  readonly outcomes?: Outcomes | undefined;
  /** Whether messages stay in memory until they are settled. @default the queue is durable */
  readonly boundsMemory?: boolean | undefined;
}

function onSettledOf(outcomes: Outcomes): Pick<Sink, 'onSettled'> {
  return { onSettled: (listener) => outcomes.onSettled(listener) };
}

/** Written out once; every attempt at every webhook sends this. */
function encode(
  { message, orderKeys = NO_KEYS, exactBody, deliveryId, traceparent, tracestate }: EnqueueOptions,
  messageId: string,
): OutgoingMessage {
  // Field by field: V8 makes a new hidden class for every object that comes of a spread here, and a million of them.
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
    // The receipts are handed out in the turn in which this resolves; a caller that awaits an outcome subscribes in it.
    if (outcomes !== undefined) setImmediate(() => outcomes.release(tracked));
  }
}

function rejectedReceipt(messageId: string, error: unknown): Receipt {
  const code = error instanceof HooksError ? error.code.replace('ERR_HOOKS_', '').toLowerCase() : 'engine';
  return { accepted: false, messageId, code, reason: messageOf(error) };
}
