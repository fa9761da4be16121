import { describe, expect, it } from 'vitest';
import { DELIVERY_DEFAULTS, type DestinationOptions, type Sources } from '../../src/engine/options.ts';
import { A, after, answer, B, BODY, startHarness, failure, type Harness, type Receiver } from './harness.ts';

const MESSAGES = 2_000;

const destination = (url: string): DestinationOptions => ({
  enabled: true,
  sharedSecrets: [],
  webhooks: [{ url, headers: {} }],
  delivery: DELIVERY_DEFAULTS,
});

const ALONE: Sources = { web: { destinations: { Healthy: destination(A) } } };
const BESIDE: Sources = { web: { destinations: { Dead: destination(B), Healthy: destination(A) } } };

/** Milliseconds in which 99 of 100 deliveries to the healthy destination end, from submit() to the response. */
async function p99(sources: Sources, dead: (harness: Harness) => Receiver): Promise<number> {
  const calledAt = new Map<string, number>();
  const took: number[] = [];
  const harness: Harness = startHarness(
    (request, turn) =>
      request.url === A ? after(harness.clock, 10, request, answer(200)) : dead(harness)(request, turn),
    {
      sources,
      onEvent: (event) => {
        if (event.kind !== 'settled' || event.delivery.destination !== 'Healthy') return;
        took.push(harness.clock.now() - (calledAt.get(event.delivery.messageId) ?? Number.NaN));
      },
    },
  );
  for (let message = 0; message < MESSAGES; message++) {
    const messageId = `m${message}`;
    calledAt.set(messageId, harness.clock.now());
    await harness.engine.submit('web', [{ messageId, type: 'track', body: BODY, orderKeys: [] }]);
    await harness.clock.advance(5);
  }
  await harness.clock.advance(1_000);
  await harness.engine.abort();
  expect(took).toHaveLength(MESSAGES);
  return took.toSorted((a, b) => a - b)[MESSAGES * 0.99] ?? Number.NaN;
}

describe('a healthy destination', () => {
  it.each<[string, (harness: Harness) => Receiver]>([
    [
      'never responds',
      ({ clock }) =>
        (request) =>
          after(clock, 5_000, request, failure('timeout')),
    ],
    ['refuses connections', () => () => failure('refused')],
    ['responds with 503', () => () => answer(503)],
  ])('is as fast beside one that %s as alone', async (_, dead) => {
    expect(await p99(BESIDE, dead)).toBe(await p99(ALONE, dead));
  });

  it('is attempted as often while another destination is slowed', async () => {
    const harness = startHarness(({ url }) => (url === A ? answer(200) : failure('refused')), {
      sources: BESIDE,
    });
    for (let message = 0; message < 500; message++) await harness.send();
    await harness.clock.advance(1_000);
    expect(harness.requests.filter(({ url }) => url === A)).toHaveLength(500);
    expect(harness.requests.filter(({ url }) => url === B).length).toBeLessThan(100);
  });
});
