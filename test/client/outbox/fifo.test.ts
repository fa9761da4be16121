import { describe, expect, it } from 'vitest';
import { Fifo } from '../../../src/client/outbox/fifo.ts';

describe('Fifo', () => {
  it('returns items in the order of arrival, even if pushes and shifts alternate', () => {
    const fifo = new Fifo<number>();
    const given: (number | undefined)[] = [];
    for (let number = 0; number < 100; number++) {
      fifo.push(number);
      if (number % 3 === 0) given.push(fifo.shift());
    }
    while (fifo.length > 0) given.push(fifo.shift());
    expect(given).toEqual(Array.from({ length: 100 }, (_, index) => index));
  });

  it('peeks at the first item without removing it, undefined if empty', () => {
    const fifo = new Fifo<string>();
    expect([fifo.peek(), fifo.shift(), fifo.length]).toEqual([undefined, undefined, 0]);
    fifo.push('a');
    expect([fifo.peek(), fifo.length, fifo.shift(), fifo.length]).toEqual(['a', 1, 'a', 0]);
  });
});
