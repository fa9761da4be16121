import { parseJsonOrUndefined } from '../../message/json/batch-document.ts';
import { isSecretParameter, MASK, redactUrl } from '../../redact.ts';
import { RequestRejection } from '../import/imported.ts';
import { formKeys, recoded, reencoded } from './encodings.ts';
import { jsonTokens, type JsonPlace, type JsonToken } from './json-tokens.ts';
import { CARD, isCardNumber } from './format-kinds.ts';
import { KnownValues, type RedactedSpan } from './known-values.ts';
import { linkFor } from './kinds.ts';
import type { PersonalKind } from './personal-kind.ts';
import type { Pseudonyms } from './pseudonyms.ts';
import { RedactionTally } from './redaction-tally.ts';
import {
  fieldOfPath,
  fieldOfPlace,
  isAt,
  hasVersions,
  isFreeText,
  kindOfField,
  type RedactedField,
} from './redacted-field.ts';
import { encodedSpans, formatSpans, withoutOverlap, withSpans } from './spans.ts';

const IS_NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?$/;

export interface RedactionRules {
  /** Patterns of paths (`pathPattern`) whose values stay as they are. */
  readonly keep: readonly RegExp[];
  /** Patterns of paths whose values are removed. */
  readonly drop: readonly RegExp[];
}

const USERINFO = /^([a-z][a-z0-9+.-]*:\/\/)[^/?#\s]*@/i;
/** Deepest nesting of texts in texts. A URL in a URL in a text takes six levels. */
const MOST_DEPTH = 24;
/** A path or URL with a query, or a query alone. */
const WITH_QUERY = /^[^\s?=]*\?[^\s=?&]+=\S*$/;
const FORM = /^[^\s=&?/]+=[^\s&]*(?:&[^\s=&]+=[^\s&]*)+$/;

/** Redacts one request, and counts what it replaces. */
export class Redaction {
  readonly tally = new RedactionTally();
  /** Values of all messages of the body, for the URL and the headers. */
  readonly known = new KnownValues();
  readonly #pseudonyms: Pseudonyms;
  readonly #rules: RedactionRules;
  #depth = 0;

  constructor(pseudonyms: Pseudonyms, rules: RedactionRules) {
    this.#pseudonyms = pseudonyms;
    this.#rules = rules;
  }

  /** Redacts a text that is JSON. What is not replaced keeps its bytes. `around` is the field whose value the text is. */
  json(text: string, around?: Pick<RedactedField, 'path' | 'known'>): string {
    const tokens = jsonTokens(text);
    const ofMessages = new Map<JsonPlace, KnownValues>();
    const fieldOf = ({ place }: JsonToken): RedactedField => {
      const known = around?.known ?? ofMessages.get(place.message) ?? new KnownValues();
      ofMessages.set(place.message, known);
      return fieldOfPlace(place, around?.path ?? [], known);
    };
    for (const token of tokens) this.#learn(token, text, fieldOf(token));
    const parts: string[] = [];
    let end = 0;
    for (const token of tokens) {
      parts.push(
        text.slice(end, token.start),
        this.#token(token, text.slice(token.start, token.end), fieldOf(token)),
      );
      end = token.end;
    }
    return parts.join('') + text.slice(end);
  }

  /** Whether --drop removes the value at a path. Counts it. */
  isDropped(path: readonly string[]): boolean {
    const isDropped = isAt(this.#rules.drop, path);
    if (isDropped) this.tally.count('dropped');
    return isDropped;
  }

  get drops(): boolean {
    return this.#rules.drop.length > 0;
  }

  /** Redacts the value of a header. */
  header(name: string, value: string): string {
    return this.#value(value, fieldOfPath([name], this.known));
  }

  /**
   * Redacts what the formats and the known values find in a text: its URLs; then known e-mails, because the formats would take
   * `order-` in front of one for a part of it; then the rest. With `isPlain`, four numbers with dots are no address.
   */
  text(text: string, known = this.known, isPlain = false): string {
    const inRest = (rest: string): readonly RedactedSpan[] => {
      const found = [...known.spansIn(rest), ...formatSpans(rest, this.#pseudonyms)];
      return isPlain ? found.filter(({ kind }) => kind !== 'ip') : found;
    };
    return this.#nested(() =>
      this.#replaced(
        text,
        encodedSpans(text, { url: (url) => this.url(url, known), text: (plain) => this.text(plain, known) }),
        (outside) =>
          this.#replaced(outside, known.spansIn(outside, true), (rest) => this.#replaced(rest, inRest(rest))),
      ),
    );
  }

  #replaced(text: string, spans: Iterable<RedactedSpan>, between?: (part: string) => string): string {
    const own = withoutOverlap([...spans]);
    for (const { kind } of own) if (kind !== '') this.tally.count(kind);
    return withSpans(text, own, between);
  }

  /** Redacts a URL or target: its userinfo, its path, its query. Secrets in it are masked, as in every capture. */
  url(text: string, known = this.known): string {
    const plain = text.replace(USERINFO, `$1${MASK}@`);
    const [, start = '', query = '', fragment = ''] = /^([^?#]*)(\?[^#]*)?(#.*)?$/s.exec(plain) ?? [];
    const ofUrl = { known, isQuery: true };
    const part = (each: string): string => reencoded(each, (decoded) => this.text(decoded, known));
    const [mark, anchor] = [fragment.slice(0, 1), fragment.slice(1)];
    const redacted = [
      start.split('/').map(part).join('/'),
      query.slice(0, 1) + this.form(query.slice(1), ofUrl),
      mark + (anchor.includes('=') ? this.form(anchor, ofUrl) : part(anchor)),
    ].join('');
    const masked = redactUrl(redacted);
    if (plain !== text || masked !== redacted) this.tally.count('token');
    return masked;
  }

  /** Redacts `name=value&…`. */
  form(text: string, { known = this.known, isQuery = false, path = [] }: FormOptions = {}): string {
    const pairs = text.split('&').filter((pair) => isQuery || !this.isDropped([...path, ...formKeys(pair)]));
    return pairs.map((pair) => this.#pair(pair, { known, isQuery, path })).join('&');
  }

  #pair(pair: string, { known, isQuery, path }: Required<FormOptions>): string {
    const [name = '', ...rest] = pair.split('=');
    if (rest.length === 0) return reencoded(pair, (plain) => this.text(plain, known));
    const shownName = reencoded(name, (plain) => this.text(plain, known));
    const raw = rest.join('=');
    if (isQuery && isSecretParameter(name) && raw !== '' && raw !== MASK) {
      this.tally.count('token');
      return `${shownName}=${MASK}`;
    }
    const field = fieldOfPath([...path, ...formKeys(pair)], known);
    return `${shownName}=${reencoded(raw, (plain) => this.#value(plain, field), true)}`;
  }

  /** Remembers the value of a key that identifies a person. */
  #learn({ kind, start, end }: JsonToken, text: string, field: RedactedField): void {
    const row = kind === 'key' || this.#isKept(field) ? undefined : kindOfField(field);
    if (row?.spreads === undefined) return;
    const value = String(JSON.parse(text.slice(start, end)));
    for (const known of new Set([field.known, this.known])) {
      known.add(value, row, () => this.#byKey(value, row));
      const words = row.kind === 'name' ? value.split(/\s+/) : [];
      if (words.length < 2 || words.length > 4) continue;
      for (const word of words) known.add(word, row, () => this.#pseudonyms.alike(word));
    }
  }

  #token({ kind }: JsonToken, raw: string, field: RedactedField): string {
    if (kind === 'number') return this.#number(raw, field);
    const value = JSON.parse(raw) as string; // the token is a string of JSON
    const redacted = kind === 'key' ? this.text(value, field.known) : this.#value(value, field);
    return redacted === value ? raw : JSON.stringify(redacted);
  }

  #number(raw: string, field: RedactedField): string {
    if (this.#isKept(field)) return raw;
    const row = kindOfField(field) ?? (isCardNumber(raw) ? CARD : undefined);
    const [known] = field.known.spansIn(raw);
    if (row === undefined) {
      if (known?.end !== raw.length || !IS_NUMBER.test(known.replacement)) return raw;
      this.tally.count(known.kind);
      return known.replacement;
    }
    this.tally.count(row.kind);
    const made = this.#byKey(raw, row);
    return IS_NUMBER.test(made) ? made : raw.replace(/^[^eE]+/, (digits) => this.#pseudonyms.alike(digits));
  }

  #value(value: string, field: RedactedField): string {
    if (this.#isKept(field) || !/[\p{L}\p{N}]/u.test(value)) return value;
    if (/^\s*[[{]/.test(value) && parseJsonOrUndefined(value) !== undefined) {
      return this.#nested(() => this.json(value, field));
    }
    const row = kindOfField(field);
    if (row === undefined) return this.#nested(() => this.#looseText(value, field));
    this.tally.count(row.kind);
    return this.#byKey(value, row);
  }

  /** Replaces a whole value. An e-mail in it gets the pseudonym that it has everywhere. */
  #byKey(value: string, row: PersonalKind): string {
    const replace = (text: string): string =>
      row.replace?.(text, this.#pseudonyms) ?? this.#pseudonyms.alike(text);
    if (row.kind === 'token') return replace(value);
    if (/^https?:\/\//i.test(value)) return linkFor(value, this.#pseudonyms);
    // One number in ten has the check digit of a card by chance.
    const isCard = row === CARD || row.kind === 'bank';
    const found = [...formatSpans(value, this.#pseudonyms)].filter(({ kind }) => isCard || kind !== 'card');
    const spans = withoutOverlap(found);
    if (spans.length === 0) return replace(value);
    return withSpans(value, spans, (part) => this.#pseudonyms.alike(part));
  }

  #looseText(value: string, field: RedactedField): string {
    const { known } = field;
    if (WITH_QUERY.test(value)) return this.url(value, known);
    if (FORM.test(value)) return this.form(value, { known, path: field.path });
    const inside = recoded(value, (plain) => this.#value(plain, field));
    if (inside !== value) return inside;
    if (isFreeText(value, field)) this.#review(field);
    return this.text(value, known, hasVersions(field));
  }

  /** Limits texts in texts, such as URLs in URLs, which could take quadratic time. */
  #nested<T>(redact: () => T): T {
    if (this.#depth >= MOST_DEPTH) throw new RequestRejection('its texts are nested too deep');
    this.#depth++;
    try {
      return redact();
    } finally {
      this.#depth--;
    }
  }

  #isKept(field: RedactedField): boolean {
    const { keep } = this.#rules;
    return keep.length > 0 && (isAt(keep, field.path) || isAt(keep, field.inMessage));
  }

  #review({ inMessage, known }: RedactedField): void {
    const quiet = new Redaction(this.#pseudonyms, this.#rules);
    const keys = inMessage.map((key) => (/^\d+$/.test(key) ? '*' : quiet.text(key, known)));
    const path = keys.join('.');
    this.tally.addReview(path);
  }
}

interface FormOptions {
  readonly known?: KnownValues;
  /** Whether secrets are masked by their name, as in the query of a URL. @default false */
  readonly isQuery?: boolean;
  readonly path?: readonly string[];
}
