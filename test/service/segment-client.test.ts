import { Analytics } from '@segment/analytics-node';
import { describe, expect, it } from 'vitest';
import { QueueError } from '../../src/errors.ts';
import { bodyOf, closeAfterEach, Gate, serving, sorted, until, WRITE_KEY, type Serving } from './serving.ts';

closeAfterEach();

/** The real client, with nothing but its host changed. */
function client({ url }: Serving, options: { readonly flushAt: number }): Analytics {
  return new Analytics({ writeKey: WRITE_KEY, host: url, ...options });
}

describe('the unmodified @segment/analytics-node', () => {
  it('sends again what could not be stored, and has it delivered once', async () => {
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

  it('waits as long as it is told when too much comes in', async () => {
    const gate = new Gate();
    const serve = await serving({
      limits: { bytesInFlight: 1_000, retryAfterSeconds: 1 },
      add: async (deliveries, queue) => {
        await gate.opened;
        await queue.add(deliveries);
      },
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
