import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { retryAfterMs } from '../../src/transport/retry-after.ts';

const NOW = Date.UTC(2026, 10, 20, 12, 0, 0);
const MINUTE = 60_000;

describe('retryAfterMs', () => {
  it.each([
    ['0', 0],
    ['007', 7_000],
    ['120', 120_000],
    [' 3 ', 3_000],
    ['\t3\t', 3_000],
    ['9'.repeat(30), Number.MAX_SAFE_INTEGER],
    ['9'.repeat(400), Number.MAX_SAFE_INTEGER],
  ])('reads %j as delay-seconds', (text, ms) => {
    expect(retryAfterMs(text, NOW)).toBe(ms);
  });

  it.each([
    ['IMF-fixdate', 'Fri, 20 Nov 2026 12:01:00 GMT', MINUTE],
    ['RFC 850', 'Friday, 20-Nov-26 12:01:00 GMT', MINUTE],
    ['asctime', 'Fri Nov 20 12:01:00 2026', MINUTE],
    ['asctime with one digit', 'Tue Dec  1 12:00:00 2026', 11 * 24 * 60 * MINUTE],
    ['a leap second', 'Fri, 20 Nov 2026 12:00:60 GMT', MINUTE],
    ['a leap day', 'Tue, 29 Feb 2028 12:00:00 GMT', Date.UTC(2028, 1, 29, 12) - NOW],
    ['the wrong name of the day', 'Mon, 20 Nov 2026 12:01:00 GMT', MINUTE],
    ['now', 'Fri, 20 Nov 2026 12:00:00 GMT', 0],
    ['the past', 'Thu, 01 Jan 1970 00:00:00 GMT', 0],
    ['the past of RFC 850', 'Sunday, 06-Nov-94 08:49:37 GMT', 0],
    ['the past of asctime', 'Sun Nov  6 08:49:37 1994', 0],
    ['50 years ahead in two digits', 'Friday, 20-Nov-76 12:00:00 GMT', Date.UTC(2076, 10, 20, 12) - NOW],
    ['51 years ahead in two digits, which is the past', 'Friday, 20-Nov-77 12:00:00 GMT', 0],
    ['the year 50, not 1950', 'Sun, 20 Nov 0050 12:00:00 GMT', 0],
    ['spaces around it', '  Fri, 20 Nov 2026 12:01:00 GMT ', MINUTE],
  ])('reads a date: %s', (_, text, ms) => {
    expect(retryAfterMs(text, NOW)).toBe(ms);
  });

  it.each([
    '',
    ' ',
    '-1',
    '+5',
    '5.0',
    '1e300',
    '0x10',
    '1_000',
    '5, 10',
    '5s',
    'NaN',
    '٣',
    '\u00a05',
    '5\n',
    'soon',
    '2026-11-20T12:01:00Z',
    '11/20/2026',
    '20 Nov 2026 12:01:00 GMT',
    'Fri, 20 Nov 2026 12:01:00 UTC',
    'Fri, 20 Nov 2026 12:01:00',
    'Fri, 20 Nov 2026 24:00:00 GMT',
    'Fri, 20 Nov 2026 12:60:00 GMT',
    'Fri, 20 Nov 2026 12:00:61 GMT',
    'Fri, 31 Nov 2026 12:00:00 GMT',
    'Fri, 00 Nov 2026 12:00:00 GMT',
    'Sun, 29 Feb 2026 12:00:00 GMT',
    'Fri, 1 Nov 2026 12:00:00 GMT',
    'fri, 20 nov 2026 12:01:00 gmt',
    'Fri,  20 Nov 2026 12:01:00 GMT',
    'Fri, 20 November 2026 12:01:00 GMT',
    'Fre, 20 Nov 2026 12:01:00 GMT',
    'Fri, 20-Nov-26 12:01:00 GMT',
    'Friday, 20-Nov-2026 12:01:00 GMT',
    'Fri Nov 20 12:01:00 2026 GMT',
    'Fri Nov 1 12:01:00 2026',
    'Fri, 20 Nov 2026 12:01:00 GMT, 5',
  ])('returns undefined for %j', (text) => {
    expect(retryAfterMs(text, NOW)).toBeUndefined();
  });

  it('reads every second as toUTCString writes it', () => {
    const seconds = fc.integer({ min: 0, max: 253_402_300_799 });
    fc.assert(
      fc.property(seconds, (second) => {
        const at = second * 1_000;
        expect(retryAfterMs(new Date(at).toUTCString(), 0)).toBe(at);
      }),
    );
  });

  it('returns only undefined or a safe integer of at least 0', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.stringMatching(/^[0-9A-Za-z ,:-]*$/)), (text) => {
        const ms = retryAfterMs(text, NOW);
        expect(ms === undefined || (Number.isSafeInteger(ms) && ms >= 0)).toBe(true);
      }),
    );
  });
});
