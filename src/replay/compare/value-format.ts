import { isJsonObject, type JsonValue } from '../../message/types.ts';

/** A value of a response. Undefined if only the other of two compared responses has a value at the path. */
export type ResponseValue = JsonValue | undefined;

/** Context in which two responses to the same message are compared. */
export interface ExchangeContext {
  /** Whether the request contains a text, such as a UUID. Then the receiver did not generate the text, but repeated it. */
  readonly isEchoed: (text: string) => boolean;
  /** When the responses came, in milliseconds since the epoch. */
  readonly now: number;
}

const UUID = /[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}/;
const ISO_TIME = /\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:[.,]\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)?/;
const HTTP_DATE = /[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT/;
/** A time as `toLocaleString` writes it. */
const LOCAL_TIME = /\d{1,2}\/\d{1,2}\/\d{4},? \d{1,2}:\d\d:\d\d(?:\s[AP]M)?/;
/** A timestamp as a number: seconds, milliseconds, microseconds or nanoseconds since the epoch. */
const EPOCH = /\d{10}(?:\d{3}){0,3}/;
const WORD = /[\w-]{16,}/;
/** Matches an id or a time that a receiver generates for each response. */
const GENERATED = new RegExp(
  `\\b(?:(?<uuid>${UUID.source})|(?<time>${ISO_TIME.source}|${HTTP_DATE.source}|${LOCAL_TIME.source})|(?<word>${WORD.source})|(?<epoch>${EPOCH.source}))\\b`,
  'gi',
);

/** Replaces generated ids and times by their format, such as `<uuid>`. Keeps texts that the request also contains. */
function maskGenerated(text: string, { isEchoed, now }: ExchangeContext): string {
  return text.replace(GENERATED, (match: string, ...rest: unknown[]) => {
    const groups = rest.at(-1) as Readonly<Record<'uuid' | 'time' | 'word' | 'epoch', string | undefined>>; // the last argument
    if (isEchoed(match)) return match;
    if (groups.uuid !== undefined) return '<uuid>';
    if (groups.time !== undefined) return '<time>';
    if (isEpoch(match, now)) return `<time${match.length}>`;
    return isToken(match) ? tokenMask(match) : match;
  });
}

/** Minimum number of changes between digits and letters in a random word, such as a ULID or a hash. */
const MIN_CHANGES = 4;

function isToken(word: string): boolean {
  const changes = word.match(/(?<=\d)[a-z]|(?<=[a-z])\d/gi) ?? [];
  return word.length >= 16 && changes.length >= MIN_CHANGES;
}

/** Masks a random id, but keeps a prefix that names its kind, such as `evt_`. */
function tokenMask(word: string): string {
  return `${/^[a-z]{1,12}_(?=.{12})/i.exec(word)?.[0] ?? ''}<token>`;
}

/** Returns the time that a text, or a number near `now`, represents, in ms since the epoch. Undefined for other values. */
export function valueTimeOf(value: ResponseValue, now: number): number | undefined {
  if (typeof value === 'number') return isEpoch(String(value), now) ? epochMs(String(value)) : undefined;
  const at = typeof value === 'string' && textFormatOf(value) === 'time' ? Date.parse(value) : NaN;
  return Number.isNaN(at) ? undefined : at;
}

const YEAR_MS = 365 * 24 * 60 * 60 * 1_000;

/** Whether digits are a timestamp that is less than a year from `now`. */
function isEpoch(digits: string, now: number): boolean {
  const ms = /^\d+$/.test(digits) ? epochMs(digits) : undefined;
  return ms !== undefined && Math.abs(ms - now) < YEAR_MS;
}

function epochMs(digits: string): number | undefined {
  const unit = { 10: 1e-3, 13: 1, 16: 1e3, 19: 1e6 }[digits.length];
  return unit === undefined ? undefined : Number(digits) / unit;
}

/** Names the kind of a value in a report: `number`, `uuid`, `text`. */
export function formatOf(value: ResponseValue): string {
  if (value === undefined) return 'missing';
  if (value === null) return 'null';
  if (typeof value === 'string') return textFormatOf(value);
  if (Array.isArray(value)) return 'array';
  return isJsonObject(value) ? 'object' : typeof value;
}

const ANY_EXCHANGE: ExchangeContext = { isEchoed: () => false, now: 0 };

function textFormatOf(text: string): string {
  if (text.trim() === '') return 'empty text';
  return { '<uuid>': 'uuid', '<time>': 'time' }[maskGenerated(text, ANY_EXCHANGE)] ?? 'text';
}

/** Returns the text of a value, with generated ids and times replaced by their format. */
export function maskedText(value: ResponseValue, context: ExchangeContext): string {
  const text = valueText(value, Infinity);
  const isMasked = typeof value === 'string' || typeof value === 'number';
  return isMasked ? maskGenerated(text, context) : text;
}

/**
 * Whether two values may differ because they are generated for each response: both are a UUID, a timestamp or a random id,
 * or texts that are equal except for these.
 */
export function isGenerated(one: ResponseValue, other: ResponseValue, context: ExchangeContext): boolean {
  if (typeof one === 'number' && typeof other === 'number') {
    return areBothClocks(String(one), String(other), context);
  }
  if (typeof one !== 'string' || typeof other !== 'string') return false;
  const masked = maskGenerated(one, context);
  if (masked !== maskGenerated(other, context)) return false;
  return masked !== '<time>' || !isShiftedTime(Date.parse(one), Date.parse(other));
}

function areBothClocks(one: string, other: string, { isEchoed, now }: ExchangeContext): boolean {
  const areClocks = one.length === other.length && isEpoch(one, now) && isEpoch(other, now);
  return areClocks && !isEchoed(one) && !isShiftedTime(epochMs(one) ?? 0, epochMs(other) ?? 0);
}

const QUARTER_MS = 15 * 60 * 1_000;
const DAY_MS = 24 * 60 * 60 * 1_000;
/** Maximum time between two responses to the same message. */
const SLACK_MS = 5_000;

/** Whether two times differ by the offset of a time zone, which is a mistake and not elapsed time. */
function isShiftedTime(one: number, other: number): boolean {
  const difference = Math.abs(one - other);
  const quarters = Math.round(difference / QUARTER_MS);
  return quarters > 0 && difference <= DAY_MS && Math.abs(difference - quarters * QUARTER_MS) <= SLACK_MS;
}

/** Returns the text of a value for a report: its JSON, cut after `length` characters. */
export function valueText(value: ResponseValue, length = 200): string {
  const text = value === undefined ? 'missing' : JSON.stringify(value);
  return text.length > length ? `${text.slice(0, length)}…` : text;
}
