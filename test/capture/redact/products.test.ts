import { describe, expect, it } from 'vitest';
import { Pseudonyms } from '../../../src/capture/redact/pseudonyms.ts';
import { FIXTURE_SECRET, redactRequest } from '../../../src/capture/redact/redact-request.ts';
import { Redaction } from '../../../src/capture/redact/redaction.ts';
import { BUILT_IN_SCHEMES } from '../../../src/signature/schemes/built-in.ts';
import { signRequest } from '../../../src/signature/schemes/signer.ts';
import { SignatureVerifier } from '../../../src/signature/signature-verifier.ts';
import { PRODUCTS } from './products.ts';

const PSEUDONYMS = new Pseudonyms(Buffer.from('a key for the pseudonyms'));
const AT = Date.UTC(2026, 10, 20, 21);
const GITHUB = BUILT_IN_SCHEMES.find(({ name }) => name === 'github');

function redacted(text: string) {
  const body = Buffer.from(text);
  const signature = GITHUB && signRequest({ body, secrets: ['s3cret'], scheme: GITHUB, at: AT });
  const headers = [
    ['Content-Type', /^[[{]/.test(text) ? 'application/json' : 'application/x-www-form-urlencoded'],
    ...Object.entries(signature ?? {}),
  ] as const;
  const redaction = new Redaction(PSEUDONYMS, { keep: [], drop: [], used: new Set() });
  return redactRequest({ method: 'POST', url: '/hook', headers, body, at: AT }, redaction, {
    ownSchemes: [],
    secrets: undefined,
    now: AT,
  });
}

describe.each(Object.entries(PRODUCTS))('a body of %s', (_, marked) => {
  const parts = marked.split(/«(.*?)»/s);
  const { body, headers } = redacted(parts.join(''));
  const text = Buffer.from(body).toString();
  const made = madeParts(text, parts);

  it('keeps each byte that is not personal', () => {
    expect(made.filter((_part, index) => index % 2 === 0)).toEqual(
      parts.filter((_part, index) => index % 2 === 0),
    );
    expect(made.join('')).toBe(text);
  });

  it('loses each personal value', () => {
    const personal = parts.map((part, index) => (index % 2 === 0 ? '' : part));
    expect(personal.filter((value, index) => value !== '' && value === made[index])).toEqual([]);
    const all = plain(text);
    const found = personal.filter((value) => value.length > 3 && all.includes(plain(value)));
    expect(found).toEqual([]);
  });

  it('verifies', () => {
    const verifier = new SignatureVerifier({
      headers,
      ...(GITHUB && { scheme: GITHUB }),
      secrets: [FIXTURE_SECRET],
      at: AT,
    });
    expect(verifier.update(body).verdict()).toMatchObject({ valid: true });
  });
});

function plain(text: string): string {
  return text.replaceAll(/(?:%[\dA-F]{2})+/g, decodeURIComponent).toLowerCase();
}

/** Splits a redacted text into the parts that stay, and the values between them. */
function madeParts(text: string, parts: readonly string[]): readonly string[] {
  let at = 0;
  return parts.flatMap((part, index) => {
    if (index % 2 === 1) return [];
    const start = index === parts.length - 1 ? text.length - part.length : text.indexOf(part, at);
    const between = text.slice(at, start);
    at = start + part.length;
    return index === 0 ? [text.slice(start, at)] : [between, text.slice(start, at)];
  });
}
