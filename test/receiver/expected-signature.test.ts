import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { ReceiverOptions } from '../../src/receiver/options.ts';
import { answered, start } from './starting.ts';

const SECRET = 'hooks-oracle-secret';
const BODY = '{"version":1,"type":"track","userId":"u1","event":"Signup","properties":{}}';

/** The signatures that a forger could use: each algorithm in hex and base64. */
const EXPECTED = ['sha1', 'sha256', 'sha512'].flatMap((algorithm) =>
  (['hex', 'base64'] as const).map((encoding) => createHmac(algorithm, SECRET).update(BODY).digest(encoding)),
);

const RECEIVERS: readonly (readonly [name: string, options: Partial<ReceiverOptions>])[] = [
  ['that only reports requests', {}],
  ['that requires a signature', { requireSignature: true }],
  ['that requires a signature of another scheme', { requireSignature: true, scheme: 'github' }],
  ['that has a check', { requireSignature: true, check: () => 'not expected' }],
  ...['200', '401', '503x2,200', '302'].map(
    (script) => [`that responds with ${script}`, answered(script)] as const,
  ),
];

const FORGERIES: readonly Record<string, string>[] = [
  {},
  { 'X-Signature': '0'.repeat(40) },
  { 'X-Signature': 'undefined' },
  // The correct signature with a wrong last digit, and a signature with another secret.
  { 'X-Signature': `${EXPECTED[0]?.slice(0, -1)}x` },
  { 'X-Signature': createHmac('sha1', 'other').update(BODY).digest('hex') },
  { 'X-Hub-Signature-256': `sha256=${'0'.repeat(64)}` },
];

describe('a receiver', () => {
  it.each(RECEIVERS)('%s never responds with the signature that it expects', async (_name, options) => {
    const { receiver, requests } = await start({ secrets: [SECRET], ...options });
    for (const headers of FORGERIES) {
      const response = await fetch(`${receiver.url}/hook`, {
        method: 'POST',
        body: BODY,
        headers,
        redirect: 'manual',
      });
      const seen = [response.statusText, ...[...response.headers].flat(), await response.text()].join('\n');
      for (const signature of EXPECTED) expect(seen).not.toContain(signature);
      expect(seen).not.toContain(SECRET);
    }
    expect(requests).toHaveLength(FORGERIES.length);
    // The person who runs the receiver may see the signature.
    const { scheme } = options;
    const shown = { expected: EXPECTED[0], got: '0'.repeat(40) };
    if (scheme === undefined) expect(requests[1]).toMatchObject(shown);
  });
});
