import { gzipSync } from 'node:zlib';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { read } from './reading.ts';

const key = fc.string().filter((text) => !['batch', 'capture', '__proto__'].includes(text));
/** Never empty, as no message is: `{}` has one line however it is printed. */
const message = fc.dictionary(key, fc.jsonValue({ noUnicodeString: false, maxDepth: 3 }), {
  minKeys: 1,
  maxKeys: 5,
});

const MAX_GZIP_CHUNKS = 50;

interface Written {
  readonly text: string;
  /** `line bytes` of each entry. */
  readonly entries: readonly string[];
}

type Format = (messages: readonly object[], style: Style) => Written;

interface Style {
  readonly lineEnd: '\n' | '\r\n';
  readonly indent: number;
  readonly ends: boolean;
}

/** Puts each message where its place is between fixed texts, and counts the lines. */
function assemble(parts: readonly (string | { readonly entry: string })[]): Written {
  const entries: string[] = [];
  let text = '';
  for (const part of parts) {
    if (typeof part !== 'string') entries.push(`${text.split('\n').length} ${part.entry}`);
    text += typeof part === 'string' ? part : part.entry;
  }
  return { text, entries };
}

function joined(messages: readonly object[], separator: string, indent: number, lineEnd: string) {
  return messages.flatMap((each, index) => {
    const entry = { entry: JSON.stringify(each, null, indent).replaceAll('\n', lineEnd) };
    return index === 0 ? [entry] : [separator, entry];
  });
}

const FORMATS: Readonly<Record<string, Format>> = {
  'one message': ([first = {}], { indent, lineEnd }) => assemble(joined([first], '', indent, lineEnd)),
  NDJSON: (messages, { lineEnd, ends }) =>
    assemble([...joined(messages, lineEnd, 0, lineEnd), ends ? lineEnd : '']),
  'NDJSON with blank lines': (messages, { lineEnd }) =>
    assemble([lineEnd, ...joined(messages, `${lineEnd} ${lineEnd}`, 0, lineEnd), lineEnd, lineEnd]),
  'pretty-printed one after the other': (messages, { indent, lineEnd }) =>
    assemble(joined(messages, lineEnd, indent, lineEnd)),
  'an array': (messages, { indent, lineEnd }) =>
    assemble(['[', ...joined(messages, `,${lineEnd}`, indent, lineEnd), ']']),
  'an array on one line': (messages) => assemble([' [', ...joined(messages, ', ', 0, ''), '] ']),
  'a batch': (messages, { indent, lineEnd }) =>
    assemble([
      `{"sentAt":"x","context":{"batch":[{}]},${lineEnd}"batch" : [`,
      ...joined(messages, ',', indent, lineEnd),
      `],${lineEnd}"writeKey":"k","more":[{"a":[]}]}`,
    ]),
};

const style = fc.record({
  lineEnd: fc.constantFrom('\n' as const, '\r\n' as const),
  indent: fc.integer({ min: 0, max: 3 }),
  ends: fc.boolean(),
});

describe('reading any format', () => {
  for (const [name, write] of Object.entries(FORMATS)) {
    it(`gives every message of ${name}, with its line and bytes, in chunks of any size`, async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.array(message, { minLength: 1, maxLength: 8 }),
          style,
          fc.record({
            bom: fc.boolean(),
            gzip: fc.boolean(),
            chunkBytes: fc.oneof(fc.constant(1), fc.integer({ min: 1, max: 300 })),
          }),
          async (messages, how, { bom, gzip, chunkBytes }) => {
            const { text, entries } = write(messages, how);
            const plain = Buffer.from((bom ? '\ufeff' : '') + text);
            const bytes = gzip ? gzipSync(plain) : plain;
            // zlib takes 0.2 ms for each chunk, however short it is.
            const leastBytes = gzip ? Math.ceil(bytes.length / MAX_GZIP_CHUNKS) : 1;
            expect(await read(bytes, Math.max(chunkBytes, leastBytes))).toEqual(entries);
          },
        ),
        { numRuns: 100 },
      );
    });
  }
});
