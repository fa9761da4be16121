import { MASK } from '../../redact.ts';
import { reencoded } from './encodings.ts';
import { CARD } from './format-kinds.ts';
import { kindOfKey, linkFor, PERSONAL_KINDS } from './kinds.ts';
import type { RedactedSpan } from './known-values.ts';
import type { PersonalKind } from './personal-kind.ts';
import { publicPrefix, type Pseudonyms } from './pseudonyms.ts';

const URL_IN_TEXT = /(?<![a-z0-9+.-])[a-z][a-z0-9+.-]{1,15}:\/\/[^\s"'<>\\^`{|}]+/gi;
/** Matches a value that is a URL. */
export const IS_URL = /^https?:\/\//i;
/** Matches a word that is percent-encoded. Each search begins at the start of a word, so that a long one costs no more. */
const ENCODED_WORD = /(?<![^\s"'<>&=?#/:;,%])[^\s"'<>&=?#/:;,%]*%[\da-f]{2}[^\s"'<>&=?#/:;,]*/gi;

/** Redacts the texts that `encodedSpans` finds. */
interface EncodedRedaction {
  readonly url: (url: string) => string;
  readonly text: (plain: string) => string;
}

/** Finds the URLs in a text, and the words that are percent-encoded. */
export function* encodedSpans(text: string, redact: EncodedRedaction): Generator<RedactedSpan> {
  const urls = text.includes('://') ? text.matchAll(URL_IN_TEXT) : [];
  for (const { 0: found, index } of urls) {
    yield { start: index, end: index + found.length, kind: '', replacement: redact.url(found) };
  }
  if (!text.includes('%')) return;
  for (const { 0: found, index } of text.matchAll(ENCODED_WORD)) {
    const replacement = reencoded(found, (plain) => (plain === found ? plain : redact.text(plain)));
    if (replacement !== found) yield { start: index, end: index + found.length, kind: '', replacement };
  }
}

/** Finds the values in a text that are personal by their format. */
export function* formatSpans(text: string, pseudonyms: Pseudonyms): Generator<RedactedSpan> {
  // Nearly all texts are words, in which no format can match.
  if (!/\d|@|eyJ|[_:-]|(?:Bearer|Basic) /.test(text)) return;
  for (const { kind, format, accept, replace } of PERSONAL_KINDS) {
    if (format === undefined) continue;
    for (const { 0: match, index } of text.matchAll(format)) {
      const value = accept === undefined ? match : accept(match);
      if (value === undefined || value === '') continue;
      const start = index + match.indexOf(value);
      const replacement = replace?.(value, pseudonyms) ?? pseudonyms.alike(value);
      yield { start, end: start + value.length, kind, replacement };
    }
  }
}

const PAIR = new RegExp(
  [
    String.raw`(?<![\w.-])(?<key>[A-Za-z][\w-]{1,40})\\?["']?(?<sign>[ ]{0,2}[:=][ ]{0,2})`,
    String.raw`(?:\\?"(?<double>[^"\\\n]{1,200})|'(?<single>[^'\n]{1,200})'|(?<plain>[^\s"'\\,;&<>(){}[\]]{1,200}))`,
  ].join(''),
  'g',
);
/** Headers whose value can have spaces. */
const TO_THE_END = /(?<=(?<![\w-])(?:(?:set-)?cookie|(?:proxy-)?authorization): )[^"'\n]+/gi;

/** Finds the values in a text that its keys show to be personal: `password=…`, `"ssn": "…"`, `Cookie: …`. */
export function* pairSpans(text: string, pseudonyms: Pseudonyms): Generator<RedactedSpan> {
  if (!/[:=]/.test(text)) return;
  for (const { 0: value, index } of text.matchAll(TO_THE_END)) {
    yield { start: index, end: index + value.length, kind: 'token', replacement: MASK };
  }
  for (const { 0: whole, index, groups } of text.matchAll(PAIR)) {
    const { key = '', sign = '', double, single, plain } = groups ?? {};
    const value = double ?? single ?? plain ?? '';
    const row = kindOfKey(key);
    // In a sentence, a person in front of a colon is the speaker.
    if (row === undefined || (row.isEntity && plain !== undefined && sign.includes(':'))) continue;
    if (!/[\p{L}\p{N}]/u.test(value)) continue;
    const start = index + whole.lastIndexOf(value);
    yield {
      start,
      end: start + value.length,
      kind: row.kind,
      replacement: replacedValue(value, row, pseudonyms),
    };
  }
}

/** Replaces a whole value, except the public prefix of an id. An e-mail in it gets the pseudonym that it has everywhere. */
export function replacedValue(value: string, row: PersonalKind, pseudonyms: Pseudonyms): string {
  const prefix = row.kind === 'id' ? publicPrefix(value) : '';
  const replace = (text: string): string => row.replace?.(text, pseudonyms) ?? pseudonyms.alike(text);
  if (row.kind === 'token') return replace(value);
  if (IS_URL.test(value)) return linkFor(value, pseudonyms);
  // One number in ten has the check digit of a card by chance.
  const isCard = row === CARD || row.kind === 'bank';
  const found = [...formatSpans(value, pseudonyms)].filter(({ kind }) => isCard || kind !== 'card');
  const spans = withoutOverlap(found);
  if (spans.length === 0) return prefix + replace(value.slice(prefix.length));
  return withSpans(value, spans, replace);
}

const IS_NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?$/;

/** Replaces a number of JSON, so that it stays one. Undefined if the pseudonym of a known value is none. */
export function replacedNumber(
  raw: string,
  found: PersonalKind | RedactedSpan | undefined,
  pseudonyms: Pseudonyms,
): string | undefined {
  if (found === undefined) return undefined;
  if ('replacement' in found) {
    const isNumber = found.end === raw.length && IS_NUMBER.test(found.replacement);
    return isNumber ? raw.slice(0, found.start) + found.replacement : undefined;
  }
  const made = replacedValue(raw, found, pseudonyms).replace(/^0+(?=\d)/, '');
  return IS_NUMBER.test(made) ? made : raw.replace(/^[^eE]+/, (digits) => pseudonyms.alike(digits));
}

/** Sorts spans by their start and leaves out those that overlap an earlier one. Of those with one start, the longest counts. */
export function withoutOverlap(spans: readonly RedactedSpan[]): readonly RedactedSpan[] {
  let end = 0;
  return spans
    .toSorted((one, other) => one.start - other.start || other.end - one.end)
    .filter((span) => {
      const isFree = span.start >= end;
      if (isFree) end = span.end;
      return isFree;
    });
}

/** Replaces the spans of a text, and passes each part between them through `between`. */
export function withSpans(
  text: string,
  spans: readonly RedactedSpan[],
  between: (part: string) => string = (part) => part,
): string {
  let [redacted, end] = ['', 0];
  for (const span of spans) {
    redacted += between(text.slice(end, span.start)) + span.replacement;
    end = span.end;
  }
  return redacted + between(text.slice(end));
}
