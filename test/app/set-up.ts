import { onTestFinished } from 'vitest';
import { orderKeysOf } from '../../src/message/outgoing-message.ts';
import { buildMessage } from '../../src/message/build.ts';
import { DELIVERY_DEFAULTS, type DestinationOptions, type Sources } from '../../src/engine/options.ts';
import type { Outcome } from '../../src/app/pipeline/outcomes.ts';
import type { DeliveryPipelineOptions } from '../../src/app/pipeline/options.ts';
import { createDeliveryPipeline } from '../../src/app/pipeline/delivery-pipeline.ts';
import type { Pipeline } from '../../src/app/pipeline/pipeline.ts';
import type { Transport, TransportRequest, TransportResult } from '../../src/transport/transport.ts';
import { FakeClock } from '../fake-clock.ts';

export const A = 'http://a.example/hook';
export const B = 'http://b.example/hook';

/** Returns the result of a request; `turn` is the number of earlier requests to its URL. */
export type Receiver = (
  request: TransportRequest,
  turn: number,
) => TransportResult | Promise<TransportResult>;

export interface FakeTransport extends Transport {
  readonly requests: readonly TransportRequest[];
  readonly isClosed: () => boolean;
}

export function fakeTransport(receiver: Receiver): FakeTransport {
  const requests: TransportRequest[] = [];
  let closed = false;
  return {
    requests,
    isClosed: () => closed,
    send: async (request) => {
      const turn = requests.filter(({ url }) => url === request.url).length;
      requests.push(request);
      return receiver(request, turn);
    },
    close: () => {
      closed = true;
      return Promise.resolve();
    },
  };
}

/** A source named `default` with these destinations, each a URL or partial options. */
export function sourceWith(
  destinations: Readonly<Record<string, string | (Partial<DestinationOptions> & { readonly url: string })>>,
): Sources {
  const entries = Object.entries(destinations).map(([name, each]) => {
    const { url, ...options } = typeof each === 'string' ? { url: each } : each;
    return [
      name,
      {
        enabled: true,
        sharedSecrets: [],
        webhooks: [{ url, headers: {} }],
        delivery: DELIVERY_DEFAULTS,
        ...options,
      },
    ] as const;
  });
  return { default: { destinations: Object.fromEntries(entries) } };
}

export interface SetUp {
  readonly pipeline: Pipeline;
  readonly transport: FakeTransport;
  readonly clock: FakeClock;
  /** Delivers a track with this id, like `send` and `replay`, and flushes at once. */
  readonly send: (id: string, fields?: object) => Promise<Outcome>;
}

type Options = Partial<DeliveryPipelineOptions> & { readonly sources?: Sources };

/** Creates a pipeline over a fake transport and a fake clock. */
export function setUp(
  receiver: Receiver,
  { sources = sourceWith({ Webhooks: A }), ...options }: Options = {},
): SetUp {
  const clock = new FakeClock();
  const transport = fakeTransport(receiver);
  const pipeline = createDeliveryPipeline({ ...options, sources, transport, clock, random: () => 0 });
  onTestFinished(() => pipeline.interrupt(0));
  return { pipeline, transport, clock, send: (id, fields) => deliver(pipeline, id, fields) };
}

export function deliver(pipeline: Pipeline, messageId: string, fields: object = {}): Promise<Outcome> {
  const message = buildMessage({ type: 'track', event: 'E', userId: 'u', messageId, ...fields }, { now: 0 });
  const outcome = pipeline.deliver({ message, orderKeys: orderKeysOf(message) });
  void pipeline.client.flush();
  return outcome;
}

/** Whether a promise is still pending after three turns of the event loop. */
export async function isPending(promise: Promise<unknown>): Promise<boolean> {
  const pending = Symbol('pending');
  for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve));
  return (await Promise.race([promise, Promise.resolve(pending)])) === pending;
}
