/**
 * RFC 3339, section 5.6, including a lower-case `t` or `z` and a space for the `T`. The pattern limits each part to its
 * range, but does not know how many days a month has.
 */
export const RFC_3339 =
  /^(\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01]))[Tt ]((?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d)(?:\.(\d+))?(?:[Zz]|([+-])([01]\d|2[0-3]):([0-5]\d))$/;

export type TimestampReading =
  | { readonly ok: true; /** UTC with milliseconds. */ readonly iso: string }
  | {
      readonly ok: false;
      /** End of the sentence "Expected `timestamp` to be …", such as `a valid date`. */
      readonly expected: string;
      readonly hint: string;
    };

/** Reads a Date or an RFC 3339 text of the years 0000 to 9999. Truncates to milliseconds. */
export function readTimestamp(value: unknown): TimestampReading {
  if (value instanceof Date) return inRange(value);
  if (typeof value !== 'string') return invalidTimestamp('a date and time as text');
  if (isCanonical(value)) return { ok: true, iso: value };
  const match = RFC_3339.exec(value);
  return match === null ? diagnose(value) : fromParts(match);
}

const EXAMPLE = '2026-11-20T21:10:05.123Z';

/**
 * A timestamp in UTC with milliseconds, on a day that every month has (1 to 28). Recognizes most timestamps without
 * constructing a Date.
 */
const PLAIN = /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{3}Z$/;

function isCanonical(text: string): boolean {
  if (text.length !== EXAMPLE.length) return false;
  if (PLAIN.test(text)) return true;
  const date = new Date(text);
  return !Number.isNaN(date.getTime()) && date.toISOString() === text;
}

function fromParts([
  ,
  day = '',
  time = '',
  fraction = '',
  sign,
  hours = '0',
  minutes = '0',
]: RegExpExecArray) {
  const local = `${day}T${time}.${fraction.slice(0, 3).padEnd(3, '0')}Z`;
  // JavaScript reads 2026-02-30 as March 2, so the date is formatted again and compared.
  if (!isCanonical(local)) return impossible();
  const offsetMs = (Number(hours) * 60 + Number(minutes)) * 60_000;
  return inRange(new Date(Date.parse(local) - (sign === '-' ? -offsetMs : offsetMs)));
}

function inRange(date: Date): TimestampReading {
  if (Number.isNaN(date.getTime())) return invalidTimestamp('a valid date');
  const iso = date.toISOString();
  return iso.length === EXAMPLE.length
    ? { ok: true, iso }
    : invalidTimestamp('in the years 0000 to 9999 of UTC');
}

/** Explains why a text is not RFC 3339. */
function diagnose(text: string): TimestampReading {
  if (/^\d{4}-\d\d-\d\d/.test(text) && !isCanonical(`${text.slice(0, 10)}T00:00:00.000Z`)) {
    return impossible();
  }
  if (/^\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d([.,]\d+)?)?)?$/i.test(text)) {
    return invalidTimestamp(
      'RFC 3339 with a zone',
      `add its zone or offset: ${EXAMPLE}, or +02:00 in place of the Z`,
    );
  }
  if (/:60(\.\d+)?([Zz]|[+-]\d\d:\d\d)$/.test(text)) {
    return invalidTimestamp('a time without a leap second', 'write second 59 instead of 60');
  }
  if (/^\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/i.test(text)) return impossible();
  return invalidTimestamp('RFC 3339');
}

function impossible(): TimestampReading {
  return invalidTimestamp(
    'a date and time that exists',
    'check its parts: month 01 to 12, a day of that month, hour 00 to 23',
  );
}

function invalidTimestamp(expected: string, hint = `write it as ${EXAMPLE}`): TimestampReading {
  return { ok: false, expected, hint };
}
