import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Receipt } from '../../../src/client/sink.ts';
import { RecordingSink } from '../recording-sink.ts';
import { setUp } from '../set-up.ts';

const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('call' as const), characters: fc.nat(15_000) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('release' as const), nth: fc.nat(3) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('time' as const), ms: fc.nat(200) }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'flush' as const }) },
);

const settings = fc.record({
  flushAt: fc.integer({ min: 1, max: 60 }),
  maxQueued: fc.integer({ min: 1, max: 80 }),
  maxInFlight: fc.integer({ min: 1, max: 4 }),
});

describe('for random steps', () => {
  it('every message is sent once, in the order of the calls, in batches within the limits, and gets its receipt', async () => {
    await fc.assert(
      fc.asyncProperty(
        settings,
        fc.array(step, { maxLength: 120 }),
        async ({ maxInFlight, ...options }, steps) => {
          const sink = new RecordingSink({ hold: true, maxInFlight });
          const { client, clock } = setUp({ ...options, flushAfterMs: 100 }, sink);
          const receipts: Promise<Receipt>[] = [];
          let unanswered = 0;
          for (const each of steps) {
            if (each.kind === 'call') {
              const properties = { text: 'é'.repeat(each.characters) };
              const call = { userId: 'u', event: 'e', messageId: String(receipts.length), properties };
              // Up to maxQueued messages are held, and as many calls wait for room.
              if (unanswered < 2 * options.maxQueued) {
                receipts.push(client.track(call));
                unanswered++;
                void receipts.at(-1)?.then(() => unanswered--);
              }
            }
            if (each.kind === 'release') sink.release(each.nth);
            if (each.kind === 'time') await clock.advance(each.ms);
            if (each.kind === 'flush') void client.flush();
          }
          await releaseUntil(client.close(), sink);

          const ids = receipts.map((_, index) => String(index));
          expect(sink.ids.flat()).toEqual(ids);
          expect((await Promise.all(receipts)).map(({ messageId }) => messageId)).toEqual(ids);
          expect(sink.mostInFlight).toBeLessThanOrEqual(maxInFlight);
          expect(sink.mostHeld).toBeLessThanOrEqual(options.maxQueued);
          expect(sink.batches.every((batch) => batch.length <= options.flushAt)).toBe(true);
          expect(sink.batches.every((batch) => bodyBytes(batch) <= 500_000)).toBe(true);
          expect(clock.pendingTimers).toBe(0);
        },
      ),
      { numRuns: 100 },
    );
  });
});

/** Releases batches until the client is closed, in at most 1,000 turns, so that a client that never closes fails the test. */
async function releaseUntil(closed: Promise<void>, sink: RecordingSink): Promise<void> {
  const ended = closed.then(() => 'closed' as const);
  for (let turn = 0; turn < 1_000; turn++) {
    sink.release();
    const next = new Promise<'open'>((resolve) => setImmediate(resolve, 'open'));
    if ((await Promise.race([ended, next])) === 'closed') return;
  }
  throw new Error('The client did not close');
}

function bodyBytes(batch: readonly { readonly body: Uint8Array }[]): number {
  const texts = batch.map(({ body }) => Buffer.from(body).toString()).join(',');
  return Buffer.byteLength(`{"batch":[${texts}],"sentAt":"2026-01-01T00:00:00.000Z"}`);
}
