import { hedged, type Confidence } from '../../confidence.ts';
import {
  diagnosisOf,
  mismatchText,
  type Diagnosis,
  type SignatureEvidence,
} from '../../signature/evidence.ts';
import { FIXES } from '../../signature/reasons.ts';
import type { SignatureScheme } from '../../signature/schemes/scheme.ts';
import { verifyingSecretFix } from '../../signature/schemes/secrets.ts';
import { unexpandedName } from '../../signature/secret.ts';
import { bodyNoteOf } from './body/body-looks.ts';
import { diagnosisFor, fixOf, type Explanation } from './diagnosis-for.ts';
import { oddLooksOf } from './other-secrets.ts';
import { whatOf, type Reading } from './readings/readings.ts';
import type { FailedSearch } from './search.ts';
import { explainUnreadable, knownValue } from './unreadable.ts';

/**
 * Explains a signature that the search did not reproduce. The causes, in this order: the text is probably no complete
 * digest; no secret is usable; a secret is a variable that was not expanded; or the secrets or the signed texts differ.
 */
export function explainNoMatch(
  evidence: SignatureEvidence,
  readings: readonly Reading[],
  result: FailedSearch,
): Diagnosis {
  const { digests, scheme } = evidence;
  const notation = readings.every(({ problem }) => problem !== undefined) ? readings[0] : undefined;
  const isKnown =
    notation !== undefined && knownValue(evidence, evidence.presented.signatures[0] ?? '') !== undefined;
  if (isKnown || (notation?.cost ?? 0) > 0) return explainUnreadable(evidence);
  if (evidence.keys.length === 0) return diagnosisFor(evidence, unusableSecret(scheme));
  const unexpanded = notation === undefined ? unexpandedSecret(evidence) : undefined;
  if (unexpanded !== undefined) return diagnosisFor(evidence, unexpanded, 'likely');
  const written = notation === undefined ? '' : `it is written as ${whatOf(notation)}, and `;
  const confidence = confidenceIn(result);
  const different = hedged('the two sides hold different secrets', confidence);
  const found = `${written}${triedText(result)}; ${different}${ourSecrets(evidence)}, or what they sign differs`;
  const { code = 'no-match', fix } = notation?.problem ?? {};
  const ownFix = notation === undefined ? [] : [fix ?? fixOf(code, evidence)];
  const hint = mismatchText(digests.bytes, found, [...ownFix, ...whatToCompare(evidence)].join('. '));
  return { ...diagnosisOf(code, confidence, hint), ...(result.kind === 'stopped' && { isCutShort: true }) };
}

/**
 * Returns sentences: the advice to compare the secrets and, if the body is odd, a note on it. A note that has a fix
 * comes first, with its fix, because then the body is probably wrong.
 */
function whatToCompare(evidence: SignatureEvidence): readonly string[] {
  const look = evidence.body && bodyNoteOf(evidence.body, evidence.secrets);
  const compare = compareSecrets(evidence);
  if (look === undefined) return [compare];
  const note = `The body ${look.says}`;
  return look.fix === undefined ? [compare, note] : [note, look.fix, compare];
}

function unusableSecret(scheme: SignatureScheme): Explanation {
  return {
    code: 'unusable-secret',
    found: `no secret can be a key of ${scheme.name}`,
    fix: `The scheme needs a secret in its own form: ${verifyingSecretFix(scheme)}`,
  };
}

function unexpandedSecret({ secrets, secretOrigin }: SignatureEvidence): Explanation | undefined {
  const name = secrets.map(unexpandedName).find(Boolean);
  const from = secretOrigin === undefined ? '' : ` (from ${secretOrigin})`;
  const found = `probably our secret is the text of the variable ${name}, which was not expanded${from}`;
  return name === undefined ? undefined : { code: 'unexpanded-secret', found };
}

/** Number of combinations below which a stopped search allows only a possible cause, because too little was tried. */
const FEWEST_TRIED = 100;

function confidenceIn(result: FailedSearch): Confidence {
  return result.kind === 'stopped' && result.tried < FEWEST_TRIED ? 'possible' : 'likely';
}

function triedText(result: FailedSearch): string {
  switch (result.kind) {
    case 'none':
      return `none of ${combinations(result.tried)} of changes to secret, body, signed text and hash matches`;
    case 'stopped':
      return `the search ended after ${result.afterMs} ms and ${combinations(result.tried)} without a match`;
    case 'too-large':
      return 'the body is too large to try all changes';
    default:
      return result satisfies never;
  }
}

function combinations(count: number): string {
  return count === 1 ? '1 combination' : `${count} combinations`;
}

/**
 * Returns the advice to compare the secrets of both sides with a shell command. The command reads our secret from its
 * file or from HOOKS_SECRET (also if the origin is unknown), or has a placeholder for other origins.
 */
function compareSecrets({ secretOrigin = '' }: SignatureEvidence): string {
  const file = /^--secret-file (?!-(?:\s|$))([\w./@+-]+)$/.exec(secretOrigin)?.[1];
  const fix = FIXES['no-match'];
  if (/^(?:$|HOOKS_SECRET)/.test(secretOrigin)) return fix;
  // Passes a function, because `$` has a special meaning in a replacement string.
  return fix.replace('"$HOOKS_SECRET"', () => (file === undefined ? "'SECRET'" : `"$(cat ${file})"`));
}

/**
 * Returns, in parentheses, the length of each of our secrets, what is odd about the first odd one, and their origin.
 * Empty if their origin is unknown.
 */
function ourSecrets({ secrets, secretOrigin }: SignatureEvidence): string {
  if (secretOrigin === undefined) return '';
  const lengths = secrets.map((secret) => secret.length).join(' and ');
  const looks = secrets.map(oddLooksOf).find(Boolean);
  const odd = looks === undefined ? '' : `, ${looks}`;
  return ` (ours: ${lengths} ${lengths === '1' ? 'character' : 'characters'}${odd}, from ${secretOrigin})`;
}
