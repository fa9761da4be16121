import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { CHECKS } from '../../src/check/checks.ts';
import { commonMistakes } from '../../src/diagnosis/mistakes/common-mistakes.ts';
import { Sample } from '../../src/check/sample.ts';
import { DEFAULT_SCHEMES } from '../../src/signature/schemes/find-schemes.ts';
import { MAX_MESSAGE_BYTES } from '../../src/message/limits.ts';
import { MESSAGE_TYPES } from '../../src/message/types.ts';

const SECRET = 's3cret';
const sample = new Sample({
  secrets: [SECRET],
  signer: undefined,
  now: Date.UTC(2026, 10, 20),
  runId: 'run',
});
const hmac = (text: string | Buffer): string => createHmac('sha1', SECRET).update(text).digest('hex');

describe('a request of a check', () => {
  const sent = CHECKS.filter(({ expects, advice }) => expects === 'taken' && advice === undefined).flatMap(
    (check) => check.requests(sample).map((request) => ({ check: check.code, ...request })),
  );

  it('is signed over its bytes, and unchanged by parsing and stringifying', () => {
    for (const { check, body, signature } of sent) {
      const text = Buffer.from(body).toString();
      expect(signature, check).toBe(hmac(text));
      expect(JSON.stringify(JSON.parse(text)), check).toBe(text);
    }
  });

  it('has a message of each type', () => {
    const types = new Set(
      sent.map(({ body }) => (JSON.parse(Buffer.from(body).toString()) as { type: string }).type),
    );
    expect([...types].toSorted()).toEqual([...MESSAGE_TYPES].toSorted());
  });

  it('has values that languages write differently', () => {
    const text = Buffer.concat(sent.map(({ body }) => Buffer.from(body))).toString();
    for (const part of ['\u2028', '👩‍💻', '<b>&amp;', '/', '\\u0001', '1e-7', '1e+21', 'Łódź']) {
      expect(text).toContain(part);
    }
  });

  it('has exactly the largest message that a client accepts', () => {
    const message = sample.largestBody('large').toString().replace('"version":1,', '');
    expect(Buffer.byteLength(message)).toBe(MAX_MESSAGE_BYTES);
  });

  it('does not verify if it is a forgery', () => {
    const forgeries = CHECKS.filter(
      ({ needsSecret, expects }) => needsSecret && expects === 'rejected',
    ).flatMap((check) => check.requests(sample));
    expect(forgeries).toHaveLength(6);
    for (const { body, signature } of forgeries) expect(signature).not.toBe(hmac(Buffer.from(body)));
  });
});

describe('the common mistakes with a signature', () => {
  const body = sample.body('identify', 'x', { traits: { city: 'Łódź' } });
  const [scheme] = DEFAULT_SCHEMES;
  if (scheme === undefined) throw new TypeError('There is a default scheme');
  const context = { scheme, fields: { id: 'i', timestamp: '1' }, url: 'http://a.example/webhook' };
  const all = [...commonMistakes(body, { ...context, secrets: [SECRET] })];

  it('never verify, and are each tried once', () => {
    const signatures = all.map(({ headers }) => headers[1]);
    expect(signatures).not.toContain(hmac(body));
    expect(new Set(signatures).size).toBe(signatures.length);
    expect(all.length).toBeGreaterThan(40);
    expect(all.length).toBeLessThan(350);
  });

  it('include the body as Python, Go and PHP write it, and an empty secret', () => {
    const python = body
      .toString()
      .replace(/[^\x20-\x7e]/g, (each) => `\\u${each.charCodeAt(0).toString(16).padStart(4, '0')}`);
    expect(codeOf(hmac(python))).toBe('escaped-unicode');
    expect(codeOf(createHmac('sha1', '').update(body).digest('hex'))).toBe('other-secret');
    expect(codeOf(createHmac('sha256', SECRET).update(body).digest('base64'))).toBe('sha256');
  });

  function codeOf(signature: string): string | undefined {
    return all.find((each) => each.headers[1] === signature)?.mistake.code;
  }

  it('never show the secret', () => {
    const mistakes = [...commonMistakes(body, { ...context, secrets: ['CANARY'] })];
    expect(JSON.stringify(mistakes.map(({ mistake }) => mistake))).not.toContain('CANARY');
  });

  it('do not say that no secret is set to a receiver with all secrets in one text', () => {
    const mistakes = [...commonMistakes(body, { ...context, secrets: ['first', 'second'] })];
    const joined = mistakes.map(({ mistake }) => mistake.says).filter((says) => says.includes('all secrets'));
    expect(joined).toContain('it accepts what is signed with all secrets in one text as the secret');
    expect(joined.filter((says) => says.includes('not set'))).toEqual([]);
  });
});
