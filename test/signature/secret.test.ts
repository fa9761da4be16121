import { describe, expect, it } from 'vitest';
import { secrets, writeKey } from '../../src/config/table/kinds.ts';
import { validateSecret } from '../../src/engine/destination.ts';
import { validateReceiverOptions } from '../../src/receiver/options.ts';
import { signRequest } from '../../src/signature/schemes/signer.ts';
import { readSecret, readSecretFile } from '../../src/signature/secret.ts';
import { sign } from '../../src/signature/sign.ts';
import { verify } from '../../src/app/explained.ts';

const file = (text: string): Uint8Array => Buffer.from(text, 'utf8');

describe('readSecret', () => {
  it('keeps a secret unchanged, including white space', () => {
    expect(readSecret(' s ', '--secret')).toBe(' s ');
  });

  it('rejects an empty secret with its origin', () => {
    expect(() => readSecret('', 'HOOKS_SECRET')).toThrow('The secret is empty (from HOOKS_SECRET)');
  });
});

/** Secrets without a visible character. */
const BLANK = [' ', '\n', '\t \r\n', '\u00a0', '\ufeff', '\u200b'];

describe('a blank secret', () => {
  const body = '{}';

  it.each(BLANK)('is rejected wherever a secret is read: %j', (secret) => {
    expect(() => readSecret(secret, '--secret')).toThrow('The secret is blank (from --secret)');
    expect(() => readSecretFile(file(`${secret}\n`), 'f')).toThrow('The secret is blank (from f)');
    expect(() => sign(body, secret)).toThrow('Expected a secret to sign with, got a blank one');
    expect(() => verify({ body, signature: '0'.repeat(40), secrets: ['s', secret] })).toThrow('a blank one');
    expect(() => signRequest({ body, secrets: [secret], scheme: 'github' })).toThrow('the secret is blank');
    const origin = { name: 'sharedSecret' };
    expect(() => secrets.parse([secret], origin)).toThrow('is a blank secret');
    expect(() => writeKey.parse(secret, origin)).toThrow('is a blank write key');
    expect(() => validateSecret(secret, 'sharedSecret')).toThrow('got a blank one');
    expect(() => validateReceiverOptions({ secrets: [secret], onRequest: () => {} })).toThrow(
      'no blank secret',
    );
  });

  it('has no visible character', () => {
    expect(readSecret(' \u200bé', '--secret')).toBe(' \u200bé');
  });
});

describe('readSecretFile', () => {
  it.each([
    ['s3cret', 's3cret'],
    ['s3cret\n', 's3cret'],
    ['s3cret\r\n', 's3cret'],
    ['s3cret\n\n', 's3cret\n'],
    ['s3cret\r', 's3cret\r'],
    [' s3cret \n', ' s3cret '],
    ['a\nb\n', 'a\nb'],
  ])('removes exactly one final newline from %j', (content, secret) => {
    expect(readSecretFile(file(content), 'f')).toBe(secret);
  });

  it.each(['', '\n', '\r\n'])('rejects %j as empty', (content) => {
    expect(() => readSecretFile(file(content), '--secret-file f')).toThrow(
      'The secret is empty (from --secret-file f)',
    );
  });

  it('rejects bytes that are not UTF-8 without showing them', () => {
    expect(() => readSecretFile(Buffer.from([0x73, 0xff]), 'f')).toThrow(
      'The secret is not valid UTF-8 (from f)',
    );
  });
});
