import { Analytics } from '@segment/analytics-node';
import { describe, expect, it } from 'vitest';
import { QueueError } from '../../src/errors.ts';
import { readJson } from '../../src/message/json.ts';
import { buildMessage } from '../../src/message/build.ts';
import { bodyOf, closeAfterEach, Gate, serving, sorted, until, WRITE_KEY, type Serving } from './serving.ts';

closeAfterEach();

const CALLS = 504;

/** The real client, with nothing but its host changed. */
function client({ url }: Serving, options: { readonly flushAt?: number } = {}): Analytics {
  return new Analytics({ writeKey: WRITE_KEY, host: url, ...options });
}

function call(analytics: Analytics, index: number): string {
  const userId = `user-${index}`;
  switch (index % 6) {
    case 0:
      analytics.identify({ userId, traits: { plan: 'pro', née: 'Zoë 😀' } });
      return 'identify';
    case 1:
      analytics.track({ userId, event: 'Order Completed', properties: { total: 19.99, lines: [1, 2] } });
      return 'track';
    case 2:
      analytics.page({ userId, name: 'Home', category: 'Docs', properties: { path: '/' } });
      return 'page';
    case 3:
      analytics.screen({ userId, name: 'Settings', properties: { dark: true } });
      return 'screen';
    case 4:
      analytics.group({ userId, groupId: 'acme', traits: { seats: 12 } });
      return 'group';
    default:
      analytics.alias({ userId, previousId: `anonymous-${index}` });
      return 'alias';
  }
}

describe('the unmodified @segment/analytics-node', () => {
  it('has calls of all its types delivered, each once, signed and valid', async () => {
    const serve = await serving();
    const analytics = client(serve);
    const failures: unknown[] = [];
    analytics.on('error', (error) => failures.push(error));
    const types = Array.from({ length: CALLS }, (_, index) => call(analytics, index));
    await analytics.closeAndFlush();
    await until(() => serve.received.length >= CALLS, 'all calls');
    expect(failures).toEqual([]);
    expect(serve.received.map(({ verdict }) => verdict)).toEqual(types.map(() => 'valid'));
    const bodies = serve.received.map(bodyOf);
    expect(sorted(serve.received, 'type')).toEqual(types.toSorted());
    expect(new Set(bodies.map(({ messageId }) => messageId)).size).toBe(CALLS);
    for (const { body } of serve.received) {
      expect(() => buildMessage(readJson(body), { now: 0 })).not.toThrow();
    }
  });

  it('sends again what could not be stored, and has it delivered once', async () => {
    let failures = 1;
    const serve = await serving({
      add: async (deliveries, queue) => {
        if (failures-- > 0) throw new QueueError('the disk is full');
        await queue.add(deliveries);
      },
    });
    const analytics = client(serve, { flushAt: 3 });
    for (const index of [1, 7, 13]) call(analytics, index);
    await analytics.closeAndFlush();
    await until(() => serve.received.length >= 3, 'all calls');
    expect(failures).toBeLessThan(0);
    expect(sorted(serve.received, 'userId')).toEqual(['user-1', 'user-13', 'user-7']);
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
    for (const index of [1, 7, 13, 19]) call(analytics, index);
    await until(() => serve.log.some(({ status }) => status === 429), 'a refusal');
    gate.open();
    await analytics.closeAndFlush();
    await until(() => serve.received.length >= 4, 'all calls');
    expect(new Set(serve.received.map((request) => bodyOf(request)['userId'])).size).toBe(4);
  });
});
