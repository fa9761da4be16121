/**
 * What `Retry-After` asks for, as ms from `now`: delay-seconds or an HTTP-date (RFC 9110, 10.2.3 and 5.6.7). A date in
 * the past is 0; anything else is undefined. How long is too long is for the caller to say.
 *
 * Neither Number nor Date.parse ever sees the raw text: they take "0x10", "1e300" and "5" (May 2001).
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

/** A sender must use the first; a recipient must accept all three. The name of the day is not held against the date. */
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

/** Undefined: there is no such day (31 April, 29 February of most years). */
function timeOf(parts: Readonly<Record<string, string>>, now: number): number | undefined {
  const number = (name: string): number => Number(parts[name]);
  const [month, day] = [MONTHS.indexOf(parts['month'] ?? ''), number('day')];
  const midnight = new Date(0);
  midnight.setUTCFullYear(yearOf(parts['year'] ?? '', now), month, day);
  if (midnight.getUTCMonth() !== month || midnight.getUTCDate() !== day) return undefined;
  return midnight.getTime() + ((number('hour') * 60 + number('minute')) * 60 + number('second')) * 1000;
}

/** Two digits that seem to lie more than 50 years ahead are the most recent past year that ends so (RFC 9110, 5.6.7). */
function yearOf(digits: string, now: number): number {
  const year = Number(digits);
  if (digits.length === 4) return year;
  const thisYear = new Date(now).getUTCFullYear();
  const inThisCentury = thisYear - (thisYear % 100) + year;
  return inThisCentury > thisYear + 50 ? inThisCentury - 100 : inThisCentury;
}
