// Needs openssl.
import { execFileSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { hasTool } from '../external-tool.ts';
import { bodyOf, digestOf, keyOf, valid } from './read-vectors.ts';

it.runIf(hasTool('openssl', 'version')).each(valid)('$name is what openssl says too', (vector) => {
  const key = `hexkey:${keyOf(vector).toString('hex')}`;
  const printed = execFileSync('openssl', ['dgst', '-sha1', '-mac', 'HMAC', '-macopt', key, '-r'], {
    input: bodyOf(vector),
  });
  expect(printed.toString().slice(0, 40)).toBe(digestOf(vector));
});
