import { layoutOf } from '../signature/schemes/layout.ts';
import type { SignatureScheme } from '../signature/schemes/scheme.ts';
import type { Check } from './check.ts';

/** JSON that JSON.stringify would write differently: white space, numbers, escapes, the order of integer keys. */
const SPELLED_OTHERWISE = String.raw`"revenue" : 27.50, "total":1E2, "2":"\u0041", "1":"a\/b"`;

const FIX =
  'hash the bytes of the body as received, before any parser: express.raw(), request.get_data(), io.ReadAll(r.Body), request.raw_post';

/**
 * Creates the check that a receiver hashes the received bytes, not re-serialized JSON. With a lenient scheme, which allows
 * both (contract, Signature), a rejection is only advice.
 */
export function bytesChecks(schemes: readonly SignatureScheme[]): readonly Check[] {
  if (schemes.some(({ covers }) => covers === 'first')) return [];
  const isLenient = schemes.some((scheme) => scheme.isLenient === true);
  return [
    {
      code: 'raw-bytes',
      plain: 'track',
      title: 'JSON in another spelling than that of JSON.stringify, signed as is',
      expects: 'taken',
      needsSecret: true,
      ...(isLenient && { isAdvice: true }),
      requests: (sample) => {
        const body = sample.body('track', 'raw-bytes').toString();
        return [sample.signed(Buffer.from(body.replace('"revenue":27.5', SPELLED_OTHERWISE)))];
      },
      mistakes: {
        rejected: {
          code: 're-serialised',
          says: isLenient
            ? 'it verifies the JSON that it parsed and wrote again, not the bytes received: enough for Segment and hooks, which send the output of JSON.stringify, but wrong as soon as a sender, a proxy or another language writes numbers, escapes or spaces differently'
            : 'it accepts messages as JSON.stringify writes them, but rejects this one: it hashes re-serialized JSON, or its validation rejects the content',
          fix: FIX,
        },
      },
    },
  ];
}

/** The checks of headers with several signatures, which senders use while a secret is being changed. */
export function severalSignaturesChecks(schemes: readonly SignatureScheme[]): readonly Check[] {
  return schemes.flatMap((scheme) => {
    const { separator, name } = scheme;
    if (separator === undefined) return [];
    const header = layoutOf(scheme).signatureHeader.name;
    const between = separator === ' ' ? 'spaces' : 'commas';
    const check: Check = {
      code: `several-${name}`,
      plain: 'track',
      title: `two signatures of ${name}, the second of which is right`,
      expects: 'taken',
      needsSecret: true,
      isOwnMistake: true,
      requests: (sample) => [sample.signedTwice(sample.body('track', `several-${name}`), scheme)],
      mistakes: {
        rejected: {
          code: 'reads-first-signature',
          says: `it reads only the first of several signatures, so it rejects messages while the secret of ${name} is being changed`,
          fix: `split ${header} at its ${between} and compare each signature in it: one that is right is enough`,
        },
      },
    };
    return [check];
  });
}
