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

  it('keeps given options', () => {
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

  it('accepts size as the older name of flushAt', () => {
    expect(resolveClientOptions({ size: 3 })).toMatchObject({ flushAt: 3 });
    expect(resolveClientOptions({ size: 3 })).not.toHaveProperty('size');
  });

  it('rejects size and flushAt together', () => {
    expect(failure({ size: 3, flushAt: 3 })).toMatchObject({
      message: 'Expected one of `flushAt` and `size`, got both (3 and 3)',
      key: 'client.flushAt',
      hint: '`size` is the older name of `flushAt`: remove it',
    });
  });

  it.each([
    [{ flushAt: 0 }, 'Expected `client.flushAt` to be from 1 to 1000, got 0'],
    [{ flushAt: 1_001 }, 'Expected `client.flushAt` to be from 1 to 1000, got 1001'],
    [{ flushAt: 1.5 }, 'Expected `client.flushAt` to be a whole number, got 1.5'],
    [{ flushAt: '20' }, 'Expected `client.flushAt` to be a whole number, got "20"'],
    [{ size: Number.NaN }, 'Expected `client.size` to be a whole number, got NaN'],
    [{ flushAfterMs: 2 ** 31 }, 'Expected `client.flushAfterMs` to be from 1 to 2147483647, got 2147483648'],
    [{ maxQueued: 0 }, 'Expected `client.maxQueued` to be from 1 to 10000000, got 0'],
    [{ maxQueued: null }, 'Expected `client.maxQueued` to be a whole number, got null'],
    [{ warnOnLoss: 'no' }, 'Expected `client.warnOnLoss` to be a boolean, got a string'],
    [{ whenFull: 'drop' }, 'Expected `client.whenFull` to be wait or throw, got "drop"'],
    [{ writeKey: '' }, 'Expected `client.writeKey` to be a non-empty string, got an empty string'],
    [{ writeKey: 7 }, 'Expected `client.writeKey` to be a non-empty string, got a number'],
    [{ flushafter: 7 }, 'Expected an option of `client`, got `flushafter`'],
  ])('rejects %j', (given, message) => {
    // JavaScript callers can pass any options.
    const error = failure(given as ClientOptions);
    expect(error).toBeInstanceOf(ConfigError);
    expect(error).toMatchObject({ message, key: `client.${Object.keys(given)[0]}` });
  });

  it('accepts both ends of a range', () => {
    expect(
      resolveClientOptions({ flushAt: 1_000, flushAfterMs: 2 ** 31 - 1, maxQueued: 10_000_000 }),
    ).toMatchObject({ flushAt: 1_000 });
  });

  it("suggests its own option for a name from Segment's clients", () => {
    expect(failure({ flushInterval: 100 } as ClientOptions)).toMatchObject({
      hint: 'did you mean `flushAfterMs`?',
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
