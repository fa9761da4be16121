import type { ReceiverMistake, ShownTexts, ShownDigest } from '../../check/check.ts';
import { Deadline } from '../../signature/deadline.ts';
import { detectSchemes } from '../../signature/schemes/detect-schemes.ts';
import { rawHeaderList } from '../../signature/schemes/header-list.ts';
import { SignatureVerifier } from '../../signature/signature-verifier.ts';
import { explainTexts } from '../signature/explain-signature.ts';
import { OLD_SECRET } from './common-mistakes.ts';
import { DIGEST_BYTES } from '../signature/constructs.ts';

/** Matches texts that may be a digest in hex or base64, by their length. */
const TOKEN = /(?<![\w+/])(?:[0-9a-f]{32,128}|[\w+/-]{22,88}={0,2})(?![\w+/=])/gi;
/** Matches words before a digest that mark it as computed by the receiver, such as `expected: `. */
const COMPUTED = /(?:expect|comput|calculat|should|want|local|\bours?\b|\bmine)[^\n]{0,40}$/i;
const LENGTHS: ReadonlySet<number> = new Set(Object.values(DIGEST_BYTES));
const MOST_BEFORE = 80;
const MOST_DIGESTS = 8;
/** Time limit of the search for each scheme, in ms. It is generous, because only a user at a terminal waits. */
const PATIENT_MS = 300;

/**
 * Searches a receiver's response and output for the digest that the receiver computed, and explains the digest by the
 * changes of secret or body that reproduce it. If that digest was sent, the receiver compares wrongly. Returns an empty
 * object if no change explains the digest. Undefined if no computed digest is shown, or without secrets.
 */
export function explainShownDigest(texts: ShownTexts): ShownDigest | undefined {
  const { shown, request, secrets } = texts;
  const headers = rawHeaderList(request.headers);
  const { schemes = detectSchemes(headers, { own: [], secrets }) } = texts;
  const sent = headers.map(([, value]) => value.toLowerCase()).join('\n');
  const computed = digestsIn(shown).filter(({ before }) => COMPUTED.test(before));
  const others = computed.map(({ text }) => text).filter((text) => !sent.includes(text.toLowerCase()));
  if (secrets.length === 0 || computed.length === 0) return undefined;
  if (others.length === 0) return { mistake: COMPARES_WRONGLY };
  for (const scheme of schemes) {
    const options = { secrets, scheme: [scheme], headers, ignoreTimestamp: true };
    const verifier = new SignatureVerifier(options).update(request.body);
    const evidence = verifier.mismatch({}, new Deadline(PATIENT_MS));
    if (evidence.kind !== 'signature') continue;
    const explained = explainTexts(evidence, others.slice(0, MOST_DIGESTS));
    if (explained === undefined) continue;
    // `missing-prefix`: the digest is right for one of the secrets. The request was signed with another one.
    if (explained.code === 'missing-prefix' && secrets.length > 1) return { mistake: OLD_SECRET };
    const says = `it shows the signature that it expects: ${explained.found}`;
    return { mistake: { code: explained.code, says, fix: explained.fix } };
  }
  return {};
}

const COMPARES_WRONGLY = {
  code: 'compares-wrongly',
  says: 'it shows the right signature as the one that it expects: it takes what came from another header, compares the two in a wrong way, or rejects the message for another reason, such as its timestamp',
  fix: 'print what it reads from the header (PHP: $_SERVER["HTTP_X_SIGNATURE"]; Node: names in lower case); then compare the whole header with the whole text, both in one case and without a prefix or white space (split("=") cuts the padding of base64): a Buffer never equals a string, and timingSafeEqual takes two Buffers of one length',
} satisfies ReceiverMistake;

interface Token {
  readonly text: string;
  readonly before: string;
}

function digestsIn(text: string): readonly Token[] {
  return Array.from(text.matchAll(TOKEN), ({ 0: token, index }) => {
    return { text: token, before: text.slice(Math.max(0, index - MOST_BEFORE), index) };
  }).filter(({ text: token }) => {
    const encoding = /^[0-9a-f]+$/i.test(token) ? 'hex' : 'base64';
    return LENGTHS.has(Buffer.from(token, encoding).length);
  });
}
