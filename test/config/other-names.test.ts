import { describe, expect, it } from 'vitest';
import { suggestion } from '../../src/config/other-names.ts';

describe('suggestion', () => {
  const known = ['webhooks', 'sharedSecret', 'delivery', 'store'];

  it.each([
    ['webhook', 'webhooks'],
    ['wehbooks', 'webhooks'],
    ['Delivery', 'delivery'],
    ['shared_secret', 'sharedSecret'],
    ['secret', 'sharedSecret'],
    ['urls', 'webhooks'],
    ['stroe', 'store'],
  ])('suggests for %s: %s', (word, meant) => {
    expect(suggestion(word, known)).toBe(meant);
  });

  it.each(['', 'zebra', 'constructor', '__proto__'])('suggests nothing for %j', (word) => {
    expect(suggestion(word, known)).toBeUndefined();
  });

  it('suggests only known words', () => {
    expect(suggestion('secret', ['store'])).toBeUndefined();
  });
});
