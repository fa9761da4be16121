import type { Check, ReceiverMistake } from './check.ts';
import type { CheckRequest, Sample } from './sample.ts';

/** The mistake of a receiver that fails on forgeries: anyone can make it fail, and a 5xx asks the senders to try again. */
const failing: ReceiverMistake = {
  code: 'fails-on-bad-signature',
  says: 'it fails instead of rejecting: usually an uncaught error of the comparison',
  fix: 'respond with 401 to every request that does not verify. Compare lengths first (timingSafeEqual throws when they differ), and compare bytes (compare_digest throws on text that is not ASCII)',
};

/** Makes a check that a forged request is rejected. */
export function forgery(
  code: string,
  title: string,
  mistakes: { readonly taken: ReceiverMistake; readonly failing?: ReceiverMistake },
  request: (sample: Sample, body: Buffer) => CheckRequest,
): Check {
  return {
    code,
    title,
    expects: 'rejected',
    needsSecret: true,
    // A receiver that ignores signatures accepts all forgeries, which is reported as the mistake of `wrong-signature`.
    ...(code !== 'unsigned' && code !== 'wrong-signature' && { plain: 'wrong-signature' }),
    requests: (sample) => [request(sample, sample.body('track', code, { event: 'Hooks Test Forgery' }))],
    mistakes: { failing, ...mistakes },
  };
}

const UNVERIFIED: Check['mistakes'] & { readonly taken: ReceiverMistake } = {
  taken: {
    code: 'accepts-any-signature',
    says: 'it lets forgers in: it accepts a wrong signature',
    fix: 'compute the HMAC-SHA1 of the raw body, compare it with X-Signature, and respond with 401 before doing anything else',
  },
};

/**
 * The checks that a receiver rejects senders without the secret (contract, Signature), and that their requests cannot crash
 * it.
 */
export const FORGERY_CHECKS: readonly Check[] = [
  forgery(
    'unsigned',
    'a message without a signature',
    {
      taken: {
        code: 'accepts-unsigned',
        says: 'it lets forgers in: it accepts a message without X-Signature',
        fix: 'respond with 401 when the header is missing, not only when it is wrong',
      },
    },
    (_sample, body) => ({ body }),
  ),
  forgery('wrong-signature', 'a signature whose last digit is wrong', UNVERIFIED, (sample, body) =>
    sample.forged(body, {}),
  ),
  forgery(
    'short-signature',
    'the first half of the right signature',
    {
      taken: {
        code: 'accepts-part-of-signature',
        says: 'it lets forgers in: a part of the signature is enough',
        fix: 'compare whole digests: startsWith, a prefix or the shorter of two lengths can be guessed digit by digit',
      },
    },
    (sample, body) => sample.forged(body, { change: (right) => right.slice(0, 20) }),
  ),
  forgery('garbage-signature', 'a signature that is neither hex nor ASCII', UNVERIFIED, (sample, body) =>
    sample.forged(body, { change: () => 'é'.repeat(40) }),
  ),
  forgery(
    'tampered',
    'a body that was changed after it was signed',
    {
      taken: {
        code: 'accepts-tampered',
        says: 'it lets forgers in: the signature of one body passes for another',
        fix: 'compute the signature over the whole body of this request',
      },
    },
    (sample, body) => ({
      ...sample.signed(body),
      body: Buffer.from(body.toString().replace('"revenue":27.5', '"revenue":99.5')),
    }),
  ),
  forgery('other-secret', 'a signature made with another secret', UNVERIFIED, (sample, body) =>
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
    mistakes: {
      taken: {
        code: 'accepts-malformed',
        says: 'it accepts bodies that it cannot have read',
        fix: 'parse before you respond, and respond with 400 to bodies that are not JSON',
      },
      failing: {
        code: 'fails-on-malformed',
        says: 'it fails on a body that is not JSON: usually an uncaught error of the parser',
        fix: 'verify first, then parse; respond with 400 to bodies that are not JSON: after a 5xx the message is sent again for 4 hours',
      },
    },
  },
];
