import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isKept } from '../../../src/message/json/decimal.ts';

describe('isKept', () => {
  it.each([
    '0',
    '-0',
    '0e400',
    '0.000e-99999999999999999999',
    '1.0',
    '1e2',
    '100e-2',
    '1e21',
    '0.1',
    '5e-324',
    '1.7976931348623157e308',
    '0.1234567890123456',
    '12345678901234567000',
    `1${'0'.repeat(300)}`,
  ])('keeps %s', (token) => {
    expect(isKept(token)).toBe(true);
  });

  it.each([
    '12345678901234567890',
    '9007199254740993',
    '0.1234567890123456789',
    '0.1000000000000000055511151231257827',
    '1E400',
    '1e-400',
    '4e-324',
    '1e99999999999999999999',
    '1e-99999999999999999999',
  ])('loses %s', (token) => {
    expect(isKept(token)).toBe(false);
  });

  it('keeps every number that JavaScript formatted', () => {
    const number = fc.double({ noNaN: true, noDefaultInfinity: true });
    fc.assert(fc.property(number, (value) => isKept(String(value)) && isKept(value.toExponential())));
  });

  it('takes linear time on a long number full of zeros', () => {
    expect(isKept(`1${'0'.repeat(200_000)}1`)).toBe(false);
    expect(isKept(`0.${'0'.repeat(200_000)}1`)).toBe(false);
  });
});
