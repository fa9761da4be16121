import type { EnqueueOptions, Receipt, Sink } from '../../client/sink.ts';
import type { RoutedMessage, Router } from '../../engine/router.ts';
import { HooksError, messageOf } from '../../errors.ts';
import { encodeBody, type OutgoingMessage } from '../../message/outgoing-message.ts';
import type { Outcomes } from './outcomes.ts';
import type { UnsettledMessages } from './unsettled-messages.ts';

/** The client's sink over the router: a batch is accepted when its deliveries are in the queue. */
export function createRouterSink(parts: RouterSinkParts): Sink {
  return {
    // The queue orders by order keys; batches need not wait for one another.
    maxInFlight: 8,
    encode,
    submit: (batch) => submit(batch, parts),
    ...(parts.unsettled !== undefined && onSettledOf(parts.unsettled)),
    close: async () => {},
  };
}

interface RouterSinkParts {
  readonly router: Pick<Router, 'submit'>;
  readonly source: string;
  /** Follows the deliveries of awaited messages. @default another process delivers, and no outcome is known here */
  readonly outcomes?: Outcomes | undefined;
  /** Follows the messages that stay in memory until they are settled. @default the queue is durable: they take no memory */
  readonly unsettled?: UnsettledMessages | undefined;
}

function onSettledOf(unsettled: UnsettledMessages): Pick<Sink, 'onSettled'> {
  return { onSettled: (listener) => unsettled.onSettled(listener) };
}

/** Written out once; every attempt at every webhook sends this. */
function encode(
  { message, orderKeys = NO_KEYS, exactBody }: EnqueueOptions,
  messageId: string,
): OutgoingMessage {
  // Field by field: V8 makes a new hidden class for every object that comes of a spread here, and a million of them.
  const { type, integrations } = message;
  const body = exactBody ?? Buffer.from(encodeBody(message));
  return { messageId, type, integrations, body, orderKeys };
}

const NO_KEYS: readonly string[] = [];

async function submit(
  batch: readonly OutgoingMessage[],
  { router, source, outcomes, unsettled }: RouterSinkParts,
): Promise<readonly Receipt[]> {
  const route = (): Promise<readonly RoutedMessage[]> =>
    router.submit(source, batch, (routed) => unsettled?.routed(routed));
  try {
    const submitted = await (outcomes === undefined ? route() : outcomes.keepEarly(route));
    return batch.map(({ messageId }, index) => ({
      accepted: true,
      messageId,
      deliveries: submitted[index]?.deliveries ?? [],
    }));
  } catch (error) {
    return batch.map(({ messageId }) => rejectedReceipt(messageId, error));
  }
}

function rejectedReceipt(messageId: string, error: unknown): Receipt {
  const code = error instanceof HooksError ? error.code.replace('ERR_HOOKS_', '').toLowerCase() : 'engine';
  return { accepted: false, messageId, code, reason: messageOf(error) };
}
