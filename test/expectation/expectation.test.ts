import { describe, expect, it } from 'vitest';
import { Expectation } from '../../src/expectation/request-expectation.ts';
import type { ReceivedRequest, SignatureVerdict } from '../../src/receiver/received-request.ts';
import { FakeClock } from '../fake-clock.ts';

function request(verdict: SignatureVerdict, method = 'POST'): ReceivedRequest {
  const body = new Uint8Array();
  return { at: 0, method, path: '/', rawHeaders: [], body, verdict, answered: 'status', status: 200, ms: 1 };
}

describe('Expectation', () => {
  it('is over and met as soon as the count is reached, whatever other requests arrive', () => {
    const expectation = new Expectation({ count: 2, signed: true, clock: new FakeClock() });
    for (const verdict of ['valid', 'invalid', 'unsigned'] as const) expectation.add(request(verdict));
    expect(expectation.over.aborted).toBe(false);
    expectation.add(request('valid'));
    expect(expectation.over.aborted).toBe(true);
    expect(expectation.missing()).toBeUndefined();
  });

  it('names the expected and the received requests', () => {
    const expectation = new Expectation({ count: 2, signed: true, clock: new FakeClock() });
    expectation.add(request('invalid'));
    expectation.add(request('valid', 'PUT'));
    expect(expectation.missing()).toBe('Expected 2 valid POSTs, got 2 requests: 1 invalid, 1 not POST');
  });

  it('ends after the time limit from the start, and is then not met', async () => {
    const clock = new FakeClock();
    const expectation = new Expectation({ count: 1, withinMs: 30_000, clock });
    await clock.advance(29_999);
    expect(expectation.over.aborted).toBe(false);
    await clock.advance(1);
    expect(expectation.over.aborted).toBe(true);
    expect(expectation.missing()).toBe('Expected 1 POST, got no request');
  });

  it('ends after an idle time since the latest request, but never before the first', async () => {
    const clock = new FakeClock();
    const expectation = new Expectation({ untilIdleMs: 5_000, clock });
    await clock.advance(60_000);
    expectation.add(request('unchecked'));
    await clock.advance(4_000);
    expectation.add(request('unchecked'));
    await clock.advance(4_999);
    expect(expectation.over.aborted).toBe(false);
    await clock.advance(1);
    expect(expectation.over.aborted).toBe(true);
    expect(expectation.missing()).toBeUndefined();
  });

  it('is not idle while a request is open, and restarts the idle time afterwards', async () => {
    const clock = new FakeClock();
    const expectation = new Expectation({ untilIdleMs: 1_000, clock });
    expectation.busy(true);
    expectation.busy(false);
    await clock.advance(60_000);
    expectation.add(request('unchecked'));
    await clock.advance(500);
    expectation.busy(true);
    await clock.advance(60_000);
    expectation.add(request('unchecked'));
    await clock.advance(60_000);
    expect(expectation.over.aborted).toBe(false);
    expectation.busy(false);
    await clock.advance(1_000);
    expect(expectation.over.aborted).toBe(true);
  });

  it('expects at least one request, and only valid ones, if no count is given', () => {
    const expectation = new Expectation({ withinMs: 1_000, signed: true, clock: new FakeClock() });
    expect(expectation.missing()).toBe(
      'Expected every request to be a valid POST, and at least one, got no request',
    );
    expectation.add(request('valid'));
    expect(expectation.missing()).toBeUndefined();
    expectation.add(request('unsigned'));
    expect(expectation.missing()).toMatch(/got 2 requests: 1 valid, 1 unsigned$/);
  });

  it('is never over without options', async () => {
    const clock = new FakeClock();
    const expectation = new Expectation({ clock });
    expectation.add(request('valid'));
    await clock.advance(86_400_000);
    expect(expectation.isPlain).toBe(true);
    expect(expectation.over.aborted).toBe(false);
  });

  it('cancels its timers on close()', () => {
    const clock = new FakeClock();
    const expectation = new Expectation({ untilIdleMs: 5, withinMs: 5, clock });
    expectation.add(request('valid'));
    expectation.close();
    expect(clock.pendingTimers).toBe(0);
  });
});
