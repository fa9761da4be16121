import type { TrackCall } from '../../src/client/calls.ts';
import { createClient, type Client } from '../../src/client/client.ts';
import { resolveClientOptions, type ClientOptions } from '../../src/client/options.ts';
import type { Receipt, Sink } from '../../src/client/sink.ts';
import { FakeClock } from '../fake-clock.ts';
import { RecordingSink } from './recording-sink.ts';

/** A client on a clock of its own, over the sink that is given, else over one that takes everything. */
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

/** One track per id, in one turn. */
export function send(client: Client, ids: readonly string[]): Promise<readonly Receipt[]> {
  return Promise.all(ids.map((id) => client.track(track(id))));
}
