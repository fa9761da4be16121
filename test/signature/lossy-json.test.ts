import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { verify, Verifier } from '../../src/app/explained.ts';
import type { VerifyOptions, VerifyResult } from '../../src/signature/verify-options.ts';
import { LARGEST_STRINGIFIED_BODY } from '../../src/signature/signature-verifier.ts';
import { randomFrom } from '../random.ts';
import { readingOf } from './strict-reader.ts';

const secret = 'hooks-fixture-secret';
const hmac = (body: string | Uint8Array): string => createHmac('sha1', secret).update(body).digest('hex');

type Verify = (body: Uint8Array, options: VerifyOptions) => VerifyResult;

const WAYS: readonly (readonly [name: string, run: Verify])[] = [
  ['verify', (body, options) => verify({ body, ...options })],
  ['verify with a diagnosis', (body, options) => verify({ body, ...options, diagnose: true })],
  ['Verifier', (body, options) => new Verifier(options).update(body).finish()],
];

/** Each body is verified with the signature of its JSON-stringified form. */
const LOSSY: readonly (readonly [body: string | Buffer, signed: string, loss: string])[] = [
  [
    '{"userId":"attacker","userId":"victim"}',
    '{"userId":"victim"}',
    'Expected each key once, got `userId` twice',
  ],
  [
    '{"traits":{"plans":[{"é":1,"\\u00e9":2}]}}',
    '{"traits":{"plans":[{"é":2}]}}',
    'Expected each key once, got `traits.plans[0]["é"]` twice',
  ],
  [
    '{"id":12345678901234567890}',
    '{"id":12345678901234567000}',
    'got 12345678901234567890, which would become 12345678901234567000',
  ],
  ['{"total":1e999}', '{"total":null}', 'at `total`, got 1e999, which would become Infinity'],
  ['{"total":1e-999}', '{"total":0}', 'at `total`, got 1e-999, which would become 0'],
  ['{"a":"\\uD800"}', '{"a":"\\ud800"}', 'got half of a surrogate pair, `\\ud800`'],
  ['{"a\\\\\\uDFFF":1}', '{"a\\\\\\udfff":1}', 'got half of a surrogate pair, `\\udfff`'],
  [
    Buffer.from('{"a": "caf\xe9"}', 'latin1'),
    '{"a":"caf\ufffd"}',
    'Expected UTF-8, got the byte 0xe9 at offset 10',
  ],
];

describe('a body from which parsing loses something', () => {
  describe.each(WAYS)('by %s', (_name, run) => {
    it.each(LOSSY)('does not match over its stringified form: %s', (body, signed, loss) => {
      const options = { signature: hmac(signed), secrets: [secret] };
      expect(run(Buffer.from(body), options)).toEqual({
        valid: false,
        diagnosis: {
          code: 'lossy-json',
          codes: ['lossy-json'],
          confidence: 'proved',
          hint: expect.stringContaining(loss) as string,
        },
      });
    });

    it.each(LOSSY)('matches over its bytes: %s', (body) => {
      const options = { signature: hmac(body), secrets: [secret] };
      expect(run(Buffer.from(body), options)).toEqual({ valid: true, secret: 1, over: 'bytes' });
    });

    it.each([
      '{"a": 1.0}',
      '{"a":1e2}',
      '{"a":-0}',
      '{"a":"\\uD83D\\uDE00"}',
      '{"b":1,"1":2}',
      '{"a":"\\\\ud800" }',
    ])('matches over its stringified form if only the spelling changes: %s', (body) => {
      const signature = hmac(JSON.stringify(JSON.parse(body)));
      expect(run(Buffer.from(body), { signature, secrets: [secret] })).toMatchObject({ valid: true });
    });
  });

  it.each(LOSSY)('is diagnosed with `exact` too: %s', (body, signed) => {
    const options = { body: Buffer.from(body), signature: hmac(signed), secrets: [secret], exact: true };
    expect(verify(options)).toEqual({ valid: false });
    const isText = typeof body === 'string';
    const code = isText ? 'lossy-json' : expect.any(String);
    expect(verify({ ...options, diagnose: true })).toMatchObject({ diagnosis: { code } });
  });

  it.each([
    ['[{"userId":"attacker","userId":"victim"},{}]', '{"userId":"victim"}'],
    ['{"id":12345678901234567890}', '{"id":12345678901234567000}'],
    ['[{"total":1e999}]', '{"total":null}'],
  ])('does not match over its first item: %s', (body, item) => {
    const options = { signature: hmac(item), secrets: [secret], scheme: 'segment-batch' };
    expect(verify({ body, ...options })).toMatchObject({ valid: false, diagnosis: { code: 'lossy-json' } });
    expect(verify({ body: `[${item}]`, ...options }).valid).toBe(true);
  });

  it('is a mismatch even if another scheme matches', () => {
    const body = '{"userId":"attacker","userId":"victim"}';
    const github = createHmac('sha256', secret).update(body).digest('hex');
    const headers = { 'x-signature': hmac('{"userId":"victim"}'), 'x-hub-signature-256': `sha256=${github}` };
    for (const scheme of ['segment,github', 'github,segment']) {
      expect(verify({ body, headers, scheme, secrets: [secret] })).toMatchObject({
        valid: false,
        diagnosis: { code: 'lossy-json' },
      });
    }
  });

  it('is reported only if the signature matches', () => {
    const body = '{"userId":"attacker","userId":"victim"}';
    expect(verify({ body, signature: hmac('x'), secrets: [secret] })).toEqual({ valid: false });
    const large = `${body}${' '.repeat(LARGEST_STRINGIFIED_BODY)}`;
    expect(verify({ body: large, signature: hmac('{"userId":"victim"}'), secrets: [secret] })).toEqual({
      valid: false,
    });
  });

  it('has a short sentence for any keys', () => {
    const key = JSON.stringify('k\n\u202e'.repeat(10_000));
    const verdict = verify({ body: `{${key}:1,${key}:2}`, signature: hmac(`{${key}:2}`), secrets: [secret] });
    expect(verdict).toMatchObject({ diagnosis: { code: 'lossy-json' } });
    const hint = verdict.valid ? '' : verdict.diagnosis?.hint;
    expect(hint?.length).toBeLessThan(1_000);
    expect(hint).not.toMatch(/[\n\u202e]/);
  });
});

/** Writes random values, each in a random spelling; with `isHostile`, also JSON on which parsers disagree. */
class BodyWriter {
  readonly #random: () => number;
  readonly #isHostile: boolean;

  constructor(random: () => number, isHostile: boolean) {
    this.#random = random;
    this.#isHostile = isHostile;
  }

  value(depth = 3): string {
    const kind = this.#below(depth === 0 ? 4 : 7);
    if (kind < 2) return this.#number();
    if (kind === 2) return this.#string();
    if (kind === 3) return this.#one(['null', 'true', 'false', '""', '[]', '{ }']);
    const items = Array.from({ length: this.#below(5) }, () => this.value(depth - 1));
    if (kind === 4) return this.#spaced(`[${items.map((item) => this.#spaced(item)).join()}]`);
    return this.#spaced(`{${this.#members(items).join()}}`);
  }

  #members(values: readonly string[]): string[] {
    const keys = ['userId', 'a', 'é', '__proto__', '1', ''].map((key) => JSON.stringify(key));
    const members = values.map(
      (value, index) => `${this.#respelled(keys[index] ?? '')}${this.#spaced(':')}${value}`,
    );
    if (this.#isHostile && this.#below(4) === 0) {
      const again = `${this.#respelled(keys[this.#below(values.length + 1)] ?? '')}:${this.value(0)}`;
      members.splice(this.#below(members.length + 1), 0, again);
    }
    return members;
  }

  #number(): string {
    const sign = this.#one(['', '', '-']);
    const safe = this.#one([
      '0',
      '1',
      '20',
      '0.1',
      '12345678901234567000',
      '1e21',
      '5E-7',
      '100',
      '3.0',
      '10e-1',
    ]);
    const lossy = ['12345678901234567890', '1e999', '0.10000000000000000001', '9007199254740993', '1e-999'];
    return sign + (this.#isHostile && this.#below(4) === 0 ? this.#one(lossy) : safe);
  }

  #string(): string {
    const text = this.#respelled(
      JSON.stringify(this.#one(['victim', 'é/🍰', '\ufffd', '\u2028"\\', '\u0000'])),
    );
    if (!this.#isHostile || this.#below(4) > 0) return text;
    return `${text.slice(0, -1)}${this.#one(['\\ud800', '\\uDFFF', '\xff', '\xe2\x82'])}"`;
  }

  /** Writes some characters of a literal as escapes. Writes bytes of UTF-8 as Latin-1, which `body` reads. */
  #respelled(literal: string): string {
    const parts = literal.slice(1, -1).match(/\\u....|\\.|[^\\]/gsu) ?? [];
    const written = parts.map((part) => {
      if (part.startsWith('\\') || this.#below(4) > 0) return Buffer.from(part).toString('latin1');
      const units = Array.from({ length: part.length }, (_, at) => part.charCodeAt(at));
      return units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('');
    });
    return `"${written.join('')}"`;
  }

  #spaced(text: string): string {
    return this.#one(['', '', ' ', '\n']) + text + this.#one(['', '', '\t']);
  }

  #one(texts: readonly string[]): string {
    return texts[this.#below(texts.length)] ?? '';
  }

  #below(end: number): number {
    return Math.floor(this.#random() * end);
  }
}

/** Copies, drops or replaces some bytes. */
function mutated(text: string, random: () => number): string {
  const [from, to, at] = [random(), random(), random()].map((share) => Math.floor(share * text.length));
  const part = text.slice(from, to);
  const middle = [part, '', part.replaceAll(/\d/g, '9'), part.toUpperCase()][Math.floor(random() * 4)] ?? '';
  return text.slice(0, at) + middle + text.slice(at === undefined ? 0 : at + Math.floor(random() * 4));
}

/** The JSON-stringified form of a body; undefined if the body is not JSON. */
function stringifiedOf(body: Buffer): string | undefined {
  try {
    return JSON.stringify(JSON.parse(body.toString()));
  } catch {
    return undefined;
  }
}

describe('of 20,000 bodies signed in their stringified form', () => {
  it('none matches if another JSON parser reads it differently', () => {
    const random = randomFrom(29);
    const counts = { valid: 0, 'lossy-json': 0, misread: 0 };
    for (let run = 0; run < 20_000; run++) {
      const text = new BodyWriter(random, true).value();
      const body = Buffer.from(run % 2 === 0 ? text : mutated(text, random), 'latin1');
      const signed = stringifiedOf(body);
      if (signed === undefined) continue;
      const verdict = verify({ body, signature: hmac(signed), secrets: [secret] });
      const isMisread = readingOf(body) !== readingOf(Buffer.from(signed));
      if (isMisread) counts.misread++;
      if (isMisread || !verdict.valid) {
        expect(verdict, body.toString('latin1')).toMatchObject({ diagnosis: { code: 'lossy-json' } });
      }
      counts[verdict.valid ? 'valid' : 'lossy-json']++;
    }
    // Each kind is frequent enough for the test to mean something.
    for (const count of Object.values(counts)) expect(count).toBeGreaterThan(1_000);
  });

  it('all match that differ only in spelling', () => {
    const random = randomFrom(30);
    for (let run = 0; run < 20_000; run++) {
      const body = Buffer.from(new BodyWriter(random, false).value(), 'latin1');
      const signed = stringifiedOf(body) ?? '';
      const verdict = verify({ body, signature: hmac(signed), secrets: [secret] });
      expect(verdict.valid, body.toString('latin1')).toBe(true);
      expect(readingOf(body)).toBe(readingOf(Buffer.from(signed)));
    }
  });
});
