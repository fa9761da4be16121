import { isSecretParameter, MASK, redactUrl } from '../../redact.ts';
import { RequestRejection } from '../import/imported.ts';
import {
  changedUrl,
  FORM,
  IS_ADDRESS,
  isJsonText,
  recoded,
  reencoded,
  TARGET,
  withoutUrlSecrets,
} from './encodings.ts';
import { formFields, placeOfPath } from './form-fields.ts';
import { JsonPlace, jsonTokens, tokenValue, type JsonToken } from './json-tokens.ts';
import { DISPLAY_NAME } from './kinds.ts';
import { KnownValues, type RedactedSpan } from './known-values.ts';
import type { PersonalKind } from './personal-kind.ts';
import type { Pseudonyms } from './pseudonyms.ts';
import {
  isAt,
  kindInPath,
  kindOfMapKey,
  isFixed,
  isFreeText,
  kindOfNumber,
  kindOfValue,
  knownNumber,
  seemingKinds,
  type RedactedField,
  type RedactionRules,
} from './redacted-field.ts';
import { RedactionTally } from './redaction-tally.ts';
import {
  encodedSpans,
  formatSpans,
  IS_URL,
  pairSpans,
  replacedNumber,
  replacedValue,
  withoutOverlap,
  withSpans,
} from './spans.ts';

/** Deepest nesting of texts in texts. A URL in a URL in a text takes six levels. */
const MOST_DEPTH = 24;

/** Redacts one request, and counts what it replaces. */
export class Redaction {
  readonly tally = new RedactionTally();
  /** Values of all messages of the body, for the URL and the headers. */
  readonly known = new KnownValues();
  /** Name of the event in a header, such as `customers/update`. */
  topic: string | undefined;
  readonly drops: boolean;
  readonly #pseudonyms: Pseudonyms;
  readonly #rules: RedactionRules;
  #depth = 0;

  constructor(pseudonyms: Pseudonyms, rules: RedactionRules) {
    this.#pseudonyms = pseudonyms;
    this.#rules = rules;
    this.drops = rules.drop.length > 0;
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
    const learned = around === undefined ? tokens : [];
    for (const token of learned) this.#learn(tokenValue(token, text), fieldOf(token));
    const spans = tokens.map((token) => {
      const raw = text.slice(token.start, token.end);
      return { ...token, replacement: this.#token(token, raw, fieldOf(token)) };
    });
    return withSpans(text, spans);
  }

  /** Whether --drop removes a value. Counts it. */
  isDropped(place: JsonPlace): boolean {
    const isDropped = isAt(this.#rules, 'drop', place);
    if (isDropped) this.tally.count('dropped');
    return isDropped;
  }

  /** Redacts the value of a header. */
  header(name: string, value: string): string {
    return this.#value(value, { place: placeOfPath(['headers', name]), known: this.known });
  }

  /**
   * Redacts what the formats, the known values and its pairs of keys and values show in a text: its URLs; then known e-mails,
   * because the formats would take `order-` in front of one for a part of it; then the rest, without the kinds `seeming`.
   */
  text(text: string, known = this.known, seeming: readonly string[] = []): string {
    const inRest = (rest: string): readonly RedactedSpan[] => {
      const byRule = [...pairSpans(rest, this.#pseudonyms), ...formatSpans(rest, this.#pseudonyms)];
      return [...known.spansIn(rest), ...byRule].filter(({ kind }) => !seeming.includes(kind));
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
    const redacted = changedUrl(plain, {
      form: (form) => this.form(form, known, true),
      part: (part, before) => {
        const row = kindInPath(before, part);
        const seeming = before === '//' ? ['name'] : [];
        return row === undefined ? this.text(part, known, seeming) : this.#whole(part, row);
      },
    });
    const masked = IS_ADDRESS.test(redacted) ? redacted : redactUrl(redacted);
    if (plain !== text || masked !== redacted) this.tally.count('token');
    return masked;
  }

  /** Redacts `name=value&…`. In the query of a URL, secrets are masked by their name. */
  form(text: string, known = this.known, isQuery = false, path: readonly string[] = []): string {
    const fields = formFields(text, { isQuery, path })
      .filter(({ place }) => isQuery || !this.isDropped(place))
      .map((each) => ({ ...each, known }));
    for (const field of fields) this.#learn(field.value, field);
    return fields.map((field) => this.#pair(field.pair, field, isQuery)).join('&');
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
    if (isAt(this.#rules, 'keep', field.place)) return;
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
    const replace = (found: string): string => replacedValue(found, row, this.#pseudonyms);
    for (const known of new Set([field.known, this.known])) known.add(value, row, replace);
  }

  #token({ kind }: JsonToken, raw: string, field: RedactedField): string {
    if (kind === 'number') return this.#number(raw, field);
    const value = JSON.parse(raw) as string; // the token is a string of JSON
    const redacted = kind === 'key' ? this.#key(value, field) : this.#value(value, field);
    return redacted === value ? raw : JSON.stringify(redacted);
  }

  /** Redacts a key. Keeps a plain word: it names a field, even if it is also a person's name. With a digit, it can be an id. */
  #key(key: string, { place, known }: RedactedField): string {
    if (/^[A-Za-z_$][A-Za-z_$-]*$/.test(key)) return key;
    const row = kindOfMapKey(place);
    return row === undefined ? this.text(key, known, /\s/.test(key) ? [] : ['name']) : this.#whole(key, row);
  }

  #number(raw: string, field: RedactedField): string {
    if (isAt(this.#rules, 'keep', field.place)) return raw;
    const found = kindOfNumber(field.place, raw) ?? knownNumber(field, raw);
    const made = replacedNumber(raw, found, this.#pseudonyms);
    if (made !== undefined) this.tally.count(found?.kind ?? '');
    return made ?? raw;
  }

  #value(value: string, field: RedactedField): string {
    if (isAt(this.#rules, 'keep', field.place) || !/[\p{L}\p{N}]/u.test(value)) return value;
    if (isJsonText(value)) return this.#nested(() => this.json(value, field));
    const row = kindOfValue(field.place, value);
    const isLink = IS_URL.test(value) && row?.replace === undefined;
    const loose = row === undefined || isLink ? this.#nested(() => this.#looseText(value, field)) : value;
    return row === undefined || loose !== value ? loose : this.#whole(value, row);
  }

  #whole(value: string, row: PersonalKind): string {
    this.tally.count(row.kind);
    return replacedValue(value, row, this.#pseudonyms);
  }

  #looseText(value: string, field: RedactedField): string {
    const known = isFixed(field.place) ? new KnownValues() : field.known;
    if (TARGET.test(value)) return this.url(value, known);
    if (FORM.test(value)) return this.form(value, known, false, field.place.path);
    const inside = recoded(value, (plain) => this.#value(plain, field));
    if (inside !== value) return inside;
    if (isFreeText(value, field.place)) this.#review(field);
    return this.text(value, known, seemingKinds(field.place, value));
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

  #review({ place, known }: RedactedField): void {
    const quiet = new Redaction(this.#pseudonyms, this.#rules);
    const keyOf = (key: string): string => (/^\d+$/.test(key) ? '*' : quiet.text(key, known));
    this.tally.addReview(place.inMessage.map(keyOf).join('.'));
  }
}
