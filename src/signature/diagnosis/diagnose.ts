import type { Deadline } from './deadline.ts';
import { findMistake, type Evidence, type MistakeSearch } from './find-mistake.ts';
import { sameDigest } from '../given-signature.ts';
import { REASONS, type ReasonCode } from './reasons.ts';

/** The explanation of a mismatch; `no-match` when no common mistake explains it. */
export interface Diagnosis {
  readonly code: ReasonCode;
  /** What was found and how to fix it, in sentences without secrets. */
  readonly hint: string;
}

/** Finds out why a signature does not match, by trying common mistakes until the time is up. */
export function diagnose(evidence: Evidence, deadline: Deadline): Diagnosis {
  const { given } = evidence;
  switch (given.shape) {
    case 'sha1':
      return explainDigest(evidence, given.digest, deadline);
    case 'sha256':
      return explainShape(evidence, { ...given, code: 'sha256', name: 'HMAC-SHA256' }, deadline);
    case 'base64':
      return explainShape(evidence, { ...given, code: 'base64', name: 'HMAC-SHA1 in base64' }, deadline);
    case 'decorated':
      return explainShape(evidence, { ...given, code: 'other-encoding', name: DECORATED }, deadline);
    case 'short':
      return explainShort(evidence, given.digits);
    case 'several':
      return explainSeveral(evidence, given.digests);
    case 'unknown':
      return diagnosisOf(
        'no-match',
        evidence,
        `the signature has ${given.characters} characters that are not 40 hex digits`,
        WHOLE_SIGNATURE,
      );
    default:
      return given satisfies never;
  }
}

/** Makes the diagnosis of a mismatch for which no mistake was tried. */
export function undiagnosed(
  bytes: number,
  { why, fix }: { readonly why: string; readonly fix: string },
): Diagnosis {
  return { code: 'no-match', hint: sentences(bytes, why, fix) };
}

const DECORATED = 'HMAC-SHA1 with other characters around its digits';

function explainDigest(evidence: Evidence, digest: Buffer, deadline: Deadline): Diagnosis {
  const search = findMistake(evidence, digest, deadline);
  const code = search.kind === 'found' ? search.mistake.code : 'no-match';
  return diagnosisOf(code, evidence, outcomeOf(search));
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

/** Explains a signature whose notation can never match, whether or not it is of this body. */
function explainShape(evidence: Evidence, { digest, code, name }: Shape, deadline: Deadline): Diagnosis {
  if (isOneOf(digest, evidence.digests.all()))
    return diagnosisOf(code, evidence, `it is the ${name} of this body`);
  const search = findMistake(evidence, digest, deadline);
  const also = search.kind === 'none' ? 'it does not belong to this body and secret' : outcomeOf(search);
  return diagnosisOf(code, evidence, `it is written as ${name}, and ${also}`);
}

/** The fewest digits that identify a digest: fewer could be the start of any. */
const FEWEST_DIGITS = 8;

function explainShort(evidence: Evidence, digits: string): Diagnosis {
  if (digits === '') return diagnosisOf('no-match', evidence, 'the signature is empty', WHOLE_SIGNATURE);
  const digests = evidence.digests.all().map((digest) => digest.toString('hex'));
  const isPart = digests.some((digest) => digest.startsWith(digits) || digest.endsWith(digits));
  if (isPart && digits.length >= FEWEST_DIGITS) {
    return diagnosisOf(
      'truncated-signature',
      evidence,
      `the signature is ${digits.length} of the 40 digits of the right one`,
    );
  }
  const count = digits.length === 1 ? '1 hex digit' : `${digits.length} hex digits`;
  return diagnosisOf('no-match', evidence, `the signature has ${count} instead of 40`, WHOLE_SIGNATURE);
}

function explainSeveral(evidence: Evidence, given: readonly Buffer[]): Diagnosis {
  const digests = evidence.digests.all();
  const matching = 1 + given.findIndex((digest) => isOneOf(digest, digests));
  const which = matching > 0 ? `number ${matching} of them would match alone` : 'none of them matches';
  const found = `there are ${given.length} signatures instead of one, and ${which}`;
  return diagnosisOf('no-match', evidence, found, ONE_SIGNATURE);
}

/** The fixes for values that are no single signature. */
const WHOLE_SIGNATURE =
  'Give the 40 hex digits that came in X-Signature, with or without the name of the header before them';
const ONE_SIGNATURE = 'Send X-Signature once: look for a proxy, or a second library, that signs again';

function diagnosisOf(
  code: ReasonCode,
  { digests: { bytes } }: Evidence,
  found: string,
  fix: string = REASONS[code].fix,
): Diagnosis {
  return { code, hint: sentences(bytes, found, fix) };
}

function sentences(bytes: number, found: string, fix: string): string {
  const size = bytes === 1 ? '1 byte' : `${bytes} bytes`;
  return `Signature does not match: computed over ${size}; ${found}. ${fix}`;
}

function isOneOf(digest: Buffer, digests: readonly Buffer[]): boolean {
  return digests.some((each) => sameDigest(each, digest));
}
