import { describe, expect, it } from 'vitest';
import { resolveClientOptions, type ClientOptions } from '../../src/client/options.ts';
import { ConfigError } from '../../src/errors.ts';

describe('resolveClientOptions', () => {
  it('fills in the defaults and freezes the result', () => {
    const options = resolveClientOptions();
    expect(options).toEqual({
      flushAt: 20,
      flushAfterMs: 5_000,
      maxQueued: 10_000,
      whenFull: 'wait',
      warnOnLoss: true,
    });
    expect(Object.isFrozen(options)).toBe(true);
  });

  it('keeps what is given', () => {
    const given = {
      writeKey: 'k',
      flushAt: 1,
      flushAfterMs: 1,
      maxQueued: 1,
      whenFull: 'throw',
      warnOnLoss: false,
    } as const;
    expect(resolveClientOptions(given)).toEqual(given);
  });

  it('takes size for flushAt, its newer name', () => {
    expect(resolveClientOptions({ size: 3 })).toMatchObject({ flushAt: 3 });
    expect(resolveClientOptions({ size: 3 })).not.toHaveProperty('size');
  });

  it('rejects size and flushAt together', () => {
    expect(failure({ size: 3, flushAt: 3 })).toMatchObject({
      message: 'Expected one of `flushAt` and `size`, got both (3 and 3)',
      key: 'flushAt',
      hint: '`size` is the older name of `flushAt`: remove it',
    });
  });

  it.each([
    [{ flushAt: 0 }, 'Expected `flushAt` to be an integer from 1 to 1000, got 0'],
    [{ flushAt: 1_001 }, 'Expected `flushAt` to be an integer from 1 to 1000, got 1001'],
    [{ flushAt: 1.5 }, 'Expected `flushAt` to be an integer from 1 to 1000, got 1.5'],
    [{ flushAt: '20' }, 'Expected `flushAt` to be an integer from 1 to 1000, got "20"'],
    [{ size: Number.NaN }, 'Expected `size` to be an integer from 1 to 1000, got NaN'],
    [
      { flushAfterMs: 2 ** 31 },
      'Expected `flushAfterMs` to be an integer from 1 to 2147483647, got 2147483648',
    ],
    [{ maxQueued: 0 }, 'Expected `maxQueued` to be an integer from 1 to 1000000, got 0'],
    [{ maxQueued: null }, 'Expected `maxQueued` to be an integer from 1 to 1000000, got null'],
    [{ warnOnLoss: 'no' }, 'Expected `warnOnLoss` to be true or false, got "no"'],
    [{ whenFull: 'drop' }, `Expected \`whenFull\` to be 'wait' or 'throw', got "drop"`],
    [{ writeKey: '' }, 'Expected `writeKey` to be a non-empty string, got an empty string'],
    [{ writeKey: 7 }, 'Expected `writeKey` to be a non-empty string, got number'],
    [{ flushafter: 7 }, 'Expected an option of the client, got `flushafter`'],
  ])('rejects %j', (given, message) => {
    // As a caller without types would.
    const error = failure(given as ClientOptions);
    expect(error).toBeInstanceOf(ConfigError);
    expect(error).toMatchObject({ message, key: Object.keys(given)[0] });
  });

  it('accepts both ends of a range', () => {
    expect(
      resolveClientOptions({ flushAt: 1_000, flushAfterMs: 2 ** 31 - 1, maxQueued: 1_000_000 }),
    ).toMatchObject({
      flushAt: 1_000,
    });
  });

  it("names its own option for the name in Segment's clients", () => {
    expect(failure({ flushInterval: 100 } as ClientOptions)).toMatchObject({
      hint: 'use `flushAfterMs` instead',
    });
  });

  it('counts an undefined option as absent', () => {
    expect(resolveClientOptions({ flushAt: undefined, size: 4 }).flushAt).toBe(4);
  });
});

function failure(options: ClientOptions): unknown {
  try {
    return resolveClientOptions(options);
  } catch (error) {
    return error;
  }
}
