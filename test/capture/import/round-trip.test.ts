import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { importRequests, type Imported } from '../../../src/capture/import/import-requests.ts';
import { FORMATS, type Written } from './formats.ts';

/** Number of files for each format. */
const FILES = 200;

async function importedFrom(file: string | Buffer): Promise<readonly Imported[]> {
  const chunks = (async function* () {
    const bytes = Buffer.from(file);
    for (let at = 0; at < bytes.length; at += 1000) yield bytes.subarray(at, at + 1000);
  })();
  const found: Imported[] = [];
  for await (const each of importRequests(chunks, () => Promise.reject(new Error('no file')))) {
    found.push(each);
  }
  return found;
}

const url = fc.constantFrom('/', '/hook', '/a/b?c=d&e=%20');
/** Bodies that are text without control characters, which terminals and shells treat on their own. */
const text = fc
  .string({
    unit: fc.oneof(
      fc.constantFrom(...Array.from('\'"\\^%$`!&|;<>#(){}[]\n\t é€😀')),
      fc.string({ unit: 'grapheme', minLength: 1, maxLength: 1 }),
    ),
    minLength: 1,
    maxLength: 200,
  })
  .map((body) => `{"text":${JSON.stringify(body)},"plain":'${body}'}`)
  .filter((body) => !/[\u{FFFD}\0\r]/u.test(body));
const bytes = fc.uint8Array({ minLength: 1, maxLength: 300 }).map((body) => Buffer.from([...body, 1]));

const ways = [
  ...Object.entries(FORMATS.texts).map(
    ([name, write]) => [name, write, text.map((body) => Buffer.from(body))] as const,
  ),
  ...Object.entries(FORMATS.bytes).map(([name, write]) => [name, write, bytes] as const),
];

describe.each(ways)('%s', (name, write, body) => {
  it('keeps method, target and each byte of the body', { timeout: 60_000 }, async () => {
    const written = fc.record({ url, body });
    const most = name === 'a raw HTTP request' ? 1 : 5;
    await fc.assert(
      fc.asyncProperty(
        fc.array(written, { minLength: 1, maxLength: most }),
        async (all: readonly Written[]) => {
          const found = await importedFrom(write(all));
          const kept = found.map((each) => (each.kind === 'request' ? each.request : each));
          expect(
            kept.map((each) => ('body' in each ? [each.method, each.url, Buffer.from(each.body)] : each)),
          ).toEqual(all.map((each) => ['POST', each.url, each.body]));
        },
      ),
      { numRuns: FILES },
    );
  });
});
