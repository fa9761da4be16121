import { gzipSync } from 'node:zlib';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { InputError, ValidationError } from '../../../src/errors.ts';
import { readJson, readJsonString } from '../../../src/message/json/read-json.ts';
import { json } from '../arbitraries.ts';

const read = (text: string): unknown => readJson(Buffer.from(text));

describe('readJson', () => {
  it('returns the value of JSON.parse for any JSON', () => {
    fc.assert(
      fc.property(json, fc.nat(3), (value, space) => {
        const text = JSON.stringify(value, null, space);
        expect(JSON.stringify(read(text))).toBe(JSON.stringify(JSON.parse(text)));
      }),
    );
  });

  it('reads a view into a larger buffer', () => {
    const bytes = new Uint8Array(Buffer.from('xx{"a":[1,12345678901234567]}xx')).subarray(2, -2);
    expect(() => readJson(bytes)).toThrow(ValidationError);
    expect(readJson(new Uint8Array(Buffer.from('xx{"a":"é"}xx')).subarray(2, -2))).toEqual({ a: 'é' });
  });

  it('skips one BOM and rejects a second one', () => {
    expect(read('\ufeff{"a":1}')).toEqual({ a: 1 });
    expect(() => read('\ufeff\ufeff{"a":1}')).toThrow(InputError);
  });

  it.each(['[1.0]', '[-0]', '[1e2]', '[1.50]', '["\\u0041\\/"]', ' [ ] ', '[1e-7]', '[0.1234567890123456]'])(
    'accepts %s, of which only the spelling changes',
    (text) => {
      expect(JSON.stringify(read(text))).toBe(JSON.stringify(JSON.parse(text)));
    },
  );

  it('keeps __proto__ as a plain key', () => {
    const value = read('{"__proto__":{"polluted":true},"a":{"__proto__":1}}');
    expect(JSON.stringify(value)).toBe('{"__proto__":{"polluted":true},"a":{"__proto__":1}}');
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });

  describe('rejects a number that JavaScript cannot represent', () => {
    it.each([
      [
        '{"properties":{"items":[1,2,{},{"price":12345678901234567890}]}}',
        'properties.items[3].price',
        '12345678901234567890',
        '12345678901234567000',
      ],
      ['{"a":1E400}', 'a', '1E400', 'Infinity'],
      ['{"a b":[-1e-400]}', '["a b"][0]', '-1e-400', '0'],
      ['[0.1234567890123456789]', '[0]', '0.1234567890123456789', '0.12345678901234568'],
    ])('%s', (text, path, got, becomes) => {
      expect(() => read(text)).toThrow(
        expect.objectContaining({
          constructor: ValidationError,
          message: `Expected a number that JavaScript can hold at \`${path}\`, got ${got}, which would become ${becomes}`,
          path,
          got,
          hint: `send it as a string: "${got}"`,
        }),
      );
    });

    it('and accepts it inside a string', () => {
      expect(read('{"a":"12345678901234567890","1E400":"1E400"}')).toEqual({
        a: '12345678901234567890',
        '1E400': '1E400',
      });
    });

    it('exactly if its decimal value changes', () => {
      const digits = fc.string({
        unit: fc.constantFrom(...'0123456789'.split('')),
        minLength: 1,
        maxLength: 24,
      });
      const token = fc
        .tuple(fc.constantFrom('', '-'), digits, digits, fc.integer({ min: -320, max: 320 }))
        .map(([sign, whole, fraction, power]) => `${sign}1${whole}.${fraction}e${power}`);
      fc.assert(
        fc.property(token, (text) => {
          const exact = exactly(text) === exactly(String(Number(text)));
          expect(isRejected(`{"a":${text}}`)).toBe(!exact);
        }),
      );
    });
  });

  describe('rejects a duplicate key', () => {
    it.each([
      ['{"a":1,"a":1}', 'a'],
      ['{"traits":{"é":1,"\\u00e9":2}}', 'traits["é"]'],
      ['[{"x":[{"y":{"k":1,"j":2,"k":3}}]}]', '[0].x[0].y.k'],
      ['{"__proto__":1,"__proto__":2}', '__proto__'],
      ['{"a":{"1":1,"1":2}}', 'a.1'],
      ['{"":1,"":2}', '[""]'],
    ])('%s', (text, path) => {
      expect(() => read(text)).toThrow(
        expect.objectContaining({
          constructor: ValidationError,
          message: `Expected each key once, got \`${path}\` twice`,
          path,
        }),
      );
    });

    it('and accepts the same key in two objects, and a colon in a string', () => {
      expect(read('[{"a":":"},{"a":"::\\":"},{"a:":1}]')).toEqual([{ a: ':' }, { a: '::":' }, { 'a:': 1 }]);
    });

    it('at any depth', () => {
      fc.assert(
        fc.property(fc.string(), json, json, (key, first, second) => {
          const member = (value: unknown): string => `${JSON.stringify(key)}:${JSON.stringify(value)}`;
          expect(isRejected(`[[{"other":{},${member(first)},${member(second)}}]]`)).toBe(true);
        }),
      );
    });
  });

  describe('rejects bytes that are not UTF-8', () => {
    it.each([
      ['a lone continuation', [0x22, 0x80, 0x22], 1, '0x80'],
      ['Latin-1', [0x22, 0x4d, 0xfc, 0x6c, 0x22], 2, '0xfc'],
      ['a cut character', [0x22, 0xe2, 0x82], 1, '0xe2'],
      ['an encoded surrogate', [0x22, 0xed, 0xa0, 0x80, 0x22], 1, '0xed'],
      ['an overlong form', [0x22, 0xc0, 0xaf, 0x22], 1, '0xc0'],
    ])('%s', (_, bytes, offset, shown) => {
      expect(() => readJson(Uint8Array.from(bytes), { file: 'a.json' })).toThrow(
        expect.objectContaining({
          constructor: InputError,
          message: `Expected UTF-8, got the byte ${shown} at offset ${offset}`,
          file: 'a.json',
          line: 1,
          column: offset + 1,
        }),
      );
    });

    it.each([
      ['save the file as UTF-8; from Latin-1: iconv -f LATIN1 -t UTF-8 FILE', Buffer.from('"ü"', 'latin1')],
      [
        'save the file as UTF-8; from UTF-16: iconv -f UTF-16 -t UTF-8 FILE',
        Buffer.from('\ufeff{}', 'utf16le'),
      ],
      ['it is gzipped: unpack it first', gzipSync('{}')],
    ])('with the hint: %s', (hint, bytes) => {
      expect(() => readJson(bytes)).toThrow(expect.objectContaining({ hint }));
    });

    it('with the line and the column in characters', () => {
      const bytes = Buffer.concat([Buffer.from('{\n  "ключ": "'), Buffer.from([0xff]), Buffer.from('"}')]);
      expect(() => readJson(bytes)).toThrow(expect.objectContaining({ line: 2, column: 12 }));
    });
  });

  describe('rejects nesting over 512 levels', () => {
    it.each([
      ['arrays', ['[', ']']],
      ['objects', ['{"a":', '}']],
    ] as const)('of %s', (_, brackets) => {
      const text = (depth: number): string => nested(depth, brackets).replace(/:\}/, ':1}');
      expect(JSON.stringify(read(text(512)))).toBe(text(512));
      expect(() => read(text(513))).toThrow('Expected at most 512 levels of nesting, got more');
    });

    it('before parsing, so that a million levels do not overflow the stack', () => {
      expect(() => read('['.repeat(1_000_000))).toThrow(
        expect.objectContaining({ constructor: InputError, line: 1, column: 513 }),
      );
    });

    it('and accepts brackets in strings, and many arrays side by side', () => {
      expect(read(`["${'['.repeat(2000)}\\"["]`)).toHaveLength(1);
      expect(read(`[${'[],'.repeat(2000)}[]]`)).toHaveLength(2001);
    });
  });

  describe('gives the position of a syntax error', () => {
    it('with file, line and column', () => {
      expect(() => readJson(Buffer.from('{\n  "é": "ü", x\n}'), { file: 'orders.json' })).toThrow(
        expect.objectContaining({
          constructor: InputError,
          message: 'Expected a key in double quotes, got `x`',
          hint: 'keys take double quotes',
          file: 'orders.json',
          line: 2,
          column: 13,
        }),
      );
    });

    it('relative to the line of the file in which the bytes begin', () => {
      expect(() => readJson(Buffer.from('{"a":}'), { file: 'orders.ndjson', line: 7 })).toThrow(
        expect.objectContaining({ line: 7, column: 6 }),
      );
    });

    it('in the sentence if there is no file', () => {
      expect(() => read('{"a":}')).toThrow('Expected a value, got `}` (line 1, column 6)');
    });

    it('without counting the BOM', () => {
      expect(() => read('\ufeff{"a":}')).toThrow(expect.objectContaining({ line: 1, column: 6 }));
    });

    it('even if a number before it would lose its value', () => {
      expect(() => read('[1E400,]')).toThrow(InputError);
    });
  });

  it('returns a value or throws one of our errors for any bytes', () => {
    const tokens = fc.array(
      fc.constantFrom(...'{}[],:"\\1- \n\u0001'.split(''), '\ud83c', '"a"', '1e9', 'true', 'nul'),
      { maxLength: 12 },
    );
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 12 }),
      tokens.map((parts) => Buffer.from(parts.join(''))),
    );
    fc.assert(
      fc.property(bytes, (input) => {
        try {
          readJson(input);
        } catch (error) {
          expect(error instanceof InputError || error instanceof ValidationError).toBe(true);
        }
      }),
      { numRuns: 2000 },
    );
  });
});

describe('readJsonText', () => {
  it('reads a string like its bytes', () => {
    expect(readJsonString('{"é":[1]}')).toEqual({ é: [1] });
    expect(() => readJsonString('{"a":1,"a":1}')).toThrow(ValidationError);
  });

  it('rejects a lone surrogate, which UTF-8 cannot encode', () => {
    expect(() => readJsonString('"é\ud800"')).toThrow(
      'Expected Unicode text, got half of a surrogate pair (line 1, column 3)',
    );
    expect(readJsonString('"\\ud800🍰"')).toBe('\ud800🍰');
  });
});

function isRejected(text: string): boolean {
  try {
    read(text);
    return false;
  } catch (error) {
    if (error instanceof ValidationError) return true;
    throw error;
  }
}

/** The exact value times 10^400; a word if the text is not a decimal. */
function exactly(text: string): string {
  if (text.endsWith('Infinity')) return text;
  const [mantissa = '', power = '0'] = text.split('e');
  const [whole = '', fraction = ''] = mantissa.split('.');
  return String(BigInt(whole + fraction) * 10n ** BigInt(400 - fraction.length + Number(power)));
}

function nested(depth: number, [open, close]: readonly [string, string]): string {
  return open.repeat(depth) + close.repeat(depth);
}
