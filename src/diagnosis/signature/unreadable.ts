import type { Diagnosis, SignatureEvidence } from '../../signature/evidence.ts';
import type { SignatureScheme } from '../../signature/schemes/scheme.ts';
import { DIGEST_BYTES } from './constructs.ts';
import { diagnosisFor, recipeOf, type Explanation } from './diagnosis-for.ts';

/** Explains a signature that is not a complete digest: a known value, a malformed header, or a wrong length. */
export function explainUnreadable(evidence: SignatureEvidence): Diagnosis {
  const { scheme, presented } = evidence;
  const text = presented.signatures[0]?.trim() ?? presented.value;
  const found = text === '' ? 'the signature is empty' : `the signature has ${lengthOf(text, scheme)}`;
  return diagnosisFor(
    evidence,
    knownValue(evidence, text) ??
      presented.problem ?? { code: 'no-match', found, fix: wholeSignature(scheme) },
  );
}

function lengthOf(text: string, { hash, encoding }: SignatureScheme): string {
  const whole = Buffer.alloc(DIGEST_BYTES[hash]).toString(encoding).length;
  return `${text.length} ${text.length === 1 ? 'character' : 'characters'} instead of ${whole} in ${encoding}`;
}

function wholeSignature(scheme: SignatureScheme): string {
  if (scheme.isLenient !== true) return recipeOf(scheme);
  return 'Look at how the sender writes the digest and at whether the header was copied whole: X-Signature is the HMAC-SHA1 in 40 hex digits';
}

/** Known values that are not signatures. `found` follows the words "the signature". */
const KNOWN_VALUES: readonly (readonly [pattern: RegExp, found: string, fix: string])[] = [
  [
    /^(?:undefined|null|None|nil|NaN|true|false|\[object \w+\]|\[[A-Z]@[0-9a-f]+|<Buffer .*|System\.Byte\[\])$/,
    'is no digest, but what a program prints for nothing, for a Promise that was not awaited, or for an array of bytes',
    'Compute the digest before the header is written: await the function that signs, and end the HMAC with .digest("hex") (HexFormat.of().formatHex(digest), Convert.ToHexString(digest))',
  ],
  [
    /^\$|^%\w+%$|^\{\{/,
    'is the name of a variable that was not expanded',
    'Give its value: "$SIGNATURE" in double quotes, not in single ones',
  ],
];

/** Explains a value that is one of our secrets or clearly not a signature. Undefined for other values. */
export function knownValue({ secrets }: SignatureEvidence, value: string): Explanation | undefined {
  const text = value.trim();
  if (text !== '' && secrets.includes(text)) {
    return { code: 'no-match', found: 'the signature is the secret itself', fix: SECRET_SENT };
  }
  const [, found, fix = ''] = KNOWN_VALUES.find(([pattern]) => pattern.test(text)) ?? [];
  return found === undefined ? undefined : { code: 'no-match', found: `the signature ${found}`, fix };
}

const SECRET_SENT =
  'Send the HMAC of the body, keyed with the secret, and make a new secret, because this one was sent';
