/**
 * Converts a `Retry-After` value, a number of seconds or an HTTP-date (RFC 9110, 10.2.3 and 5.6.7), to milliseconds from
 * `now`. Returns 0 for a date in the past, and undefined for any other text. Does not limit the wait.
 *
 * Number and Date.parse never get the raw text: they accept "0x10", "1e300" and "5" (May 2001).
 */
export function retryAfterMs(text: string, now: number): number | undefined {
  const value = text.replace(/^[ \t]+|[ \t]+$/g, '');
  if (/^\d+$/.test(value)) return Math.min(Number(value) * 1000, Number.MAX_SAFE_INTEGER);
  const at = httpDate(value, now);
  return at === undefined ? undefined : Math.max(0, at - now);
}

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const MONTH = `(?<month>${MONTHS.join('|')})`;
const TIME = '(?<hour>[01]\\d|2[0-3]):(?<minute>[0-5]\\d):(?<second>[0-5]\\d|60)';
const SHORT_DAY = '(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)';
const LONG_DAY = '(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day';

/**
 * The three formats of an HTTP-date: senders must use the first, but recipients must accept all. The day of the week may be
 * wrong.
 */
const HTTP_DATES: readonly RegExp[] = [
  new RegExp(`^${SHORT_DAY}, (?<day>\\d{2}) ${MONTH} (?<year>\\d{4}) ${TIME} GMT$`),
  new RegExp(`^${LONG_DAY}, (?<day>\\d{2})-${MONTH}-(?<year>\\d{2}) ${TIME} GMT$`),
  new RegExp(`^${SHORT_DAY} ${MONTH} (?<day>\\d{2}| \\d) ${TIME} (?<year>\\d{4})$`),
];

function httpDate(text: string, now: number): number | undefined {
  for (const form of HTTP_DATES) {
    const parts = form.exec(text)?.groups;
    if (parts !== undefined) return timeOf(parts, now);
  }
  return undefined;
}

/** Returns milliseconds since the epoch. Undefined for a day that does not exist (31 April, 29 February of most years). */
function timeOf(parts: Readonly<Record<string, string>>, now: number): number | undefined {
  const number = (name: string): number => Number(parts[name]);
  const [month, day] = [MONTHS.indexOf(parts['month'] ?? ''), number('day')];
  const midnight = new Date(0);
  midnight.setUTCFullYear(yearOf(parts['year'] ?? '', now), month, day);
  if (midnight.getUTCMonth() !== month || midnight.getUTCDate() !== day) return undefined;
  return midnight.getTime() + ((number('hour') * 60 + number('minute')) * 60 + number('second')) * 1000;
}

/** Returns a year in full. A two-digit year that seems more than 50 years ahead is in the past century (RFC 9110, 5.6.7). */
function yearOf(digits: string, now: number): number {
  const year = Number(digits);
  if (digits.length === 4) return year;
  const thisYear = new Date(now).getUTCFullYear();
  const inThisCentury = thisYear - (thisYear % 100) + year;
  return inThisCentury > thisYear + 50 ? inThisCentury - 100 : inThisCentury;
}
