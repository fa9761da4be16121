import type { EncodedMessage, QueuedMessage, Receipt, Sink } from '../client/sink.ts';
import type { Engine, OutgoingMessage } from '../engine/engine.ts';
import { HooksError } from '../errors.ts';
import { encodeBody } from '../message/body.ts';
import type { Outcomes } from './outcomes.ts';
import type { UnsettledMessages } from './unsettled-messages.ts';

interface EngineSinkParts {
  readonly engine: Pick<Engine, 'submit'>;
  readonly source: string;
  readonly outcomes: Outcomes;
  /** Where what is accepted stays in memory until it is settled. @default the queue is durable: it takes no memory */
  readonly unsettled?: UnsettledMessages | undefined;
}

/** The client's sink over the engine in this process: a batch is taken when its deliveries are in the queue. */
export function createEngineSink(parts: EngineSinkParts): Sink {
  return {
    // The engine orders by order keys; batches need not wait for one another.
    maxInFlight: 8,
    encode,
    submit: (batch) => submit(batch, parts),
    ...(parts.unsettled !== undefined && onSettledOf(parts.unsettled)),
    close: async () => {},
  };
}

function onSettledOf(unsettled: UnsettledMessages): Pick<Sink, 'onSettled'> {
  return { onSettled: (listener) => unsettled.onSettled(listener) };
}

/** Written out once; every attempt at every webhook sends this. */
function encode(queued: QueuedMessage): EncodedMessage {
  // Field by field: V8 makes a new hidden class for every object that comes of a spread here, and a million of them.
  const { message, messageId, orderKeys, exactBody, isAwaited } = queued;
  const { type, integrations } = message;
  const text = exactBody === undefined ? encodeBody(message) : '';
  const bytes = exactBody?.byteLength ?? Buffer.byteLength(text);
  return { type, integrations, messageId, orderKeys, exactBody, isAwaited, text, bytes };
}

async function submit(
  batch: readonly EncodedMessage[],
  { engine, source, outcomes, unsettled }: EngineSinkParts,
): Promise<readonly Receipt[]> {
  try {
    const submitted = await outcomes.during(batch, () =>
      engine.submit(source, batch.map(toEntry), (routed) => unsettled?.routed(routed)),
    );
    return batch.map(({ messageId }, index) => ({
      accepted: true,
      messageId,
      deliveries: submitted[index]?.deliveries ?? [],
    }));
  } catch (error) {
    return batch.map(({ messageId }) => refused(messageId, error));
  }
}

function toEntry({
  type,
  integrations,
  messageId,
  orderKeys,
  exactBody,
  text,
}: EncodedMessage): OutgoingMessage {
  return { messageId, type, integrations, body: exactBody ?? Buffer.from(text), orderKeys };
}

function refused(messageId: string, error: unknown): Receipt {
  const code = error instanceof HooksError ? error.code.replace('ERR_HOOKS_', '').toLowerCase() : 'engine';
  return { accepted: false, messageId, code, reason: error instanceof Error ? error.message : String(error) };
}
