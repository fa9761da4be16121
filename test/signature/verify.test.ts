import { createHmac } from 'node:crypto';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { ConfigError, SignatureError } from '../../src/errors.ts';
import { Deadline } from '../../src/signature/deadline.ts';
import { verify, Verifier } from '../../src/app/explained.ts';
import type { VerifyOptions, VerifyResult } from '../../src/signature/verify-options.ts';
import { LARGEST_KEPT_BODY, LARGEST_STRINGIFIED_BODY } from '../../src/signature/signature-verifier.ts';

const secret = 'hooks-fixture-secret';
const hmac = (body: string | Uint8Array, key = secret): string =>
  createHmac('sha1', key).update(body).digest('hex');
const json = '{"version":1,"type":"track","userId":"u","event":"A/b","properties":{"name":"Zoë"}}';

const signedStringified = (body: string): VerifyOptions => ({
  signature: hmac(JSON.stringify(JSON.parse(body))),
  secrets: [secret],
});

const diagnosed = (options: Parameters<typeof verify>[0]): VerifyResult =>
  verify({ diagnose: true, ...options }, () => new Deadline(Infinity));

/** Verifies the JSON above, with its secret and its signature unless the options have others. */
const verifyJson = (options: object = {}): VerifyResult =>
  verify({ body: json, signature: hmac(json), secrets: [secret], ...options });

describe('verify', () => {
  it.each([
    ['of another body', hmac('x')],
    ['with SHA-256', createHmac('sha256', secret).update(json).digest('hex')],
    ['that is cut off', hmac(json).slice(0, 39)],
    ['that is missing', undefined],
  ])('reports for a signature %s only that it does not match, unless it diagnoses', (_name, signature) => {
    const options = { signature, secrets: [secret] };
    expect(verify({ body: json, ...options })).toEqual({ valid: false });
    expect(new Verifier(options).update(Buffer.from(json)).finish()).toEqual({ valid: false });
    const asked = new Verifier({ ...options, diagnose: true }).update(Buffer.from(json)).finish();
    // A slow machine cuts the search short, and says so.
    expect(asked).toMatchObject({
      valid: false,
      diagnosis: {
        code: expect.any(String),
        codes: expect.any(Array),
        confidence: expect.any(String),
        hint: expect.any(String),
      },
    });
  });

  it.each([
    ['verify', (body: string, options: VerifyOptions) => verify({ body, ...options })],
    [
      'Verifier',
      (body: string, options: VerifyOptions) => new Verifier(options).update(Buffer.from(body)).finish(),
    ],
  ])('%s parses a large body only when it diagnoses', (_name, run) => {
    const parse = vi.spyOn(JSON, 'parse');
    onTestFinished(() => parse.mockRestore());
    const largest = `[  ${'1,'.repeat(LARGEST_STRINGIFIED_BODY / 2 - 3)}1]\n`;
    expect(largest).toHaveLength(LARGEST_STRINGIFIED_BODY);
    const [within, beyond] = [signedStringified(largest), signedStringified(`${largest}\n`)];
    parse.mockClear();
    expect(run(largest, within)).toMatchObject({ valid: true, over: 'stringified' });
    // Once to compare, once to find what parsing loses.
    expect(parse).toHaveBeenCalledTimes(2);
    expect(run(`${largest}\n`, beyond)).toEqual({ valid: false });
    expect(parse).toHaveBeenCalledTimes(2);
    expect(run(`${largest}\n`, { ...beyond, diagnose: true })).toMatchObject({ valid: true });
  });

  it('accepts the bytes', () => {
    expect(verifyJson()).toEqual({ valid: true, secret: 1, over: 'bytes' });
  });

  it('returns which of several secrets matched, and the first of duplicates', () => {
    const options = { signature: hmac(json, 'old'), secrets: ['new', 'old', 'old'] };
    expect(verifyJson(options)).toMatchObject({ secret: 2 });
  });

  it.each([
    ['upper case', hmac(json).toUpperCase()],
    ['white space around', ` \t${hmac(json)}\r\n`],
    ['a sha1= prefix', `sha1=${hmac(json)}`],
    ['the whole header', `X-Signature: ${hmac(json)}`],
  ])('accepts %s', (_name, signature) => {
    expect(verifyJson({ signature }).valid).toBe(true);
  });

  it.each([
    ['nothing', ''],
    ['39 digits', hmac(json).slice(1)],
    ['41 digits', `${hmac(json)}0`],
    ['40 characters that are no hex', 'z'.repeat(40)],
    ['the signature twice', `${hmac(json)}, ${hmac(json)}`],
    ['a sha256= prefix before 40 digits', `sha256=${hmac(json)}`],
    ['quotes', `"${hmac(json)}"`],
    ['a megabyte', 'a'.repeat(1_000_000)],
  ])('does not match %s', (_name, signature) => {
    expect(verifyJson({ signature }).valid).toBe(false);
  });

  it.each([
    ['trailing-newline', `${json}\n`],
    ['trailing-newline', `${json}\r\n\r\n`],
    ['bom', `\ufeff${json}`],
    ['pretty-printed', JSON.stringify(JSON.parse(json), null, 2)],
    ['pretty-printed', JSON.stringify(JSON.parse(json), null, 2).replaceAll('\n', '\r\n')],
    ['pretty-printed', ` ${json}`],
    ['python-json', json.replaceAll(',"', ', "').replaceAll('":', '": ').replace('ë', '\\u00eb')],
    ['escaped-unicode', json.replace('ë', '\\u00EB')],
    ['escaped-slash', json.replace('/', '\\/')],
  ])('accepts the JSON-stringified body, and notes %s', (note, body) => {
    const signature = hmac(json);
    const match = { valid: true, secret: 2, over: 'stringified', note };
    expect(verify({ body, signature, secrets: ['x', secret] })).toEqual(match);
    const mismatch = { valid: false, diagnosis: { code: note } };
    expect(diagnosed({ body, signature, secrets: [secret], exact: true })).toMatchObject(mismatch);
  });

  it.each([
    ['reordered-keys', '{"b":1,"1":2}', '{"1":2,"b":1}'],
    ['other-encoding', '{"a":1.0}', '{"a":1}'],
    ['other-encoding', '{"a":1e2}', '{"a":100}'],
  ])('notes %s if only JavaScript spells the body differently', (note, body, stringified) => {
    const signature = hmac(stringified);
    expect(verify({ body, signature, secrets: [secret] })).toMatchObject({ valid: true, note });
  });

  it('rejects an empty secret and an empty list, with which anyone could sign', () => {
    const signature = hmac(json, '');
    const sentence = 'Expected at least one secret to verify with, got none or a blank one';
    expect(() => verifyJson({ signature, secrets: [''] })).toThrow(sentence);
    expect(() => verifyJson({ signature, secrets: [secret, ''] })).toThrow('blank one');
    expect(() => new Verifier({ signature, secrets: [] })).toThrow('got none');
  });

  it.each([undefined, null])('does not match a missing header: %s', (signature) => {
    const hint = expect.stringContaining('the signature is empty') as string;
    expect(diagnosed({ body: json, signature, secrets: [secret] })).toMatchObject({
      valid: false,
      diagnosis: { code: 'no-match', hint },
    });
    expect(new Verifier({ signature, secrets: [secret] }).finish().valid).toBe(false);
  });

  it.each<[options: object, sentence: string]>([
    [{ signature: Buffer.from(hmac(json)) }, 'Expected the signature to be a string, got an object'],
    [{ signature: [hmac(json)] }, 'Expected the signature to be a string, got a list'],
    [{ secrets: secret }, 'Expected `secrets` to be a list of strings'],
    [{ secrets: [secret, undefined] }, 'Expected `secrets` to be a list of strings'],
  ])('explains a mistake of a JavaScript program: %j', (options, sentence) => {
    expect(() => verifyJson(options)).toThrow(SignatureError);
    expect(() => verifyJson(options)).toThrow(sentence);
  });

  it.each<[options: object, sentence: string, hint: string]>([
    [{ secret }, 'Expected an option, got `secret`', 'did you mean `secrets`?'],
    [{ sharedSecret: secret }, 'got `sharedSecret`', 'did you mean `secrets`?'],
    [{ exakt: true }, 'got `exakt`', 'did you mean `exact`?'],
    [{ diagnose: 'yes' }, 'Expected `diagnose` to be a boolean, got a string', 'leave it out'],
    [{ exact: 'no' }, 'Expected `exact` to be a boolean, got a string', 'leave it out'],
  ])('rejects the unknown option in %j', (options, sentence, hint) => {
    const given = { signature: hmac(json), secrets: [secret], ...options };
    const rejection = expect.objectContaining({
      message: expect.stringContaining(sentence) as string,
      hint: expect.stringContaining(hint) as string,
    }) as ConfigError;
    expect(() => verify({ body: json, ...given })).toThrow(rejection);
    expect(() => new Verifier(given)).toThrow(rejection);
  });

  it('requires a body', () => {
    const given = { body: undefined, signature: hmac(json), secrets: [secret] };
    expect(() => Reflect.apply(verify, undefined, [given])).toThrow(
      'Expected `body` to be a string or bytes, got nothing',
    );
    expect(() => Reflect.apply(verify, undefined, [])).toThrow('Expected options, got nothing');
  });

  it('survives a body nested too deep to stringify', () => {
    const body = '['.repeat(100_000) + ']'.repeat(100_000);
    expect(verify({ body, signature: hmac(body), secrets: [secret] }).valid).toBe(true);
    expect(verify({ body, signature: hmac('x'), secrets: [secret] }).valid).toBe(false);
  });

  it('takes linear time for a body of newlines', () => {
    const body = `${'\r\n'.repeat(500_000)}x`;
    expect(diagnosed({ body, signature: hmac('y'), secrets: [secret] })).toMatchObject({
      diagnosis: { code: 'no-match' },
    });
  });
});

describe('Verifier', () => {
  const large = Buffer.alloc(LARGEST_KEPT_BODY + 1, 'x');

  it('accepts chunks in one reused buffer', () => {
    const buffer = Buffer.alloc(7);
    const verifier = new Verifier({ signature: hmac(json), secrets: [secret] });
    const body = Buffer.from(`${json} `);
    for (let start = 0; start < body.length; start += buffer.length) {
      verifier.update(buffer.subarray(0, body.copy(buffer, 0, start)));
    }
    expect(verifier.finish()).toMatchObject({ valid: true, over: 'stringified' });
  });

  it('counts the bytes', () => {
    const verifier = new Verifier({ signature: '', secrets: [secret] });
    expect(verifier.update(Buffer.from('ab')).update(Buffer.from('c')).bytes).toBe(3);
  });

  it('verifies a body that is too large to keep', () => {
    expect(verify({ body: large, signature: hmac(large), secrets: ['x', secret] })).toMatchObject({
      secret: 2,
    });
  });

  it('diagnoses a final newline of a body that is too large to keep', () => {
    const withNewline = Buffer.concat([large, Buffer.from('\r\n')]);
    const mistake = { diagnosis: { code: 'trailing-newline' } };
    const given = { body: withNewline, signature: hmac(large), secrets: [secret] };
    expect(diagnosed(given)).toMatchObject(mistake);
    const signature = hmac(Buffer.concat([large, Buffer.from('\n')]));
    expect(diagnosed({ body: large, signature, secrets: [secret] })).toMatchObject(mistake);
  });

  it('reports that not every mistake was tried with a large body', () => {
    const verdict = diagnosed({ body: large, signature: hmac('x'), secrets: [secret] });
    expect(verdict).toMatchObject({
      diagnosis: { code: 'no-match', hint: expect.stringContaining('too large to try') as string },
    });
  });
});
