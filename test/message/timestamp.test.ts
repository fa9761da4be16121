import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readTimestamp } from '../../src/message/timestamp.ts';

describe('readTimestamp', () => {
  it.each([
    ['2026-11-20T21:10:05.123Z', '2026-11-20T21:10:05.123Z'],
    ['2026-11-20T21:10:05Z', '2026-11-20T21:10:05.000Z'],
    ['2026-11-20T21:10:05.1Z', '2026-11-20T21:10:05.100Z'],
    ['2026-11-20T23:10:05.123+02:00', '2026-11-20T21:10:05.123Z'],
    ['2026-11-20T15:40:05-05:30', '2026-11-20T21:10:05.000Z'],
    ['2026-11-20T21:10:05-00:00', '2026-11-20T21:10:05.000Z'],
    ['2026-12-31T23:59:59-00:01', '2027-01-01T00:00:59.000Z'],
    ['2024-02-29T00:00:00Z', '2024-02-29T00:00:00.000Z'],
    ['0000-01-01T00:00:00Z', '0000-01-01T00:00:00.000Z'],
    ['0099-01-01T00:00:00.5Z', '0099-01-01T00:00:00.500Z'],
    ['9999-12-31T23:59:59.999Z', '9999-12-31T23:59:59.999Z'],
    ['2026-11-20T21:10:05.999999999Z', '2026-11-20T21:10:05.999Z'],
    // Other spellings of RFC 3339.
    ['2026-11-20t21:10:05.123z', '2026-11-20T21:10:05.123Z'],
    ['2026-11-20 21:10:05.123Z', '2026-11-20T21:10:05.123Z'],
    ['2026-11-20 21:10:05.123z', '2026-11-20T21:10:05.123Z'],
  ])('reads %s as %s', (text, iso) => {
    expect(readTimestamp(text)).toEqual({ ok: true, iso });
  });

  it('reads a Date', () => {
    expect(readTimestamp(new Date(0))).toEqual({ ok: true, iso: '1970-01-01T00:00:00.000Z' });
  });

  it.each(['2026-11-20T21:10:05', '2026-11-20T21:10:05.123', '2026-11-20 21:10', '2026-11-20'])(
    'rejects %s, which has no zone',
    (text) => {
      expect(readTimestamp(text)).toMatchObject({
        ok: false,
        expected: 'RFC 3339 with a zone',
        hint: expect.stringContaining('add its zone or offset') as string,
      });
    },
  );

  it.each([
    '2026-02-30T00:00:00Z',
    '2025-02-29T00:00:00Z',
    '2026-04-31T12:00:00+02:00',
    '2026-13-01T00:00:00Z',
    '2026-00-10T00:00:00Z',
    '2026-01-00T00:00:00Z',
    '2026-01-01T24:00:00Z',
    '2026-01-01T00:60:00Z',
    '2026-01-01T00:00:61Z',
    '2026-01-01T00:00:00+24:00',
  ])('rejects %s, which does not exist', (text) => {
    expect(readTimestamp(text)).toMatchObject({ ok: false, expected: 'a date and time that exists' });
  });

  it('rejects a leap second with a hint', () => {
    expect(readTimestamp('2016-12-31T23:59:60Z')).toEqual({
      ok: false,
      expected: 'a time without a leap second',
      hint: 'write second 59 instead of 60',
    });
  });

  it.each(['0000-01-01T00:00:00+00:01', '9999-12-31T23:59:59-00:01'])(
    'rejects %s, which is outside four-digit years in UTC',
    (text) => {
      expect(readTimestamp(text)).toMatchObject({ ok: false, expected: 'in the years 0000 to 9999 of UTC' });
    },
  );

  it.each([
    'yesterday',
    '',
    '2026-11-20T21:10:05,123Z',
    '2026-11-20T21:10:05.Z',
    '2026-11-20T21:10:05+0200',
    '2026-11-20T21:10Z',
    '20261120T211005Z',
    '+002026-11-20T21:10:05.123Z',
    ' 2026-11-20T21:10:05Z',
    '2026-11-20T21:10:05Z\n',
    '２026-11-20T21:10:05Z',
  ])('rejects %j, which is not RFC 3339', (text) => {
    expect(readTimestamp(text)).toEqual({
      ok: false,
      expected: 'RFC 3339',
      hint: 'write it as 2026-11-20T21:10:05.123Z',
    });
  });

  it.each([1_700_000_000_000, true, {}, [], null, undefined])(
    'rejects %j, which is not a string',
    (value) => {
      expect(readTimestamp(value)).toMatchObject({ ok: false, expected: 'a date and time as text' });
    },
  );

  it('rejects an invalid Date and one beyond the year 9999', () => {
    expect(readTimestamp(new Date(Number.NaN))).toMatchObject({ ok: false, expected: 'a valid date' });
    expect(readTimestamp(new Date(8.64e15))).toMatchObject({ ok: false });
  });

  it('reads every time in any offset', () => {
    const moment = fc.date({
      min: new Date('0001-01-02T00:00:00Z'),
      max: new Date('9998-12-30T00:00:00Z'),
      noInvalidDate: true,
    });
    fc.assert(
      fc.property(moment, fc.integer({ min: -1439, max: 1439 }), (date, offset) => {
        expect(readTimestamp(withOffset(date, offset))).toEqual({ ok: true, iso: date.toISOString() });
      }),
    );
  });
});

function withOffset(date: Date, minutes: number): string {
  const local = new Date(date.getTime() + minutes * 60_000).toISOString().slice(0, -1);
  const [hours, rest] = [Math.floor(Math.abs(minutes) / 60), Math.abs(minutes) % 60];
  return `${local}${minutes < 0 ? '-' : '+'}${String(hours).padStart(2, '0')}:${String(rest).padStart(2, '0')}`;
}
