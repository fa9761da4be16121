import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { BUILT_IN_SCHEMES } from '../../../src/signature/schemes/built-in.ts';
import { verify } from '../../../src/app/explained.ts';

interface SchemeVector {
  readonly name: string;
  readonly secret: string;
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly at: string;
  readonly verdict: 'valid' | 'invalid';
  readonly origin: string;
}

const FOLDER = new URL('../../../fixtures/signatures/', import.meta.url);
const FILES = readdirSync(FOLDER).filter((name) => name !== 'hmac-sha1.json'); // the vectors of segment have their own test

const vectors = FILES.flatMap((file) => {
  const read = JSON.parse(readFileSync(new URL(file, FOLDER), 'utf8')) as readonly SchemeVector[];
  return read.map((vector) => ({ scheme: file.replace('.json', ''), ...vector }));
});

describe('the vectors of each scheme', () => {
  it('has a file for each built-in scheme', () => {
    const names = BUILT_IN_SCHEMES.map(({ name }) => name).filter((name) => name !== 'segment');
    expect(FILES.map((file) => file.replace('.json', '')).toSorted()).toEqual(names.toSorted());
  });

  it.each(vectors)('$scheme: $name is $verdict', ({ scheme, body, headers, secret, at, verdict }) => {
    const given = { body, headers, secrets: [secret], scheme, at: Date.parse(at) };
    expect(verify(given).valid).toBe(verdict === 'valid');
  });

  it.each(vectors)(
    '$scheme: $name has the same verdict over raw headers, and does not match with another secret',
    (vector) => {
      const { scheme, body, headers, secret, at, verdict } = vector;
      const rawHeaders = Object.entries(headers).flat();
      const given = { body, headers: rawHeaders, scheme, at: Date.parse(at) };
      expect(verify({ ...given, secrets: ['another', secret] }).valid).toBe(verdict === 'valid');
      expect(verify({ ...given, secrets: ['whsec_b3RoZXI=', 'another'] }).valid).toBe(false);
    },
  );
});
