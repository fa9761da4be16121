import { expect, onTestFinished } from 'vitest';
import { createClient, type Client } from '../../src/client/client.ts';
import { resolveClientOptions, type ClientOptions } from '../../src/client/options.ts';
import type { Receipt } from '../../src/client/sink.ts';
import type { TrackingApiSinkOptions } from '../../src/client/tracking-api-options.ts';
import { TrackingApiSink } from '../../src/client/tracking-api-sink.ts';
import { createUndiciTransport } from '../../src/transport/undici-transport.ts';
import { BatchReceiver } from './batch-receiver.ts';
import { HurriedClock } from './hurried-clock.ts';

export const anyNumber = expect.any(Number) as number;

/** Starts a tracking API for one test, with functions that create its clients. Closes all of them after the test. */
export async function trackingApi() {
  const receiver = await BatchReceiver.start();
  const clock = new HurriedClock();
  onTestFinished(() => receiver.close());

  const sinkOptions = (given: Partial<TrackingApiSinkOptions> = {}): TrackingApiSinkOptions => ({
    endpoint: receiver.url,
    writeKey: 'w-key',
    version: '1.2.3',
    timeoutMs: 5_000,
    transport: createUndiciTransport(),
    clock,
    random: () => 0.5,
    ...given,
  });
  const setUp = (options: ClientOptions = {}, given: Partial<TrackingApiSinkOptions> = {}): Client => {
    const client = createClient({
      sink: new TrackingApiSink(sinkOptions(given)),
      clock,
      options: resolveClientOptions({ flushAt: 1, ...options }),
    });
    onTestFinished(() => client.close());
    return client;
  };
  /** The receipt of one message, which is a batch by itself. */
  const trackOne = (given?: Partial<TrackingApiSinkOptions>): Promise<Receipt> =>
    setUp({}, given).track({ userId: 'u', event: 'e' });
  return { receiver, clock, sinkOptions, setUp, trackOne };
}

export function tracks(client: Client, count: number): Promise<readonly Receipt[]> {
  return Promise.all(
    Array.from({ length: count }, (_, index) =>
      client.track({ userId: 'u', event: 'e', messageId: `m${index}` }),
    ),
  );
}
