import { Analytics } from '@segment/analytics-node';
import { describe, expect, it } from 'vitest';
import { QueueError } from '../../src/errors.ts';
import { bodyOf, closeAfterEach, Gate, serving, sorted, until, WRITE_KEY, type Serving } from './serving.ts';

closeAfterEach();

/** The real client; only its host is changed. */
function client({ url }: Serving, options: { readonly flushAt: number }): Analytics {
  return new Analytics({ writeKey: WRITE_KEY, host: url, ...options });
}

describe('the unmodified @segment/analytics-node', () => {
  it('retries messages that could not be stored, and each is delivered once', async () => {
    let failures = 1;
    const serve = await serving({
      add: async (deliveries, queue) => {
        if (failures-- > 0) throw new QueueError('the disk is full');
        await queue.add(deliveries);
      },
    });
    const analytics = client(serve, { flushAt: 3 });
    for (const userId of ['a', 'b', 'c']) analytics.track({ userId, event: 'Signup' });
    await analytics.closeAndFlush();
    await until(() => serve.received.length >= 3, 'all calls');
    expect(failures).toBeLessThan(0);
    expect(sorted(serve.received, 'userId')).toEqual(['a', 'b', 'c']);
  });

  it('waits as long as Retry-After asks under overload', async () => {
    const gate = new Gate();
    const serve = await serving({
      limits: { bytesInFlight: 1_000, retryAfterSeconds: 1 },
      add: gate.add,
    });
    const analytics = client(serve, { flushAt: 1 });
    for (const userId of ['a', 'b', 'c', 'd']) analytics.track({ userId, event: 'Signup' });
    await until(() => serve.log.some(({ status }) => status === 429), 'a refusal');
    gate.open();
    await analytics.closeAndFlush();
    await until(() => serve.received.length >= 4, 'all calls');
    expect(new Set(serve.received.map((request) => bodyOf(request)['userId'])).size).toBe(4);
  });
});
