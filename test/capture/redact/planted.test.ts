import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { Pseudonyms } from '../../../src/capture/redact/pseudonyms.ts';
import {
  FIXTURE_BASE64_SECRET,
  FIXTURE_SECRET,
  redactRequest,
} from '../../../src/capture/redact/redact-request.ts';
import { Redaction } from '../../../src/capture/redact/redaction.ts';
import type { ImportedRequest } from '../../../src/capture/import/imported.ts';
import { BUILT_IN_SCHEMES } from '../../../src/signature/schemes/built-in.ts';
import { signRequest } from '../../../src/signature/schemes/signer.ts';
import { SignatureVerifier } from '../../../src/signature/signature-verifier.ts';
import { people, personalRequest, type Person } from './people.ts';

const CAPTURES = 1_000;
const PSEUDONYMS = new Pseudonyms(Buffer.from('a key for the pseudonyms'));
const PEOPLE = people(200);
const AT = Date.UTC(2026, 10, 20, 21);
const SCHEMES = BUILT_IN_SCHEMES.filter(({ covers }) => covers !== 'first');

interface Redacted {
  readonly person: Person;
  readonly original: ImportedRequest;
  readonly request: ImportedRequest;
}

const redacted = Array.from({ length: CAPTURES }, (_, index): Redacted => {
  const person = PEOPLE[index % PEOPLE.length] ?? {};
  const { url, headers, body } = personalRequest(person, index);
  const scheme = SCHEMES[index % (SCHEMES.length + 1)];
  const signature =
    scheme &&
    signRequest({ body, secrets: ['whsec_c2VjcmV0IG9mIHRoZSBwcm9kdWN0aW9u', 's3cret'], scheme, at: AT });
  const original = {
    method: 'POST',
    url,
    headers: [...headers, ...Object.entries(signature ?? {})],
    body,
    at: AT,
  };
  const redaction = new Redaction(PSEUDONYMS, {
    keep: [],
    drop: [],
    used: new Set(),
  });
  const request = redactRequest(original, redaction, { ownSchemes: [], secrets: undefined, now: AT });
  return { person, original, request };
});

/** The text of a request, and the texts that are encoded in it. */
function textsOf({ url, headers, body }: ImportedRequest): string {
  const text = (body[0] === 0x1f ? gunzipSync(body) : Buffer.from(body)).toString();
  const all = [url, JSON.stringify(headers), text, text.replaceAll('\\', ''), text.replaceAll('+', ' ')];
  const inBase64 = [...text.matchAll(/[\w+/-]{24,}/g)].map(([each]) =>
    Buffer.from(each, 'base64').toString(),
  );
  const decoded = [...all, ...inBase64].flatMap((each) => [
    each,
    each.replaceAll(/%[\dA-F]{2}/gi, (code) => decodeURIComponent(/[0-7]./.test(code) ? code : '%20')),
  ]);
  return decoded.join('\n').toLowerCase();
}

describe('1,000 captures with more than 40 kinds of personal data', () => {
  it('have no value of a person after their redaction', () => {
    expect(Object.keys(PEOPLE[0] ?? {}).length).toBeGreaterThan(40);
    for (const { person, original, request } of redacted) {
      const [before, after] = [textsOf(original), textsOf(request)];
      const values = Object.entries(person).map(([kind, value]) => [kind, value.toLowerCase()] as const);
      expect(values.filter(([, value]) => before.includes(value)).length).toBeGreaterThanOrEqual(40);
      expect(values.filter(([, value]) => after.includes(value))).toEqual([]);
      const dense = values.map(([kind, value]) => [kind, value.replaceAll(/[^a-z\d]/g, '')] as const);
      const bare = after.replaceAll(/[^a-z\d\n]/g, '');
      expect(dense.filter(([, value]) => value.length > 6 && bare.includes(value))).toEqual([]);
    }
  });

  it('verify, if they had a signature', () => {
    for (const { original, request } of redacted) {
      const scheme = SCHEMES[redacted.findIndex((each) => each.original === original) % (SCHEMES.length + 1)];
      const names = request.headers.map(([name]) => name.toLowerCase());
      if (scheme === undefined) {
        expect(names.filter((name) => name.includes('signature'))).toEqual([]);
        continue;
      }
      const verifier = new SignatureVerifier({
        headers: request.headers,
        scheme,
        secrets: [FIXTURE_SECRET, FIXTURE_BASE64_SECRET],
        at: AT,
      });
      expect(verifier.update(request.body).verdict()).toMatchObject({ valid: true });
      expect(new Map(request.headers).get('Content-Length')).toBe(String(request.body.length));
    }
  });

  it('have the same graph of identities', () => {
    const ids = ['userId', 'anonymousId', 'previousId', 'groupId'] as const;
    const seen = new Map<string, string>();
    const firstForm = redacted.filter((_, index) => index % 6 === 0);
    for (const { person, request } of firstForm) {
      const text = (
        request.body[0] === 0x1f ? gunzipSync(request.body) : Buffer.from(request.body)
      ).toString();
      const message = JSON.parse(text) as Record<string, unknown> & {
        traits: Record<string, unknown>;
        context: { page: { url: string; search: string } };
        properties: { note: string; participants: object };
      };
      const { email } = message.traits;
      const pairs = [
        ...ids.map((id) => [person[id]?.toLowerCase(), message[id]]),
        [person['email']?.toLowerCase(), email],
        [person['phone'], message.traits['phone']],
        [person['username'], message.traits['username']],
      ];
      for (const [value, pseudonym] of pairs) {
        expect(seen.get(String(value)) ?? pseudonym).toBe(pseudonym);
        seen.set(String(value), String(pseudonym));
      }
      const { page } = message.context;
      expect(new URL(page.url).searchParams.get('email')).toBe(email);
      expect(new URL(page.url).searchParams.get('uid')).toBe(message['userId']);
      expect(decodeURIComponent(new URL(page.url).pathname)).toBe(`/u/${String(message['userId'])}`);
      expect(message['messageId']).toBe(`m-${String(message['userId'])}-1`);
      expect(message.properties.note).toContain(`${String(message.traits['name'])} <${String(email)}>`);
      expect(Object.keys(message.properties.participants)).toContain(email);
      expect(new URLSearchParams(request.url.split('?')[1]).get('email')).toBe(email);
    }
    // As many pseudonyms as values: no two people became one.
    expect(new Set(seen.values()).size).toBe(seen.size);
  });

  it('keep JSON types and formats', () => {
    for (const { original, request } of redacted.filter((_, index) => index % 6 === 0 && index % 7 !== 0)) {
      const [before, after] = [original, request].map(
        ({ body }) => JSON.parse(Buffer.from(body).toString()) as object,
      );
      expect(typesOf(after)).toEqual(typesOf(before));
      expect(after).toMatchObject({
        traits: {
          email: expect.stringMatching(/^[^\s@]+@[^\s@]+\.example$/),
          phone: expect.stringMatching(/^\+999\d{12}$/),
          birthDate: expect.stringMatching(/^\d{4}-\d\d-\d\d$/),
          card: expect.stringMatching(/^\d{4} \d{4} \d{4} \d{4}$/),
        },
        context: { ip: expect.stringMatching(/^198\.1[89]\.\d+\.\d+$/) },
      });
    }
  });
});

function typesOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(typesOf);
  if (typeof value !== 'object' || value === null) return typeof value;
  const { participants: _, ...rest } = value as Record<string, unknown>;
  return Object.fromEntries(Object.entries(rest).map(([key, each]) => [key, typesOf(each)]));
}
