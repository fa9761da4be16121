import type { Diagnosis, SchemeEvidence } from '../../signature/evidence.ts';
import { sameDigest } from '../../signature/given-signature.ts';
import { keyedHmac, type HmacAlgorithm } from '../../signature/hmac.ts';
import type { HeaderProblem, PresentedSignature } from '../../signature/schemes/presented-signature.ts';
import { layoutOf } from '../../signature/schemes/layout.ts';
import type { SignatureScheme } from '../../signature/schemes/scheme.ts';
import { verifyingSecretFix } from '../../signature/schemes/secrets.ts';
import { BodyDigests } from '../../signature/body/body-digests.ts';
import { diagnosisOf, explainDigest, isPartOf } from './diagnose.ts';
import type { Evidence } from './find-mistake.ts';
import { frameVariants } from './frame-variants.ts';
import { hmacName, otherHashCode } from './hash-variants.ts';
import type { ReasonCode } from '../../signature/reasons.ts';

/** Finds out why a signature that is in the form of a scheme does not match. */
export function explainScheme(given: SchemeEvidence): Diagnosis {
  const { presented, ageProblem, isRight, deadline } = given;
  const evidence = evidenceOf(given);
  if (isRight && ageProblem !== undefined) {
    return problemDiagnosis(evidence, ageProblem, '; the signature itself is right');
  }
  if (presented.problem !== undefined && presented.problem.code !== 'missing-prefix') {
    return problemDiagnosis(evidence, presented.problem);
  }
  for (const text of textsOf(presented)) {
    const found = explainText(given, evidence, text);
    if (found !== undefined) return found;
  }
  if (presented.problem !== undefined) return problemDiagnosis(evidence, presented.problem);
  const digest = presented.signatures
    .map((text) => readNotation(text)?.digest)
    .find((each) => each !== undefined);
  if (digest === undefined) {
    return diagnosisOf('no-match', evidence, unreadable(given), recipeOf(given.scheme));
  }
  const diagnosis = explainDigest(evidence, digest, deadline);
  if (diagnosis.code !== 'no-match' || given.keys.length > 0) return diagnosis;
  return diagnosisOf(
    'unusable-secret',
    evidence,
    `no secret can be a key of ${given.scheme.name}`,
    capitalized(verifyingSecretFix(given.scheme)),
  );
}

function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function evidenceOf(evidence: SchemeEvidence): Evidence {
  const { scheme, presented, headers, body } = evidence;
  return {
    ...evidence,
    // Always `unknown`, because only signatures of X-Signature are classified by their shape.
    given: { shape: 'unknown', text: presented.value },
    frames: frameVariants(scheme, headers, body, presented.fields),
    recipe: recipeOf(scheme),
  };
}

function problemDiagnosis(evidence: Evidence, { code, found, fix }: HeaderProblem, also = ''): Diagnosis {
  return diagnosisOf(code, evidence, found + also, fix);
}

/** How to sign by a scheme, in one sentence. */
function recipeOf(scheme: SignatureScheme): string {
  const { signatureHeader } = layoutOf(scheme);
  const { hash, encoding, signs, name, headers } = scheme;
  const key = scheme.secret === 'base64' ? 'the bytes that the secret is the base64 of' : 'the secret';
  return `Sign as ${name} does: ${hmacName(hash)} over ${signs}, keyed with ${key}, in ${encoding}, sent as ${signatureHeader.name}: ${headers[signatureHeader.name]}`;
}

/** The received signatures; for a malformed header, the parts of it that may be a signature. */
function textsOf({ signatures, value, problem }: PresentedSignature): readonly string[] {
  if (problem === undefined) return signatures.slice(0, MOST_TEXTS);
  const bare = value
    .split(/[\s,;]+/)
    .map((text) => text.replace(/^(?:v\d[=,]|t=\d+|sha-?\d+=|signature=)/i, ''));
  return [...new Set([value, ...bare])].filter((text) => text !== '').slice(0, MOST_TEXTS);
}

/** Maximum texts to try as a signature, because a header may have hundreds. */
const MOST_TEXTS = 4;

interface Notation {
  readonly digest: Buffer;
  readonly encoding: 'hex' | 'base64' | 'upper-case hex' | 'base64url';
}

/** Reads a digest of 16 to 64 bytes in hex or base64. */
function readNotation(given: string): Notation | undefined {
  const text = given.trim().replace(/^(?:sha-?\d+|v\d+)[=,:]/i, '');
  if (/^(?:[0-9a-f]{2}){16,64}$/i.test(text)) {
    const encoding = text === text.toLowerCase() ? 'hex' : 'upper-case hex';
    return { digest: Buffer.from(text, 'hex'), encoding };
  }
  if (!/^[0-9a-z+/_-]{22,88}={0,2}$/i.test(text)) return undefined;
  const digest = Buffer.from(text, 'base64');
  return { digest, encoding: digest.toString('base64') === text ? 'base64' : 'base64url' };
}

const HASH_BY_BYTES: Readonly<Record<number, HmacAlgorithm>> = {
  16: 'md5',
  20: 'sha1',
  32: 'sha256',
  48: 'sha384',
  64: 'sha512',
};

/**
 * Explains a signature that was computed over the right text, but has a wrong hash, encoding, prefix or length. Undefined
 * if the signature is not known to be over the right text.
 */
function explainText(given: SchemeEvidence, evidence: Evidence, text: string): Diagnosis | undefined {
  const { scheme, presented, keys, body, digests } = given;
  const notation = readNotation(text);
  const algorithm = HASH_BY_BYTES[notation?.digest.length ?? 0];
  if (notation === undefined || algorithm === undefined) return truncated(given, evidence, text);
  const isOwnHash = algorithm === scheme.hash;
  if (!isOwnHash && body === undefined) return undefined;
  const right = isOwnHash
    ? digests
    : new BodyDigests(algorithm, keys, digests.frame).update(body?.bytes ?? Buffer.alloc(0));
  if (!right.all().some((each) => sameDigest(each, notation.digest))) return undefined;
  const [code, found] = wrongForm(scheme, notation, algorithm);
  const isPrefix = presented.problem?.code === 'missing-prefix' || code === 'no-match';
  const also = isPrefix && isOwnHash ? ', but its prefix is different' : '';
  return diagnosisOf(
    isPrefix && isOwnHash && notation.encoding === scheme.encoding ? 'missing-prefix' : code,
    evidence,
    found + also,
    recipeOf(scheme),
  );
}

function wrongForm(
  scheme: SignatureScheme,
  { encoding }: Notation,
  algorithm: HmacAlgorithm,
): readonly [code: ReasonCode, found: string] {
  const name = hmacName(algorithm);
  if (algorithm !== scheme.hash) {
    return [otherHashCode(algorithm), `it is the ${name} of the signed text, in ${encoding}`];
  }
  if (encoding === scheme.encoding) return ['no-match', `it is the right ${name}`];
  const code = encoding.startsWith('base64') && scheme.encoding === 'hex' ? 'base64' : 'other-encoding';
  return [code, `it is the right ${name}, written in ${encoding} instead of ${scheme.encoding}`];
}

function truncated(
  { digests, scheme }: SchemeEvidence,
  evidence: Evidence,
  text: string,
): Diagnosis | undefined {
  if (!isPartOf(digests, text, scheme.encoding)) return undefined;
  const found = `the signature is ${text.length} characters of the right one`;
  return diagnosisOf('truncated-signature', evidence, found);
}

function unreadable({ scheme, presented: { signatures } }: SchemeEvidence): string {
  const length = signatures[0]?.length ?? 0;
  const size = keyedHmac(scheme.hash, '').digest().toString(scheme.encoding).length;
  return `the signature has ${length} ${length === 1 ? 'character' : 'characters'}, and ${size} in ${scheme.encoding} are expected`;
}
