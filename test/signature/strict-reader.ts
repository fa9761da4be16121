/**
 * Reads JSON differently from JavaScript: the first of equal keys wins, numbers keep every digit, strings keep their bytes.
 * Returns a text that is equal for bodies that such a reader reads alike. Throws if the body is not JSON.
 */
export function readingOf(body: Uint8Array): string {
  const reader = new StrictReader(
    Buffer.from(body)
      .toString('latin1')
      .replace(/^\xef\xbb\xbf/, ''),
  );
  return reader.whole();
}

const SHORT_ESCAPES: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' };

class StrictReader {
  /** One character per byte. */
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  whole(): string {
    const reading = this.#value();
    this.#take(/\s*/y);
    if (this.#at < this.#text.length) throw new Error(`something follows at ${this.#at}`);
    return reading;
  }

  #value(): string {
    this.#take(/[ \t\r\n]*/y);
    if (this.#text[this.#at] === '"') return `text ${this.#string()}`;
    if (this.#is('[')) return `[${this.#list(']', () => this.#value()).join()}]`;
    if (this.#is('{')) return this.#object();
    const word = this.#take(/true|false|null/y);
    return word === '' ? exactDecimal(this.#take(/-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y)) : word;
  }

  #object(): string {
    const members = new Map<string, string>();
    for (const [key, value] of this.#list('}', () => this.#member())) {
      if (!members.has(key)) members.set(key, value);
    }
    const sorted = [...members].map(([key, value]) => `${key}:${value}`).toSorted();
    return `{${sorted.join()}}`;
  }

  #member(): [key: string, value: string] {
    this.#take(/[ \t\r\n]*/y);
    const key = this.#string();
    this.#take(/[ \t\r\n]*/y);
    if (!this.#is(':')) throw new Error(`no colon at ${this.#at}`);
    return [key, this.#value()];
  }

  #list<Item>(end: string, read: () => Item): Item[] {
    const items: Item[] = [];
    this.#take(/[ \t\r\n]*/y);
    if (this.#is(end)) return items;
    do {
      items.push(read());
      this.#take(/[ \t\r\n]*/y);
    } while (this.#is(','));
    if (!this.#is(end)) throw new Error(`no ${end} at ${this.#at}`);
    return items;
  }

  /** The bytes of a string in hex, without its escapes. */
  #string(): string {
    // eslint-disable-next-line no-control-regex -- matches the characters that JSON forbids in strings
    const literal = this.#take(/"(?:[^"\\\0-\x1f]|\\(?:["\\/bfnrt]|u[\da-fA-F]{4}))*"/y);
    if (literal === '') throw new Error(`no string at ${this.#at}`);
    const bytes = literal
      .slice(1, -1)
      .replaceAll(/\\u(d[89ab]..)\\u(d[c-f]..)|\\u(....)|\\(.)/gis, unescaped);
    return Buffer.from(bytes, 'latin1').toString('hex');
  }

  #is(character: string): boolean {
    if (this.#text[this.#at] !== character) return false;
    this.#at++;
    return true;
  }

  #take(pattern: RegExp): string {
    pattern.lastIndex = this.#at;
    const [text = ''] = pattern.exec(this.#text) ?? [];
    this.#at += text.length;
    return text;
  }
}

/** The UTF-8 of an escape, one character per byte. A lone surrogate has no UTF-8: other readers replace it. */
function unescaped(_: string, high?: string, low?: string, unit?: string, short = ''): string {
  const units = [high, low, unit].filter((each) => each !== undefined).map((each) => parseInt(each, 16));
  const character = units.length === 0 ? (SHORT_ESCAPES[short] ?? short) : String.fromCharCode(...units);
  return Buffer.from(character).toString('latin1');
}

/** Digits and a power of ten as a text that is equal for equal values. */
function exactDecimal(token: string): string {
  const [, sign = '', whole = '', fraction = '', power = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(token) ?? [];
  if (whole === '') throw new Error('no value');
  const digits = (whole + fraction).replace(/^0+/, '');
  const kept = digits.replace(/0+$/, '');
  if (kept === '') return 'number 0';
  return `number ${sign}${kept}e${BigInt(power) - BigInt(fraction.length) + BigInt(digits.length - kept.length)}`;
}
