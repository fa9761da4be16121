import { describe, expect, it } from 'vitest';
import { closest } from '../src/suggest.ts';

const KNOWN = ['page', 'screen', 'identify', 'track', 'properties', 'userId'];

describe('closest', () => {
  it.each([
    ['traq', 'track'],
    ['tarck', 'track'],
    ['Track', 'track'],
    ['identfy', 'identify'],
    ['userid', 'userId'],
    ['propertys', 'properties'],
    ['pages', 'page'],
  ])('of %s is %s', (word, meant) => {
    expect(closest(word, KNOWN)).toBe(meant);
  });

  it.each(['', 'x', 'purchase', 'ok', 'p'.repeat(10_000)])('of %s is undefined', (word) => {
    expect(closest(word, KNOWN)).toBeUndefined();
  });
});
