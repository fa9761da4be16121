import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { batchItems } from '../../../src/service/ingest/batch-items.ts';

function split(text: string): { items: string[]; rest: string } | undefined {
  const bytes = Buffer.from(text);
  const found = batchItems(bytes);
  if (found === undefined) return undefined;
  const items = found.items.map(([start, end]) => bytes.subarray(start, end).toString());
  return { items, rest: Buffer.from(found.rest).toString() };
}

describe('batchItems', () => {
  it('finds the items and the rest as written', () => {
    expect(split('{"a":[1], "batch" :[ {"x":[1,"]"]} , 2 ,"," ] ,"b":2}')).toEqual({
      items: ['{"x":[1,"]"]}', '2', '","'],
      rest: '{"a":[1], "batch" :[] ,"b":2}',
    });
    expect(split(`{"batch"${' '.repeat(100)}:[1]}`)?.items).toEqual(['1']);
    expect(split('{"batch":[]}')).toEqual({ items: [], rest: '{"batch":[]}' });
  });

  it('ignores other arrays', () => {
    expect(split('["batch",[1]]')).toBeUndefined();
    expect(split('{"a":{"batch":[1]}}')).toBeUndefined();
    expect(split('{"a":"batch","b":[1]}')).toBeUndefined();
    expect(split('{"batch":{"a":[1]}}')).toBeUndefined();
    expect(split(String.raw`{"x\"batch":[1]}`)).toBeUndefined();
  });

  it('finds the items that JSON.parse finds', () => {
    const spaces = fc.integer({ min: 0, max: 2 });
    fc.assert(
      fc.property(fc.array(fc.jsonValue()), fc.jsonValue(), spaces, (batch, before, indent) => {
        const found = split(JSON.stringify({ before, batch, after: before }, undefined, indent));
        expect(found?.items.map((item) => JSON.parse(item) as unknown)).toEqual(
          JSON.parse(JSON.stringify(batch)),
        );
        expect(JSON.parse(found?.rest ?? '')).toEqual(
          JSON.parse(JSON.stringify({ before, batch: [], after: before })),
        );
      }),
    );
  });
});
