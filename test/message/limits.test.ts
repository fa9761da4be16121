import { describe, expect, it } from 'vitest';
import { ValidationError } from '../../src/errors.ts';
import { validateMessageSize, messageBytes } from '../../src/message/build.ts';
import { MAX_MESSAGE_BYTES } from '../../src/message/limits.ts';

describe('validateMessageSize', () => {
  it('accepts a message of exactly the limit', () => {
    expect(() => validateMessageSize(MAX_MESSAGE_BYTES)).not.toThrow();
  });

  it('rejects one byte more, with the limit and the size', () => {
    expect(() => validateMessageSize(MAX_MESSAGE_BYTES + 1)).toThrow(
      expect.objectContaining({
        constructor: ValidationError,
        message: 'Expected a message of at most 32,768 bytes as JSON, got 32,769',
        path: '',
        got: '32,769 bytes',
      }),
    );
  });
});

describe('messageBytes', () => {
  it('counts the UTF-8 bytes of the JSON, not its characters', () => {
    expect(messageBytes({ a: 'é🍰' })).toBe(Buffer.byteLength('{"a":"é🍰"}'));
    expect(messageBytes({ event: 'x'.repeat(100) })).toBe(112);
  });
});
