import type { Deadline } from '../../signature/deadline.ts';
import { mismatchText, type Diagnosis } from '../../signature/evidence.ts';
import { isOneOf, type OtherHash } from '../../signature/given-signature.ts';
import { BodyDigests } from '../../signature/body/body-digests.ts';
import { bodyFormOf } from './body/body-forms.ts';
import { findMistake, type Evidence, type MistakeSearch } from './find-mistake.ts';
import { hmacName, otherHashCode } from './hash-variants.ts';
import { REASONS, type ReasonCode } from '../../signature/reasons.ts';
import { unexpandedName } from '../../signature/secret.ts';
import { oddLooksOf } from './other-secrets.ts';
import { explainUnreadable } from './unreadable-signature.ts';

/** Finds out why a signature does not match by trying common mistakes until the time is up. */
export function diagnose(evidence: Evidence, deadline: Deadline): Diagnosis {
  const { given } = evidence;
  switch (given.shape) {
    case 'sha1':
      return explainDigest(evidence, given.digest, deadline);
    case 'other-hash':
      return explainShape(evidence, { ...given, ...hashShape(given.algorithm) }, deadline);
    case 'base64':
      return explainShape(evidence, { ...given, code: 'base64', name: 'HMAC-SHA1 in base64' }, deadline);
    case 'decorated':
      return explainShape(evidence, { ...given, code: 'other-encoding', name: DECORATED }, deadline);
    case 'short':
      return explainShort(evidence, given.digits, deadline);
    case 'several':
      return explainSeveral(evidence, given.digests);
    case 'unknown':
      return diagnosisOf('no-match', evidence, ...explainUnreadable(given.text, WHOLE_SIGNATURE));
    default:
      return given satisfies never;
  }
}

const DECORATED = 'HMAC-SHA1 with other characters around its digits';

/** Explains a digest that does not match: names the common mistake that produces it. */
export function explainDigest(evidence: Evidence, digest: Buffer, deadline: Deadline): Diagnosis {
  const search = findMistake(evidence, digest, deadline);
  if (search.kind !== 'found') return explainWithoutMatch(evidence, search);
  const { code, fix } = search.mistake;
  return diagnosisOf(code, evidence, outcomeOf(search), fix);
}

/** Explains a digest that no common mistake produces: by the form of the body, otherwise by different secrets. */
function explainWithoutMatch(evidence: Evidence, search: MistakeSearch): Diagnosis {
  const { body, secrets } = evidence;
  const found = body && bodyFormOf(body);
  if (found !== undefined && found.isHint !== true) {
    return diagnosisOf(found.code, evidence, `the body ${found.says}`, found.fix);
  }
  if (search.kind === 'too-large') return diagnosisOf('no-match', evidence, outcomeOf(search));
  if (secrets.some(unexpandedName)) return explainUnexpanded(evidence);
  const also = search.kind === 'stopped' ? `; ${outcomeOf(search)}` : '';
  const says = found === undefined ? '' : `: it ${found.says}`;
  const ours = ourSecrets(evidence);
  const why =
    body?.text === undefined || body.problem !== undefined
      ? `the body is not JSON${says}; either it was changed, or the two sides hold different secrets${ours}${also}`
      : `${DIFFERENT_SECRETS}${ours}; or the body was changed${says}${also}`;
  return diagnosisOf('no-match', evidence, why, compareSecrets(evidence));
}

/** The fix that compares the secrets of both sides. Its command reads our secret from where it was given. */
function compareSecrets({ secretOrigin = '' }: Evidence): string {
  const file = /^--secret-file (?!-(?:\s|$))([\w./@+-]+)/.exec(secretOrigin)?.[1];
  const { fix } = REASONS['no-match'];
  if (/^(?:$|HOOKS_SECRET)/.test(secretOrigin)) return fix;
  // Passes a function, because `$` has a special meaning in a replacement string.
  return fix.replace('"$HOOKS_SECRET"', () => (file === undefined ? "'SECRET'" : `"$(cat ${file})"`));
}

const DIFFERENT_SECRETS = 'most likely the two sides hold different secrets';

function explainUnexpanded(evidence: Evidence): Diagnosis {
  const { secrets, secretOrigin } = evidence;
  const name = secrets.map(unexpandedName).find(Boolean);
  const from = secretOrigin === undefined ? '' : ` (from ${secretOrigin})`;
  const found = `our secret is the text of the variable ${name}, which was not expanded${from}`;
  return diagnosisOf('unexpanded-secret', evidence, found);
}

/**
 * Describes the secrets of this side by length and origin, for the person who gave them; empty if their origin is
 * unknown.
 */
function ourSecrets({ secrets, secretOrigin }: Evidence): string {
  if (secretOrigin === undefined) return '';
  const lengths = secrets.map((secret) => secret.length).join(' and ');
  const looks = secrets.map(oddLooksOf).find(Boolean);
  const odd = looks === undefined ? '' : `, ${looks}`;
  return `; ours: ${lengths} ${lengths === '1' ? 'character' : 'characters'}${odd}, from ${secretOrigin}`;
}

function outcomeOf(search: MistakeSearch): string {
  switch (search.kind) {
    case 'found':
      return `it would match ${search.mistake.would}`;
    case 'none':
      return 'no common mistake explains it';
    case 'too-large':
      return 'the body is too large to try all common mistakes';
    case 'stopped':
      return `the diagnosis stopped after ${search.afterMs} ms without an explanation`;
    default:
      return search satisfies never;
  }
}

interface Shape {
  readonly digest: Buffer;
  readonly code: ReasonCode;
  readonly name: string;
}

function hashShape(algorithm: OtherHash): Pick<Shape, 'code' | 'name'> {
  return { code: otherHashCode(algorithm), name: hmacName(algorithm) };
}

/** Explains a signature in a notation that can never match, such as base64, whether or not it belongs to this body. */
function explainShape(evidence: Evidence, { digest, code, name }: Shape, deadline: Deadline): Diagnosis {
  if (isOneOf(digest, evidence.digests.all())) {
    return diagnosisOf(code, evidence, `it is the ${name} of this body`);
  }
  const search = findMistake(evidence, digest, deadline);
  const also = search.kind === 'none' ? 'it does not belong to this body and secret' : outcomeOf(search);
  const fix =
    search.kind === 'found'
      ? `${REASONS[code].fix}. ${search.mistake.fix ?? REASONS[search.mistake.code].fix}`
      : undefined;
  return diagnosisOf(code, evidence, `it is written as ${name}, and ${also}`, fix);
}

const MD5_DIGITS = 32;

/** Minimum characters that identify a digest: a shorter text could be the start of any digest. */
const FEWEST_CHARACTERS = 8;

/** Whether a text is the start or the end of a right signature. */
export function isPartOf(digests: BodyDigests, text: string, encoding: 'hex' | 'base64'): boolean {
  if (text.length < FEWEST_CHARACTERS) return false;
  const right = digests.all().map((digest) => digest.toString(encoding));
  return right.some((each) => each.startsWith(text) || each.endsWith(text));
}

function explainShort(evidence: Evidence, digits: string, deadline: Deadline): Diagnosis {
  if (digits === '') return diagnosisOf('no-match', evidence, 'the signature is empty', WHOLE_SIGNATURE);
  if (isPartOf(evidence.digests, digits, 'hex')) {
    const found = `the signature is ${digits.length} of the 40 digits of the right one`;
    return diagnosisOf('truncated-signature', evidence, found);
  }
  const count = digits.length === 1 ? '1 hex digit' : `${digits.length} hex digits`;
  const why = `the signature has ${count} instead of 40`;
  if (digits.length !== MD5_DIGITS) return diagnosisOf('no-match', evidence, why, WHOLE_SIGNATURE);
  return (
    explainMd5(evidence, Buffer.from(digits, 'hex'), deadline) ??
    diagnosisOf('no-match', evidence, `${why}, as many as MD5 has`, WHOLE_SIGNATURE)
  );
}

function explainMd5(evidence: Evidence, digest: Buffer, deadline: Deadline): Diagnosis | undefined {
  const { body, secrets } = evidence;
  if (body === undefined) return undefined;
  const digests = new BodyDigests('md5', secrets).update(body.bytes);
  const isMatch =
    isOneOf(digest, digests.all()) ||
    findMistake({ ...evidence, digests }, digest, deadline).kind === 'found';
  if (!isMatch) return undefined;
  return explainShape({ ...evidence, digests }, { digest, ...hashShape('md5') }, deadline);
}

function explainSeveral(evidence: Evidence, given: readonly Buffer[]): Diagnosis {
  const digests = evidence.digests.all();
  const matching = 1 + given.findIndex((digest) => isOneOf(digest, digests));
  const which = matching > 0 ? `number ${matching} of them would match alone` : 'none of them matches';
  const found = `there are ${given.length} signatures instead of one, and ${which}`;
  return diagnosisOf('no-match', evidence, found, ONE_SIGNATURE);
}

/** Fix for a value that is not one whole signature. */
const WHOLE_SIGNATURE =
  'Give the 40 hex digits that came in X-Signature, with or without the name of the header before them';
const ONE_SIGNATURE = 'Send X-Signature once: look for a proxy, or a second library, that signs again';

/** Makes a diagnosis. `found` follows "computed over N bytes; " (`the signature is empty`). */
export function diagnosisOf(
  code: ReasonCode,
  { digests: { bytes }, recipe }: Evidence,
  found: string,
  fix?: string,
): Diagnosis {
  const own = recipe !== undefined && ABOUT_SIGNATURES.has(code) ? recipe : REASONS[code].fix;
  return { code, hint: mismatchText(bytes, found, fix ?? own) };
}

/** Codes whose fix says how to sign in X-Signature. For any other scheme, its own recipe replaces this fix. */
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
