import { createClient } from '../client/client.ts';
import type { ClientOptions } from '../client/options.ts';
import type { Receipt } from '../client/sink.ts';
import type { Clock } from '../clock.ts';
import { createEngine } from '../engine/engine.ts';
import type { Sources } from '../engine/options.ts';
import type { DurableQueue } from '../stores/open.ts';
import { createEngineSink } from './engine-sink.ts';
import { Outcomes, type Outcome } from './outcomes.ts';
import type { Pipeline } from './pipeline.ts';
import { createRecordingTransport } from './recording-transport.ts';
import { packageVersion } from './version.ts';

export interface QueueingOptions {
  readonly sources: Sources;
  /** The one whose calls the client makes. */
  readonly source: string;
  /** Closed with the pipeline. */
  readonly durable: DurableQueue;
  readonly clock: Clock;
  readonly client?: ClientOptions;
}

/** Client → engine → queue, and no further: another process delivers. Throws ConfigError for webhooks that could not be asked. */
export function createQueueingPipeline({
  sources,
  source,
  durable,
  clock,
  ...rest
}: QueueingOptions): Pipeline {
  const engine = createEngine({
    sources,
    queue: durable.queue,
    // Never asked: the engine is not started.
    transport: createRecordingTransport(() => {}),
    clock: durable.clock,
    userAgent: `hooks-cli/${packageVersion()}`,
  });
  const client = createClient({
    sink: createEngineSink({ engine, source, outcomes: new Outcomes() }),
    clock,
    ...rest.client,
  });
  const close = async (): Promise<void> => {
    await client.close();
    await engine.close();
    await durable.close();
  };
  return {
    client,
    deliver: (message) => client.enqueue(message).then(queuedOutcome),
    deliverThen: (message, onOutcome) =>
      client.enqueueThen(message, (receipt) => onOutcome(queuedOutcome(receipt))),
    interrupt: close,
    close,
  };
}

function queuedOutcome(receipt: Receipt): Outcome {
  const { messageId } = receipt;
  if (receipt.accepted) {
    const outcome = receipt.deliveries.length === 0 ? 'filtered' : 'queued';
    return { messageId, outcome, destinations: [] };
  }
  const { code, reason } = receipt;
  return { messageId, outcome: 'failed', destinations: [], refusal: { code, reason } };
}
