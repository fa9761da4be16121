import type { SignatureScheme } from '../signature/schemes/scheme.ts';
import { signedTitles, type Check, type ReceiverMistake } from './check.ts';

/** JSON that JSON.stringify would write differently: spaces, numbers, escapes, the order of integer keys. */
const SPELLED_OTHERWISE = String.raw`"revenue" : 27.50, "total":1E2, "2":"\u0041", "1":"a\/b"`;

const ONLY_STRINGIFIED: ReceiverMistake = {
  code: 're-serialised',
  says: 'it verifies the JSON that it parsed and wrote again, not the bytes received: enough for Segment and hooks, which send the output of JSON.stringify, but wrong as soon as a sender, a proxy or another language writes numbers, escapes or spaces differently',
  fix: 'hash the bytes of the body as received, before any parser: express.raw({ type: "*/*" }), request.get_data(), io.ReadAll(r.Body), request.raw_post',
};

/**
 * Creates the check that a receiver hashes the received bytes, not re-serialized or trimmed JSON. With a lenient scheme,
 * which allows the JSON-stringified body too (contract, Signature), hashing that is only advice.
 */
export function bytesChecks(schemes: readonly SignatureScheme[]): readonly Check[] {
  if (schemes.some(({ covers }) => covers === 'first')) return [];
  return [
    {
      code: 'raw-bytes',
      title: 'JSON in another spelling, with white space around it, signed as is',
      expects: 'taken',
      needsSecret: true,
      ...(schemes.some((scheme) => scheme.isLenient === true) && { advice: ONLY_STRINGIFIED }),
      requests: (sample) => {
        const body = sample.body('track', 'raw-bytes').toString();
        const spelled = body.replace('"revenue":27.5', SPELLED_OTHERWISE);
        return [sample.signed(Buffer.from(` ${spelled}\n`))];
      },
    },
  ];
}

/** The check that a receiver puts the parts of a body together before it decodes them. */
export const PARTS_CHECK: Check = {
  code: 'in-parts',
  ...signedTitles('a body that arrives in three parts, cut within characters'),
  expects: 'taken',
  isOwnMistake: true,
  requests: (sample) => {
    const body = sample.body('track', 'in-parts', { properties: { text: CUT.join(', ') } });
    return [{ ...sample.signed(body), cutsAt: CUT.map((text) => body.indexOf(text) + 1) }];
  },
};
/** Texts that are cut after the first byte of their first character, which has several. */
const CUT = ['👩‍💻 has eleven bytes', '京 has three'];

/** The checks of headers with several signatures, which senders use while a secret is being changed. */
export function severalSignaturesChecks(schemes: readonly SignatureScheme[]): readonly Check[] {
  return schemes.flatMap((scheme) => {
    const { separator, name } = scheme;
    if (separator === undefined) return [];
    const check: Check = {
      code: `several-${name}`,
      title: `two signatures of ${name}, the second of which is right`,
      expects: 'taken',
      needsSecret: true,
      isOwnMistake: true,
      requests: (sample) => [sample.signedTwice(sample.body('track', `several-${name}`), scheme)],
    };
    return [check];
  });
}
