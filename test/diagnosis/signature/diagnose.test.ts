import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { Deadline } from '../../../src/signature/deadline.ts';
import { FIXES, NOTES, SCHEME_FIXES } from '../../../src/signature/reasons.ts';
import { verify } from '../../../src/app/explained.ts';
import type { InvalidVerdict } from '../../../src/signature/verify-options.ts';
import { wrongSenders } from './wrong-senders.ts';

const hmac = (body: string, key: string): string => createHmac('sha1', key).update(body).digest('hex');

type Diagnosis = NonNullable<InvalidVerdict['diagnosis']>;

/** Without an end to its time: what is found does not depend on how busy the machine is. */
function mismatch(options: Parameters<typeof verify>[0]): Diagnosis {
  const verdict = verify({ exact: true, diagnose: true, ...options }, () => new Deadline(Infinity));
  if (verdict.valid || verdict.diagnosis === undefined) throw new Error('expected a diagnosis');
  return verdict.diagnosis;
}

/** With our secret, but over another text than the body. */
const signedOver = (text: string, body: string | Uint8Array): Diagnosis =>
  mismatch({ body, signature: hmac(text, 'k'), secrets: ['k'] });

const senders = wrongSenders();

describe('a sender that signs wrongly', () => {
  it('with the prefix of another hash is told so', () => {
    const diagnosis = mismatch({ body: 'b', signature: `sha256=${hmac('b', 'k')}`, secrets: ['k'] });
    expect(diagnosis).toMatchObject({ code: 'missing-prefix', confidence: 'proved' });
    expect(diagnosis.hint).toContain(
      'it is the HMAC-SHA1 of this body, but it lacks its prefix, or has another one. Sign as',
    );
  });

  it('with a byte order mark and CRLF in its secret is told so', () => {
    const signature = hmac('b', '\ufeffk\r\n');
    const { hint } = mismatch({ body: 'b', signature, secrets: ['k'] });
    expect(hint).toContain('with a byte order mark before the secret and with CRLF at the end of the secret');
  });

  it('of a large body is told of a newline in its secret before the body is changed', () => {
    const body = '--b\r\n\r\nline\r\n'.repeat(30_000);
    const deadline = (): Deadline => new Deadline(500, () => (clock += 1));
    let clock = 0;
    const options = { body, signature: hmac(body, 'k\n'), secrets: ['k'], exact: true, diagnose: true };
    const { diagnosis } = verify(options, deadline) as InvalidVerdict;
    expect(diagnosis?.hint).toContain('with a newline at the end of the secret');
  });

  it.each(senders)('gets the code $code: $name', ({ code, body, signature, secret }) => {
    const diagnosis = mismatch({ body: Buffer.from(body, 'base64'), signature, secrets: [secret] });
    expect(diagnosis.code, diagnosis.hint).toBe(code);
  });

  it('has a case for every code', () => {
    const others = ['no-signature', 'other-template', 'other-id', ...Object.keys(SCHEME_FIXES)]; // a request without one; those of test/signature/schemes
    const codes = Object.keys(FIXES).filter((code) => !others.includes(code));
    expect(codes.filter((code) => !senders.some((sender) => sender.code === code))).toEqual([]);
  });

  it('is diagnosed with several secrets, too', () => {
    for (const { code, body, signature, secret } of senders) {
      const secrets = ['first', secret];
      expect(mismatch({ body: Buffer.from(body, 'base64'), signature, secrets }).code).toBe(code);
    }
  });

  it('never sees the secret in a hint', () => {
    for (const { body, signature, secret } of senders) {
      const { hint } = mismatch({ body: Buffer.from(body, 'base64'), signature, secrets: [secret] });
      expect(hint).not.toContain(secret);
    }
  });
});

describe('a mismatch by a general change', () => {
  const key = 'Il0ve-the$ecret/1234';
  const body = '{"type":"track","userId":"u1","name":"","event":"Say \\"hi\\""}';

  it.each<[would: string, signature: string, received?: string, secret?: string]>([
    ['without the invisible characters', hmac(body, key), body, `\u001b[01;31m${key}\u001b[m`],
    [
      `with ${body.length} other bytes around it, and it would match over no bytes at all`,
      Buffer.from(body).toString('hex') + hmac('', key),
    ],
    [
      'with sorted keys and with its numbers as JavaScript, Go and PHP write them',
      hmac('{"a":1,"b":1.5}', key),
      '{"b":1.50,"a":1}',
    ],
    ['over the first message of the list alone.', hmac('{"a":1}', key), '[{"a": 1}, {"b": 2}]'],
    [
      'over the member `payload` of the body alone.',
      hmac('{"a": 1}', key),
      String.raw`{"payload": "{\"a\": 1}"}`,
    ],
    ['over the member `data` of the body alone.', hmac('{"a":1}', key), '{"data": {"a":1}}'],
    [
      'with its keys in PascalCase',
      hmac(
        body.replace(/"([a-z])(?=\w+":)/gi, (m) => m.toUpperCase()),
        key,
      ),
    ],
    ['with null for its empty strings', hmac(body.replace('""', 'null'), key)],
    [
      'with the line breaks that its indentation shows, which curl -d removes from a file and with a newline at the end',
      hmac('{\n  "a": [1, 2],\n  "b": {\n    "c": 3\n  }\n}\n', key),
      '{  "a": [1, 2],  "b": {    "c": 3  }}',
    ],
    ['with what follows $ in the secret replaced by nothing', hmac(body, 'k3yxyz'), body, 'k3y$9xyz'],
    ['as the HMAC of the right HMAC in hex', hmac(hmac(body, key), key)],
  ])('names it: %s', (would, signature, received = body, secret = key) => {
    const { hint, confidence } = mismatch({ body: received, signature, secrets: [secret] });
    expect(hint).toContain(would);
    expect(confidence).toBe('proved');
    expect(hint).not.toContain(secret);
  });

  it('names a frame and a secret that are wrong together', () => {
    const headers = { 'webhook-id': 'm1', 'webhook-timestamp': '1700000000' };
    const secret = `whsec_${Buffer.alloc(24, 'k').toString('base64')}`;
    const over = createHmac('sha256', secret.slice(6)).update(`1700000000.m1.${body}`).digest('base64');
    const { hint } = mismatch({
      body,
      headers: { ...headers, 'webhook-signature': `v1,${over}` },
      secrets: [secret],
      scheme: 'standard-webhooks',
      ignoreTimestamp: true,
    });
    expect(hint).toContain('over {timestamp}.{id}.{body} and with the text of the secret without its prefix');
  });

  it('names a path that is signed without its query', () => {
    const signature = hmac(`https://a.example/hook${body}`, key);
    const target = { method: 'POST', path: '/hook?a=1&b=2' };
    const headers = { host: 'a.example', 'x-signature': signature };
    const { hint } = mismatch({ body, headers, target, secrets: [key] });
    expect(hint).toContain('over {url}{body}, with the URL without its query as the url');
  });

  it('knows a signature that is the secret', () => {
    const { hint } = mismatch({ body, signature: key, secrets: [key] });
    expect(hint).toContain('the signature is the secret itself. Send the HMAC of the body');
    expect(hint).not.toContain(key);
  });

  it('knows a value that is the name of an array', () => {
    expect(mismatch({ body, signature: '[B@1b6d3586', secrets: [key] }).hint).toContain(
      'what a program prints for nothing, for a Promise that was not awaited, or for an array of bytes',
    );
  });
});

describe('a body that was written again', () => {
  it.each([
    ['without the white space between its parts', '{"a": "\\u00e9"}', '{"a":"\\u00e9"}'],
    [
      'with <, > and & as \\u escapes, as Go and Rails write them and without the trailing newline',
      '{"a":"<"}\n',
      '{"a":"\\u003c"}',
    ],
    ['with sorted keys', '{"b": 1, "a": 2}', '{"a": 2, "b": 1}'],
    ['with .0 after its whole numbers', '{"a":25,"n":3}', '{"a":25.0,"n":3}'],
    ['with .0 after its whole numbers', '{"a":25,"n":3}', '{"a":25.0,"n":3.0}'],
    ['with .0 after its whole numbers, as the sender wrote them.', '{\n  "a": 25\n}', '{"a":25.0}'],
    [
      'with .0 after its whole numbers, as the sender wrote them and indented by 2 spaces',
      '{"a":25}',
      '{\n  "a": 25.0\n}',
    ],
    ['over the body decoded from text with typographic quotes', '{“a”:“‘b’”}', `{"a":"'b'"}`],
  ])('is described by what differs only: %s', (would, body, signed) => {
    expect(signedOver(signed, body).hint).toContain(`it would match ${would}`);
  });

  it('with a secret whose padding is lost', () => {
    const { hint } = mismatch({ body: 'b', signature: hmac('b', 'YWJjZA=='), secrets: ['YWJjZA'] });
    expect(hint).toContain('it would match with the secret padded with = as base64 is.');
  });
});

describe('a secret that is no secret of a webhook', () => {
  it.each(['your_webhook_secret', 'SUPER_SECRET_KEY', 'my-signing-key', 'testsecret123', 'change-me'])(
    'is named if the other side signs with the placeholder %s',
    (key) => {
      const { hint } = mismatch({ body: 'b', signature: hmac('b', key), secrets: ['k'] });
      expect(hint).toContain(
        `it would match with "${key}" as the secret, as examples have it. Give both sides the same secret`,
      );
    },
  );

  it('is described if it begins like an API key', () => {
    const secrets = ['sk_test_51N8xQ2LkdIwHu7ixT4mVbWq9'];
    const { hint } = mismatch({
      body: 'b',
      signature: hmac('b', 'other'),
      secrets,
      secretOrigin: '--secret',
    });
    expect(hint).toContain('33 characters, which begin like an API key or an access token: give the signing');
  });
});

describe('diagnose', () => {
  const body = '{"url":"https://a/ë","text":"<b>\'x\' + \\"y\\"</b>"}';

  it.each([
    [
      'System.Text.Json',
      'escaped-unicode',
      String.raw`{"url":"https://a/\u00EB","text":"\u003Cb\u003E\u0027x\u0027 \u002B \u0022y\u0022\u003C/b\u003E"}`,
    ],
    [
      'PHP with JSON_PRETTY_PRINT',
      'pretty-printed',
      String.raw`{
    "url": "https:\/\/a\/\u00eb",
    "text": "<b>'x' + \"y\"<\/b>"
}`,
    ],
  ])('knows the spelling of %s', (_name, code, signed) => {
    expect(signedOver(signed, body).code).toBe(code);
  });

  it('says what was found and how to fix it', () => {
    const text = 'x'.repeat(411);
    expect(mismatch({ body: `${text}\n`, signature: hmac(text, 'k'), secrets: ['k'] }).hint).toBe(
      'Signature does not match: computed over 412 bytes; it would match without the trailing newline. ' +
        'Verify exactly the bytes received: a shell, `echo` and most editors add a newline to a copy (`printf %s` does not). ' +
        'If the sender is yours, send exactly what it signs: curl --data-binary, not -d',
    );
  });

  it('names the origin of another known secret', () => {
    const signature = hmac(body, 'theirs');
    const otherSecrets = [{ secret: 'theirs', origin: 'HOOKS_SECRET' }];
    const { code, hint } = mismatch({ body, signature, secrets: ['ours'], otherSecrets });
    expect(code).toBe('other-secret');
    expect(hint).toContain('it would match with the secret from HOOKS_SECRET');
    expect(hint).not.toContain('theirs');
  });

  it.each([
    ['', 'the signature is empty. Look at how the sender writes the digest'],
    ['a', 'the signature has 1 character instead of 40 in hex. Look at how the sender writes the digest'],
    [
      'hello',
      'the signature has 5 characters instead of 40 in hex. Look at how the sender writes the digest',
    ],
  ])('does not blame the secrets for the signature %j', (signature, hint) => {
    const diagnosis = mismatch({ body, signature, secrets: ['k'] });
    expect(diagnosis).toMatchObject({ code: 'no-match', hint: expect.stringContaining(hint) });
    expect(diagnosis.hint).not.toContain('same secret');
  });

  it('limits the unpacking of a small body that unpacks to gigabytes', async () => {
    const { gzipSync } = await import('node:zlib');
    const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024));
    expect(signedOver('x', bomb)).toMatchObject({
      code: 'no-match',
      hint: expect.stringContaining('The body is compressed') as string,
    });
  });

  it('limits the time for a deeply nested body', () => {
    const deep = `${'['.repeat(500)}${'1,'.repeat(20_000)}1${']'.repeat(500)}`;
    expect(signedOver('x', deep).code).toBe('no-match');
  });

  it('tries all spellings of a batch of the largest size', () => {
    const messages = Array.from({ length: 400 }, (_, n) => ({
      userId: `u${n}`,
      type: 'track',
      é: 'x'.repeat(1200),
    }));
    const batch = JSON.stringify({ batch: messages });
    const sorted = JSON.stringify({ batch: messages.map(({ type, userId, é }) => ({ type, userId, é })) });
    expect(batch.length).toBeGreaterThan(490_000);
    expect(signedOver(sorted, batch).code).toBe('reordered-keys');
    const first = String.raw`{"type": "track", "userId": "u0", "\u00e9": "${'x'.repeat(1200)}"}`;
    expect(signedOver(first, batch).code).toBe('first-of-array');
  });

  it.each([
    ['a form of many fields', `${'a=x&'.repeat(8_000)}a=signed`, 'signed', 'url-encoded'],
    [
      'JSON that ends differently',
      `{"z":[${'1,'.repeat(8_000)}1],"a":1}`,
      `{"a":1,"z":[${'1,'.repeat(8_000)}1]}`,
      'reordered-keys',
    ],
    ['lines of another system', 'a\r\n'.repeat(100_000), 'a\n'.repeat(100_000), 'crlf'],
    ['lines of this system', 'a\n'.repeat(100_000), 'a\r\n'.repeat(100_000), 'crlf'],
    ['decomposed Unicode', `"${'e\u0301'.repeat(1_000)}"`, `"${'\u00e9'.repeat(1_000)}"`, 'other-encoding'],
    [
      'a number with an exponent, from .NET',
      '{"n":1e+30,"t":"e+5 \\\\"}',
      String.raw`{"n":1e+30,"t":"e\u002B5 \\"}`,
      'escaped-unicode',
    ],
    [
      'a long string of emoji and escapes',
      `{"b":1,"a":"${'x😀\\"\\\\'.repeat(60_000)}"}`,
      `{"a":"${'x😀\\"\\\\'.repeat(60_000)}","b":1}`,
      'reordered-keys',
    ],
    [
      'a long string from .NET',
      `{"a":"${'é\\"\\\\'.repeat(60_000)}"}`,
      `{"a":"${String.raw`\u00E9\u0022\\`.repeat(60_000)}"}`,
      'escaped-unicode',
    ],
  ])('explains %s', (_, received, signed, code) => {
    expect(signedOver(signed, received).code).toBe(code);
  });

  it('says that the body is too large to try everything', () => {
    const large = 'a=1&'.repeat(300_000);
    expect(signedOver('x', large)).toMatchObject({
      code: 'no-match',
      hint: expect.stringContaining('too large to try') as string,
    });
  });

  it('has a fix for every code, and notes only known codes', () => {
    for (const fix of Object.values(FIXES)) expect(fix).toMatch(/^[A-Z].*[^.]$/);
    for (const note of Object.values(NOTES)) expect(note).not.toMatch(/[.\n]$/);
    expect(Object.keys(NOTES).filter((code) => !(code in FIXES))).toEqual([]);
  });
});
