import { describe, expect, it } from 'vitest';
import { Exchange } from '../../../src/transport/connection/exchange.ts';

describe('Exchange', () => {
  it('stops a request that is about to be written twice', () => {
    const exchange = new Exchange({ ended: () => {}, limitBody: () => {}, broken: () => {} }, false);
    const reasons: Error[] = [];
    const controller = {
      aborted: false,
      paused: false,
      reason: null,
      abort: (reason: Error) => reasons.push(reason),
      pause: () => {},
      resume: () => {},
    };
    exchange.onRequestStart(controller);
    expect(reasons).toEqual([]);
    exchange.onRequestStart(controller);
    expect(reasons).toEqual([expect.objectContaining({ code: 'ECONNRESET' })]);
  });
});
