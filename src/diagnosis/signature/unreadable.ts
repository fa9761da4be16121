import { BUILT_IN_SCHEMES } from '../../signature/schemes/built-in.ts';
import { layoutOf } from '../../signature/schemes/layout.ts';
import type { SignatureEvidence } from '../../signature/evidence.ts';
import type { Explanation } from './diagnosis-for.ts';

/** The explanation of a value that is no signature, such as the word `undefined`. `found` follows "the signature". */
type KnownValue = Required<Pick<Explanation, 'found' | 'fix'>>;

const KNOWN_VALUES: readonly (readonly [pattern: RegExp, found: string, fix: string])[] = [
  [
    /^(?:undefined|null|None|nil|NaN|true|false)$/,
    'is a word for nothing: the sender had no digest when it wrote the header',
    'Compute the digest before the header is written, and return it from the function that signs',
  ],
  [
    /^\[object \w+\]$/,
    'is the text of an object: a Promise that was not awaited, or the HMAC without its digest',
    'Await the function that signs, and end the HMAC with .digest("hex")',
  ],
  [
    /^(?:\[[A-Z]@[0-9a-f]+|<Buffer .*|System\.Byte\[\])$/,
    'is the name of an array in memory, not its bytes',
    'Write the bytes of the digest in hex: HexFormat.of().formatHex(digest), .digest("hex"), Convert.ToHexString(digest)',
  ],
  [
    /^\$|^%\w+%$|^\{\{/,
    'is the name of a variable that was not expanded',
    'Give its value: "$SIGNATURE" in double quotes, not in single ones',
  ],
  [
    /^eyJ/,
    'is a JSON Web Token, not a digest of the body',
    'Send the HMAC-SHA1 of the body in X-Signature, and a token in Authorization',
  ],
];

/** Explains a value that clearly is not a signature, or looks like a built-in scheme's header. Otherwise undefined. */
export function knownValue(value: string): KnownValue | undefined {
  const text = value.trim();
  const [, found, fix] = KNOWN_VALUES.find(([pattern]) => pattern.test(text)) ?? [];
  return found === undefined || fix === undefined ? otherSchemeValue(text) : { found, fix };
}

/**
 * Explains a value that begins like the header of a built-in scheme. Undefined if it begins like none of them, or only
 * with the name of a hash, as in `sha256=`.
 */
function otherSchemeValue(text: string): KnownValue | undefined {
  const scheme = BUILT_IN_SCHEMES.find((each) =>
    layoutOf(each).signatureHeader.parts.some((part) => part.text !== '' && text.startsWith(part.text)),
  );
  if (scheme === undefined || text.startsWith(`${scheme.hash}=`)) return undefined;
  const { signatureHeader, headers } = layoutOf(scheme);
  const flags = headers.map(({ name }) => `-H "${name}: …"`).join(' ');
  return {
    found: `has the form of ${signatureHeader.name} (${scheme.title}), which signs ${scheme.signs}`,
    fix: `Give its headers: --scheme ${scheme.name} ${flags}`,
  };
}

/** Explains a signature that is the secret itself, as text, hex or base64. Undefined for other signatures. */
export function explainRepeated(
  { secrets }: SignatureEvidence,
  [text = '']: readonly string[],
): Explanation | undefined {
  for (const encoding of ['utf8', 'hex', 'base64'] as const) {
    const bytes = Buffer.from(text, encoding);
    const form = encoding === 'utf8' ? '' : ` in ${encoding}`;
    if (secrets.some((secret) => secret !== '' && bytes.equals(Buffer.from(secret)))) {
      return { code: 'no-match', found: `the signature is the secret itself${form}`, fix: SECRET_SENT };
    }
  }
  return undefined;
}

const SECRET_SENT =
  'Send the HMAC of the body, keyed with the secret, and make a new secret, because this one was sent';
/** The fix for a digest with other bytes around it: in Go, mac.Sum(body) appends the digest to the body. */
export const SUM_OF_NIL =
  'Hash the body, then write the digest alone: in Go, mac.Write(body) and mac.Sum(nil), because mac.Sum(body) only puts the body before the digest';
