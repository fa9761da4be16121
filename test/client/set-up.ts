import type { TrackCall } from '../../src/client/calls.ts';
import { createClient, type Client } from '../../src/client/client.ts';
import { resolveClientOptions, type ClientOptions } from '../../src/client/options.ts';
import type { Receipt, Sink } from '../../src/client/sink.ts';
import { FakeClock } from '../fake-clock.ts';
import { RecordingSink } from './recording-sink.ts';

/** Creates a client with its own clock over `sink`, by default a RecordingSink. */
export function setUp<Used extends Sink = RecordingSink>(options: ClientOptions = {}, sink?: Used) {
  const clock = new FakeClock();
  const used = sink ?? new RecordingSink();
  const client = createClient({ sink: used, clock, options: resolveClientOptions(options) });
  // Either what the test handed in, or the default of its type.
  return { client, sink: used as Used, clock };
}

export function track(messageId: string): TrackCall {
  return { userId: 'u', event: 'e', messageId };
}

/** Sends one track per id, all in one turn of the event loop. */
export function send(client: Client, ids: readonly string[]): Promise<readonly Receipt[]> {
  return Promise.all(ids.map((id) => client.track(track(id))));
}
