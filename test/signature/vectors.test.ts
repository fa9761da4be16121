import { describe, expect, it } from 'vitest';
import { BodyDigests } from '../../src/signature/body/body-digests.ts';
import { sign } from '../../src/signature/sign.ts';
import { verify } from '../../src/app/explained.ts';
import { bodyOf, digestOf, keyOf, valid, vectors } from './read-vectors.ts';

describe('the signature vectors', () => {
  it('have all seven cases of RFC 2202 and our own', () => {
    expect(vectors.filter(({ origin }) => origin.startsWith('RFC 2202'))).toHaveLength(7);
    expect(vectors.length).toBeGreaterThan(20);
  });

  it.each(valid)('$name equals the output of sign', (vector) => {
    expect(sign(bodyOf(vector), keyOf(vector))).toBe(digestOf(vector));
  });

  it('have no signature with an empty secret, which is rejected', () => {
    expect(() => sign('{}', '')).toThrow('Expected a secret to sign with, got an empty one');
  });

  it.each(valid)('$name is the same in chunks of any size', (vector) => {
    const body = bodyOf(vector);
    for (const size of [1, 2, 3, 63, 64, 65, 4096]) {
      const digests = new BodyDigests('sha1', [keyOf(vector)]);
      for (let start = 0; start < body.length; start += size) {
        digests.update(body.subarray(start, start + size));
      }
      expect(digests.all().map((digest) => digest.toString('hex'))).toEqual([digestOf(vector)]);
    }
  });

  it.each(vectors.filter(({ secret }) => secret !== undefined))('$name has its verdict', (vector) => {
    const verdict = verify({
      body: bodyOf(vector),
      signature: vector.header,
      secrets: [vector.secret ?? ''],
      exact: true,
    });
    expect(verdict.valid).toBe(vector.verdict === 'valid');
  });
});
