import { describe, expect, it } from 'vitest';
import { readSecret, readSecretFile } from '../../src/signature/secret.ts';

const file = (text: string): Uint8Array => Buffer.from(text, 'utf8');

describe('readSecret', () => {
  it('takes a secret as it is, white space included', () => {
    expect(readSecret(' s ', '--secret')).toBe(' s ');
  });

  it('refuses an empty one and names where it is from', () => {
    expect(() => readSecret('', 'HOOKS_SECRET')).toThrow('The secret is empty (from HOOKS_SECRET)');
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
  ])('takes exactly one final newline from %j', (content, secret) => {
    expect(readSecretFile(file(content), 'f')).toBe(secret);
  });

  it.each(['', '\n', '\r\n'])('refuses %j as empty', (content) => {
    expect(() => readSecretFile(file(content), '--secret-file f')).toThrow(
      'The secret is empty (from --secret-file f)',
    );
  });

  it('refuses what is not UTF-8 and does not show it', () => {
    expect(() => readSecretFile(Buffer.from([0x73, 0xff]), 'f')).toThrow(
      'The secret is not valid UTF-8 (from f)',
    );
  });
});
