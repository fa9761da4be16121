import { isSecretParameter, MASK, redactUrl } from '../../redact.ts';
import { RequestRejection } from '../import/imported.ts';
import {
  formKeys,
  isJsonText,
  decodedText,
  recoded,
  reencoded,
  URL_PARTS,
  withoutUrlSecrets,
} from './encodings.ts';
import { CARD, isCardNumber } from './format-kinds.ts';
import { JsonPlace, jsonTokens, placeOfPath, tokenValue, type JsonToken } from './json-tokens.ts';
import { DISPLAY_NAME } from './kinds.ts';
import { KnownValues, type RedactedSpan } from './known-values.ts';
import type { PersonalKind } from './personal-kind.ts';
import type { Pseudonyms } from './pseudonyms.ts';
import {
  hasVersions,
  isAt,
  kindOfKey,
  isFixed,
  isFreeText,
  kindOfValue,
  type FormOptions,
  type RedactedField,
  type RedactionRules,
} from './redacted-field.ts';
import { RedactionTally } from './redaction-tally.ts';
import {
  encodedSpans,
  formatSpans,
  IS_URL,
  pairSpans,
  replacedValue,
  withoutOverlap,
  withSpans,
} from './spans.ts';

/** Matches what can be an id in a path, and not the name of an action. */
const IS_ID = /^(?!v\d+$|\d{4}-)(?:.*\d|[A-Z]{6,}$)/;
const IS_NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?$/;

/** Deepest nesting of texts in texts. A URL in a URL in a text takes six levels. */
const MOST_DEPTH = 24;
/** A path or URL with a query, or a query alone. */
const WITH_QUERY = /^[^\s?=]*\?[^\s=?&]+=\S*$/;
const PATH = /^(?:\/[^\s/]+){2,}\/?$/;
const FORM = /^[^\s=&?/]+=[^\s&]*(?:&[^\s=&]+=[^\s&]*)+$/;

/** Redacts one request, and counts what it replaces. */
export class Redaction {
  readonly tally = new RedactionTally();
  /** Values of all messages of the body, for the URL and the headers. */
  readonly known = new KnownValues();
  /** Name of the event in a header, such as `customers/update`. */
  topic: string | undefined;
  readonly #pseudonyms: Pseudonyms;
  readonly #rules: RedactionRules;
  #depth = 0;

  constructor(pseudonyms: Pseudonyms, rules: RedactionRules) {
    this.#pseudonyms = pseudonyms;
    this.#rules = rules;
  }

  /** Redacts a text that is JSON. What is not replaced keeps its bytes. `around` is the field whose value the text is. */
  json(text: string, around?: RedactedField): string {
    const outer = around?.place ?? new JsonPlace();
    if (around === undefined) outer.text = this.topic;
    const tokens = jsonTokens(text, outer);
    const ofMessages = new Map<JsonPlace, KnownValues>();
    const fieldOf = ({ place }: JsonToken): RedactedField => {
      const known = around?.known ?? ofMessages.get(place.message) ?? new KnownValues();
      ofMessages.set(place.message, known);
      return { place, known };
    };
    if (around === undefined) {
      for (const token of tokens) this.#learn(tokenValue(token, text), fieldOf(token));
    }
    const redacted = (token: JsonToken): string =>
      this.#token(token, text.slice(token.start, token.end), fieldOf(token));
    const spans = tokens.map((token) => ({ ...token, replacement: redacted(token) }));
    return withSpans(text, spans);
  }

  /** Whether --drop removes the value at a path. Counts it. */
  isDropped(path: readonly string[]): boolean {
    const isDropped = isAt(this.#rules, 'drop', path);
    if (isDropped) this.tally.count('dropped');
    return isDropped;
  }

  get drops(): boolean {
    return this.#rules.drop.length > 0;
  }

  /** Redacts the value of a header. */
  header(name: string, value: string): string {
    return this.#value(value, { place: placeOfPath([name]), known: this.known });
  }

  /**
   * Redacts what the formats, the known values and its pairs of keys and values show in a text: its URLs; then known e-mails,
   * because the formats would take `order-` in front of one for a part of it; then the rest. With `isPlain`, four numbers with
   * dots are no address.
   */
  text(text: string, known = this.known, isPlain = false): string {
    const inRest = (rest: string): readonly RedactedSpan[] => {
      const byRule = [...pairSpans(rest, this.#pseudonyms), ...formatSpans(rest, this.#pseudonyms)];
      const found = [...known.spansIn(rest), ...byRule];
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
    const plain = withoutUrlSecrets(text);
    const [, scheme = '', host = '', start = '', query = '', fragment = ''] = URL_PARTS.exec(plain) ?? [];
    const ofUrl = { known, isQuery: true };
    // Behind a word for a person, a path has an id: `/users/1234`.
    const part = (each: string, at = 0, parts: readonly string[] = []): string => {
      const row = at > 0 && each !== '' ? kindOfKey(`${parts[at - 1]} id`) : undefined;
      return reencoded(each, (decoded) =>
        row?.inPerson && IS_ID.test(decoded) ? this.#replaceAll(decoded, row) : this.text(decoded, known),
      );
    };
    const [mark, anchor] = [fragment.slice(0, 1), fragment.slice(1)];
    const redacted = [
      scheme + this.text(host, known) + start.split('/').map(part).join('/'),
      query.slice(0, 1) + this.form(query.slice(1), ofUrl),
      mark + (anchor.includes('=') ? this.form(anchor, ofUrl) : part(anchor)),
    ].join('');
    const masked = redactUrl(redacted);
    if (plain !== text || masked !== redacted) this.tally.count('token');
    return masked;
  }

  /** Redacts `name=value&…`. */
  form(text: string, { known = this.known, isQuery = false, path = [] }: FormOptions = {}): string {
    const places = new Map<string, JsonPlace>();
    const pairs = text
      .split('&')
      .filter((pair) => isQuery || !this.isDropped([...path, ...formKeys(pair)]))
      .map((pair) => {
        const value = decodedText(pair.slice(pair.indexOf('=') + 1), true) ?? '';
        // In a query, a name with a space is of a person.
        const keys = formKeys(pair).map((key) =>
          isQuery && key === 'name' && /\S \S/.test(value) ? 'fullName' : key,
        );
        return { pair, value, field: { place: placeOfPath([...path, ...keys], value, places), known } };
      });
    const root = places.get('');
    if (isQuery && root !== undefined) root.subject = 'thing';
    for (const { value, field } of pairs) this.#learn(value, field);
    return pairs.map(({ pair, field }) => this.#pair(pair, field, isQuery)).join('&');
  }

  #pair(pair: string, field: RedactedField, isQuery: boolean): string {
    const { known } = field;
    const [name = '', ...rest] = pair.split('=');
    if (rest.length === 0) return reencoded(pair, (plain) => this.text(plain, known));
    const shownName = reencoded(name, (plain) => this.text(plain, known));
    const raw = rest.join('=');
    if (isQuery && isSecretParameter(name) && raw !== '' && raw !== MASK) {
      this.tally.count('token');
      return `${shownName}=${MASK}`;
    }
    return `${shownName}=${reencoded(raw, (plain) => this.#value(plain, field), true)}`;
  }

  /** Remembers the value of a key that identifies a person, and the names in front of e-mails. */
  #learn(value: string, field: RedactedField): void {
    if (this.#isKept(field)) return;
    if (isJsonText(value)) {
      this.#nested(() => {
        for (const token of jsonTokens(value, field.place)) {
          this.#learn(tokenValue(token, value), { place: token.place, known: field.known });
        }
      });
      return;
    }
    for (const [name] of value.matchAll(DISPLAY_NAME.format)) this.#add(name.trim(), DISPLAY_NAME, field);
    recoded(value, (plain) => {
      this.#learn(plain, field);
      return plain;
    });
    const row = kindOfValue(field.place, value);
    if (row?.spreads) this.#add(value, row, field);
  }

  #add(value: string, row: PersonalKind, field: RedactedField): void {
    for (const known of new Set([field.known, this.known])) {
      const words = row.kind === 'name' ? value.split(/\s+/, 5) : [];
      for (const each of [value, ...(words.length > 1 && words.length < 5 ? words : [])]) {
        known.add(each, row, (found) => replacedValue(found, row, this.#pseudonyms));
      }
    }
  }

  #token({ kind }: JsonToken, raw: string, field: RedactedField): string {
    if (kind === 'number') return this.#number(raw, field);
    const value = JSON.parse(raw) as string; // the token is a string of JSON
    const redacted = kind === 'key' ? this.#key(value, field.known) : this.#value(value, field);
    return redacted === value ? raw : JSON.stringify(redacted);
  }

  /** A plain word is the name of a field, even if a person has the same name; with a digit, it can be a known id. */
  #key(key: string, known: KnownValues): string {
    return /^[A-Za-z_$][A-Za-z_$-]*$/.test(key) ? key : this.text(key, known);
  }

  #number(raw: string, field: RedactedField): string {
    if (this.#isKept(field)) return raw;
    const row = kindOfValue(field.place, raw) ?? (isCardNumber(raw) ? CARD : undefined);
    const [known] = field.known.spansIn(raw);
    if (row === undefined) {
      if (known?.end !== raw.length || !IS_NUMBER.test(known.replacement)) return raw;
      this.tally.count(known.kind);
      return raw.slice(0, known.start) + known.replacement;
    }
    this.tally.count(row.kind);
    const made = replacedValue(raw, row, this.#pseudonyms).replace(/^0+(?=\d)/, '');
    return IS_NUMBER.test(made) ? made : raw.replace(/^[^eE]+/, (digits) => this.#pseudonyms.alike(digits));
  }

  #value(value: string, field: RedactedField): string {
    if (this.#isKept(field) || !/[\p{L}\p{N}]/u.test(value)) return value;
    if (isJsonText(value)) return this.#nested(() => this.json(value, field));
    const row = kindOfValue(field.place, value);
    const loose = (): string => this.#nested(() => this.#looseText(value, field));
    if (row === undefined) return loose();
    if (IS_URL.test(value) && row.replace === undefined) {
      const redacted = loose();
      if (redacted !== value) return redacted;
    }
    return this.#replaceAll(value, row);
  }

  #replaceAll(value: string, row: PersonalKind): string {
    this.tally.count(row.kind);
    return replacedValue(value, row, this.#pseudonyms);
  }

  #looseText(value: string, field: RedactedField): string {
    const { place } = field;
    const known = isFixed(place) ? new KnownValues() : field.known;
    if (WITH_QUERY.test(value) || PATH.test(value)) return this.url(value, known);
    if (FORM.test(value)) return this.form(value, { known, path: place.path });
    const inside = recoded(value, (plain) => this.#value(plain, field));
    if (inside !== value) return inside;
    if (isFreeText(value, place)) this.#review(field);
    return this.text(value, known, hasVersions(place));
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

  #isKept({ place }: RedactedField): boolean {
    return isAt(this.#rules, 'keep', place.path) || isAt(this.#rules, 'keep', place.inMessage);
  }

  #review({ place, known }: RedactedField): void {
    const quiet = new Redaction(this.#pseudonyms, this.#rules);
    const keyOf = (key: string): string => (/^\d+$/.test(key) ? '*' : quiet.text(key, known));
    this.tally.addReview(place.inMessage.map(keyOf).join('.'));
  }
}
