import { boundedRegExp } from '../../message/bounded-regexp.ts';
import type { JsonObject } from '../../message/types.ts';

/** Texts of the formats of JSON Schema. */
const OF_FORMATS: Readonly<Record<string, string>> = {
  'date-time': '2026-01-01T00:00:00.000Z',
  'iso-date-time': '2026-01-01T00:00:00.000Z',
  date: '2026-01-01',
  time: '12:00:00Z',
  'iso-time': '12:00:00Z',
  duration: 'P1D',
  email: 'user@example.com',
  'idn-email': 'user@example.com',
  hostname: 'example.com',
  'idn-hostname': 'example.com',
  ipv4: '192.0.2.1',
  ipv6: '2001:db8::1',
  uri: 'https://example.com/',
  url: 'https://example.com/',
  iri: 'https://example.com/',
  'uri-reference': '/path',
  'iri-reference': '/path',
  'uri-template': '/path/{id}',
  uuid: '00000000-0000-4000-8000-000000000001',
  'json-pointer': '/path',
  'json-pointer-uri-fragment': '#/path',
  'relative-json-pointer': '0',
  regex: '^a$',
  byte: 'dGV4dA==',
  int32: '1',
  int64: '1',
};

/** Texts to try for a pattern: those of the formats, and other usual forms of names, codes and numbers. */
const USUAL = [
  'text',
  'Text',
  'TEXT',
  'Some text',
  'some_text',
  'some-text',
  'someText',
  'SomeText',
  'a',
  'A',
  'ab',
  'AB',
  'abc',
  'ABC',
  'ABCD',
  'ABCDE',
  'A1',
  'A-1',
  'ABC-123',
  'abc123',
  '0',
  '1',
  '12',
  '123',
  '1234',
  '12345',
  '123456',
  '1234567890',
  '1.5',
  '10.00',
  '1.0.0',
  'v1.0.0',
  '$10.00',
  '50%',
  '12:00',
  '12:00:00',
  '01/01/2026',
  '2026',
  '2026-01',
  '+14155550100',
  '#ff0000',
  '#FF0000',
  'en',
  'en-US',
  'en_US',
  'USD',
  'true',
  '{}',
  '[]',
  ' ',
  '',
  ...Object.values(OF_FORMATS),
  ...[8, 16, 20, 24, 32, 40, 64].flatMap((length) => ['0', 'a', 'A'].map((letter) => letter.repeat(length))),
];

/** Maximum length of a text in characters. */
const MOST_LETTERS = 10_000;

/** Makes a text for a schema. For a pattern it tries usual texts. `item` makes the texts of a list differ. */
export function sampleText(schema: JsonObject, item: number): string {
  const { format, pattern, minLength, maxLength } = schema;
  const usual = typeof format === 'string' ? (OF_FORMATS[format] ?? 'text') : 'text';
  const least = typeof minLength === 'number' ? Math.min(minLength, MOST_LETTERS) : 0;
  const most = typeof maxLength === 'number' ? maxLength : MOST_LETTERS;
  const fit = (text: string): string => {
    const numbered = item === 0 || format !== undefined ? text : `${text}${item}`;
    const long = numbered.padEnd(least, numbered.at(-1) ?? 'a');
    return long.slice(Math.max(0, long.length - most));
  };
  if (typeof pattern !== 'string') return fit(usual);
  const matching = boundedRegExp(pattern);
  const texts = [usual, ...USUAL, ...textsOfPattern(pattern)].flatMap((text) => [fit(text), text]);
  const fitting = texts.filter((text) => text.length >= least && text.length <= most && matching.test(text));
  return fitting[item % Math.max(1, fitting.length)] ?? fit(usual);
}

/** The words in a pattern, such as `order_` in `^order_\d+$`, alone and before a usual text. */
function textsOfPattern(pattern: string): readonly string[] {
  const words =
    pattern
      .replaceAll(/\\[a-zA-Z]|\[[^\]]*\]|\{[^}]*\}/g, '\0')
      .replaceAll(/\\(.)/g, '$1')
      .match(WORDS) ?? [];
  const few = words.slice(0, 20);
  return [
    ...few,
    ...few.flatMap((word) => USUAL.map((text) => word + text)),
    ...few.flatMap((word) => USUAL.map((text) => text + word)),
  ];
}

const WORDS = /[^\0^$()|?*+]+/g;
