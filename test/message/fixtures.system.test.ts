// Needs openssl.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { MESSAGE_TYPES } from '../../src/message/types.ts';
import { hasTool } from '../external-tool.ts';

const SECRET = 'hooks-fixture-secret';

it.skipIf(!hasTool('openssl', 'version')).each(MESSAGE_TYPES)(
  'the golden signature of %s is what openssl says',
  (type) => {
    const golden = (ending: string): Buffer =>
      readFileSync(new URL(`../../fixtures/golden/${type}.${ending}`, import.meta.url));
    const printed = execFileSync('openssl', ['dgst', '-sha1', '-hmac', SECRET], {
      input: golden('body'),
      encoding: 'utf8',
    });
    expect(printed.trim().split(' ').at(-1)).toBe(golden('sig').toString());
  },
);
