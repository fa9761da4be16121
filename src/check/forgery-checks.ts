import type { Check } from './check.ts';
import type { CheckRequest, Sample } from './sample.ts';

/** Makes a check that a forged request is rejected. */
export function forgery(
  code: string,
  title: string,
  request: (sample: Sample, body: Buffer) => CheckRequest,
): Check {
  return {
    code,
    title,
    expects: 'rejected',
    needsSecret: true,
    requests: (sample) => [request(sample, sample.body('track', code, { event: 'Hooks Test Forgery' }))],
  };
}

/**
 * The checks that a receiver rejects senders without the secret (contract, Signature), and that their requests cannot crash
 * it.
 */
export const FORGERY_CHECKS: readonly Check[] = [
  forgery('unsigned', 'a message without a signature', (_sample, body) => ({ body })),
  forgery('wrong-signature', 'a signature whose last digit is wrong', (sample, body) =>
    sample.forged(body, {}),
  ),
  forgery('short-signature', 'the first half of the right signature', (sample, body) =>
    sample.forged(body, { change: (right) => right.slice(0, 20) }),
  ),
  forgery('garbage-signature', 'a signature that is neither hex nor ASCII', (sample, body) =>
    sample.forged(body, { change: () => 'é'.repeat(40) }),
  ),
  forgery('tampered', 'a body that was changed after it was signed', (sample, body) => ({
    ...sample.signed(body),
    body: Buffer.from(body.toString().replace('"revenue":27.5', '"revenue":99.5')),
  })),
  forgery('other-secret', 'a signature made with another secret', (sample, body) =>
    sample.signedWithOther(body),
  ),
  {
    code: 'malformed',
    title: 'bodies that are not JSON, signed: cut off, and empty',
    titleUnsigned: 'bodies that are not JSON, unsigned: cut off, and empty',
    expects: 'rejected',
    requests: (sample) => [
      sample.signed(sample.body('track', 'malformed').subarray(0, 60)),
      sample.signed(Buffer.alloc(0)),
    ],
  },
];
