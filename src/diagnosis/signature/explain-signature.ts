import type { BodyDigests } from '../../signature/body/body-digests.ts';
import {
  diagnosisOf,
  mismatchText,
  type Confidence,
  type Diagnosis,
  type SignatureEvidence,
} from '../../signature/evidence.ts';
import { sameText } from '../../signature/lenient-signature.ts';
import { REASONS, type ReasonCode } from '../../signature/reasons.ts';
import { layoutOf } from '../../signature/schemes/layout.ts';
import type { HeaderProblem, PresentedSignature } from '../../signature/schemes/presented-signature.ts';
import type { SignatureScheme } from '../../signature/schemes/scheme.ts';
import { verifyingSecretFix } from '../../signature/schemes/secrets.ts';
import { unexpandedName } from '../../signature/secret.ts';
import { bodyLooks } from './body-looks.ts';
import { hmacName } from './constructs.ts';
import { oddLooksOf } from './other-secrets.ts';
import { DIGEST_BYTES, readingsOf, whatOf, type Reading } from './readings.ts';
import { searchChanges, type SearchResult } from './search.ts';
import { knownValue } from './unreadable.ts';

/** Finds out why a signature does not match: by its headers, then by a search for the changes that reproduce it. */
export function explainSignature(evidence: SignatureEvidence): Diagnosis {
  const { presented, ageProblem, isRight } = evidence;
  if (isRight && ageProblem !== undefined) {
    return explanation(evidence, {
      ...ageProblem,
      found: `${ageProblem.found}; the signature itself is right`,
    });
  }
  const { problem } = presented;
  if (problem !== undefined && problem.code !== 'missing-prefix') return explanation(evidence, problem);
  const texts = textsOf(presented);
  const several = problem === undefined ? severalOf(evidence, texts) : undefined;
  if (several !== undefined) return explanation(evidence, several);
  const readings = texts.flatMap((text) => readingsOf(text, evidence.scheme));
  if (readings.length === 0) return explainUnreadable(evidence);
  const result = search(evidence, readings);
  if (result.kind === 'found') return explainFound(evidence, result, problem);
  return problem === undefined ? explainNoMatch(evidence, readings, result) : explanation(evidence, problem);
}

/** Maximum texts to try as a signature, because a header may have hundreds. */
const MOST_TEXTS = 4;

/** The received signatures; for a malformed header, the parts of it that may be a signature. */
function textsOf({ signatures, value, problem }: PresentedSignature): readonly string[] {
  if (problem === undefined) return signatures.slice(0, MOST_TEXTS);
  const bare = value
    .split(/[\s,;]+/)
    .map((text) => text.replace(/^(?:v\d[=,]|t=\d+|sha-?\d+=|signature=)/i, ''));
  return [...new Set([value, ...bare])].filter((text) => text !== '').slice(0, MOST_TEXTS);
}

function search(evidence: SignatureEvidence, readings: readonly Reading[]): SearchResult {
  const { body, digests } = evidence;
  if (body !== undefined) return searchChanges({ ...evidence, body }, readings);
  // Without the body, only its end can be changed: the digests hold it back.
  for (const { would, digests: made } of digests.otherEndings()) {
    const reading = readings.find(({ matches }) => made.some(matches));
    if (reading) return { kind: 'found', reading, changes: [{ code: 'trailing-newline', would }] };
  }
  return { kind: 'too-large' };
}

type Found = Extract<SearchResult, { kind: 'found' }>;
type NotFound = Exclude<SearchResult, Found>;

/** Joins what was found into one sentence, and the fixes of its parts. */
function explainFound(
  evidence: SignatureEvidence,
  found: Found,
  problem: HeaderProblem | undefined,
): Diagnosis {
  const { reading, changes } = found;
  const notation = notationOf(evidence, reading, problem);
  const parts = [...(notation === undefined ? [] : [notation]), ...changes];
  const codes = [...new Set(parts.map(({ code }) => code))];
  const fixes = [...new Set(parts.map((part) => part.fix ?? fixOf(part.code, evidence)))];
  const [code = 'no-match'] = codes;
  const hint = mismatchText(evidence.digests.bytes, foundText(evidence, found, notation), fixes.join('. '));
  return { code, codes, confidence: 'proved', hint };
}

interface Notation {
  readonly code: ReasonCode;
  readonly what: string;
  readonly fix?: string | undefined;
}

/** What is wrong with the form of the signature itself; undefined if it is in the form of the scheme. */
function notationOf(
  { scheme }: SignatureEvidence,
  reading: Reading,
  problem: HeaderProblem | undefined,
): Notation | undefined {
  const isOwn = reading.algorithm === scheme.hash && reading.problem === undefined;
  if (problem === undefined || !isOwn) return reading.problem;
  return {
    code: problem.code,
    what: `${hmacName(scheme.hash)}, but its prefix is missing or different`,
    fix: recipeOf(scheme),
  };
}

function foundText(
  { scheme }: SignatureEvidence,
  { changes, reading }: Found,
  notation: Notation | undefined,
): string {
  const would = joined(changes.map((change) => change.would));
  if (notation === undefined) return `it would match ${would}`;
  const what = notation.what;
  if (changes.length > 0) return `it is written as ${what}, and it would match ${would}`;
  if (notation.code === 'truncated-signature') return `the signature is ${what}`;
  return whatOf(reading).startsWith('the first digits')
    ? `it would match as ${what}`
    : `it is the ${what} of ${scheme.signs === '{body}' ? 'this body' : 'the signed text'}`;
}

/** Joins phrases: `a`, `a and b`, `a, b and c`. */
function joined(phrases: readonly string[]): string {
  const last = phrases.at(-1) ?? '';
  return phrases.length < 2 ? last : `${phrases.slice(0, -1).join(', ')} and ${last}`;
}

/** Explains a signature that no combination reproduces. An odd look of the body is a note, because correct bodies look odd too. */
function explainNoMatch(
  evidence: SignatureEvidence,
  readings: readonly Reading[],
  result: NotFound,
): Diagnosis {
  const { secrets, secretOrigin, digests, scheme } = evidence;
  const notation = readings.every(({ problem }) => problem !== undefined) ? readings[0] : undefined;
  if (notation !== undefined && notation.cost > 0) return explainUnreadable(evidence);
  const name = secrets.map(unexpandedName).find(Boolean);
  const why = triedText(result);
  if (evidence.keys.length === 0) {
    const fix = verifyingSecretFix(scheme);
    return explanation(evidence, {
      code: 'unusable-secret',
      found: `no secret can be a key of ${scheme.name}`,
      fix: fix.charAt(0).toUpperCase() + fix.slice(1),
    });
  }
  if (name !== undefined && notation === undefined) {
    const from = secretOrigin === undefined ? '' : ` (from ${secretOrigin})`;
    const found = `our secret is the text of the variable ${name}, which was not expanded${from}`;
    return explanation(evidence, { code: 'unexpanded-secret', found }, 'likely');
  }
  const written = notation === undefined ? '' : `it is written as ${whatOf(notation)}, and `;
  const { note, fix } = lookOf(evidence);
  const found = `${written}${why}; ${DIFFERENT_SECRETS}${ourSecrets(evidence)}${note}`;
  const code = notation?.problem?.code ?? 'no-match';
  const notationFix = notation?.problem && `${notation.problem.fix ?? fixOf(code, evidence)}. `;
  const hint = mismatchText(digests.bytes, found, `${notationFix ?? ''}${fix}${compareSecrets(evidence)}`);
  return diagnosisOf(code, 'likely', hint);
}

const DIFFERENT_SECRETS = 'probably the two sides hold different secrets';

function triedText(result: NotFound): string {
  switch (result.kind) {
    case 'none':
      return `none of ${result.tried} combinations of changes to secret, body, signed text and hash matches`;
    case 'stopped':
      return `none of ${result.tried} combinations matches that were tried within ${result.afterMs} ms`;
    case 'too-large':
      return 'the body is too large to try all changes';
    default:
      return result satisfies never;
  }
}

/** What is odd about the body, and how to get the right one. Both texts are empty for an ordinary body. */
function lookOf({ body }: SignatureEvidence): { readonly note: string; readonly fix: string } {
  if (body === undefined) return { note: '', fix: '' };
  const [look] = bodyLooks(body);
  const isText = body.text === undefined || body.problem !== undefined;
  if (look === undefined)
    return {
      note: isText ? ', or the body was changed: it is not JSON' : ', or the body was changed',
      fix: '',
    };
  return {
    note: `, or the body was changed: it ${look.says}`,
    fix: look.fix === undefined ? '' : `${look.fix}. `,
  };
}

/** The fix that compares the secrets of both sides. Its command reads our secret from where it was given. */
function compareSecrets({ secretOrigin = '' }: SignatureEvidence): string {
  const file = /^--secret-file (?!-(?:\s|$))([\w./@+-]+)/.exec(secretOrigin)?.[1];
  const { fix } = REASONS['no-match'];
  if (/^(?:$|HOOKS_SECRET)/.test(secretOrigin)) return fix;
  // Passes a function, because `$` has a special meaning in a replacement string.
  return fix.replace('"$HOOKS_SECRET"', () => (file === undefined ? "'SECRET'" : `"$(cat ${file})"`));
}

/**
 * Describes the secrets of this side by length and origin, for the person who gave them; empty if their origin is
 * unknown.
 */
function ourSecrets({ secrets, secretOrigin }: SignatureEvidence): string {
  if (secretOrigin === undefined) return '';
  const lengths = secrets.map((secret) => secret.length).join(' and ');
  const looks = secrets.map(oddLooksOf).find(Boolean);
  const odd = looks === undefined ? '' : `, ${looks}`;
  return ` (ours: ${lengths} ${lengths === '1' ? 'character' : 'characters'}${odd}, from ${secretOrigin})`;
}

interface Explanation {
  readonly code: ReasonCode;
  readonly found: string;
  readonly fix?: string;
}

function explanation(
  evidence: SignatureEvidence,
  { code, found, fix }: Explanation,
  confidence: Confidence = 'proved',
): Diagnosis {
  const hint = mismatchText(evidence.digests.bytes, found, fix ?? fixOf(code, evidence));
  return diagnosisOf(code, confidence, hint);
}

/** Explains several signatures in the header of a scheme that has one. */
function severalOf(
  { scheme, digests }: SignatureEvidence,
  [text = '']: readonly string[],
): Explanation | undefined {
  const parts = text.split(/[\s,;]+/).map((part) => part.replace(/^sha1=/i, ''));
  if (parts.length < 2 || scheme.isLenient !== true || !parts.every((part) => /^[0-9a-f]{40}$/i.test(part))) {
    return undefined;
  }
  const which = matchingPart(parts, digests);
  return {
    code: 'no-match',
    found: `there are ${parts.length} signatures instead of one, and ${which}`,
    fix: 'Send X-Signature once: look for a proxy, or a second library, that signs again',
  };
}

function matchingPart(parts: readonly string[], digests: BodyDigests): string {
  const right = digests.all().map((digest) => digest.toString('hex'));
  const number = 1 + parts.findIndex((part) => right.some((digest) => sameText(part.toLowerCase(), digest)));
  return number > 0 ? `number ${number} of them would match alone` : 'none of them matches';
}

/** Explains a value that cannot be read as a digest. */
function explainUnreadable(evidence: SignatureEvidence): Diagnosis {
  const { scheme, presented } = evidence;
  const text = presented.signatures[0]?.trim() ?? presented.value;
  const known = knownValue(text);
  if (known !== undefined) {
    return explanation(evidence, { code: 'no-match', found: `the signature ${known.found}`, fix: known.fix });
  }
  if (presented.problem !== undefined) return explanation(evidence, presented.problem);
  const found = text === '' ? 'the signature is empty' : `the signature has ${lengthOf(text, scheme)}`;
  return explanation(evidence, { code: 'no-match', found, fix: wholeSignature(scheme) });
}

function lengthOf(text: string, { hash, encoding }: SignatureScheme): string {
  const whole = Buffer.alloc(DIGEST_BYTES[hash]).toString(encoding).length;
  const unit = encoding === 'hex' ? 'hex digits' : 'characters of base64';
  if (encoding === 'hex' && /^[0-9a-f]+$/i.test(text)) {
    return `${text.length === 1 ? '1 hex digit' : `${text.length} hex digits`} instead of ${whole}`;
  }
  return `${text.length === 1 ? '1 character that is' : `${text.length} characters that are`} not ${whole} ${unit}`;
}

function wholeSignature(scheme: SignatureScheme): string {
  if (scheme.isLenient !== true) return recipeOf(scheme);
  return 'Give the 40 hex digits that came in X-Signature, with or without the name of the header before them';
}

/** The fix of a code. For a scheme other than that of X-Signature, how to sign replaces what is said of X-Signature. */
function fixOf(code: ReasonCode, { scheme }: SignatureEvidence): string {
  return scheme.isLenient !== true && ABOUT_SIGNATURES.has(code) ? recipeOf(scheme) : REASONS[code].fix;
}

const ABOUT_SIGNATURES: ReadonlySet<ReasonCode> = new Set<ReasonCode>([
  'sha256',
  'other-hash',
  'plain-hash',
  'base64',
  'other-encoding',
  'other-template',
  'other-id',
  'truncated-signature',
]);

/** How to sign by a scheme, in one sentence. */
function recipeOf(scheme: SignatureScheme): string {
  const { signatureHeader } = layoutOf(scheme);
  const { hash, encoding, signs, name, headers } = scheme;
  const key = scheme.secret === 'base64' ? 'the bytes that the secret is the base64 of' : 'the secret';
  return `Sign as ${name} does: ${hmacName(hash)} over ${signs}, keyed with ${key}, in ${encoding}, sent as ${signatureHeader.name}: ${headers[signatureHeader.name]}`;
}
