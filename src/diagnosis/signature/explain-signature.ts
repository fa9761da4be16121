import { mismatchText, type Diagnosis, type SignatureEvidence } from '../../signature/evidence.ts';
import type { ReasonCode } from '../../signature/reasons.ts';
import type { HeaderProblem, PresentedSignature } from '../../signature/schemes/presented-signature.ts';
import { byteChanges } from './body/byte-changes.ts';
import { COSTS } from './change.ts';
import { hmacName } from './constructs.ts';
import { explainNoMatch } from './explain-no-match.ts';
import { diagnosisFor, fixOf, recipeOf, type Explanation } from './diagnosis-for.ts';
import { readingsOf, type NotationProblem, type Reading } from './readings/readings.ts';
import { explainUnreadable } from './unreadable.ts';
import { searchChanges, type SuccessfulSearch, type SearchResult } from './search.ts';

/** Finds out why a signature does not match: from the headers, or by a search for mistakes that reproduce it. */
export function explainSignature(evidence: SignatureEvidence): Diagnosis {
  const { presented, isRight } = evidence;
  const { prefixProblem, otherProblem } = problemsOf(evidence);
  if (otherProblem !== undefined && isRight) return besidesRight(evidence, otherProblem);
  const texts = textsOf(presented);
  const readings = texts.flatMap((text) => readingsOf(text, evidence.scheme));
  const problem = prefixProblem ?? presented.problem;
  if (readings.length === 0) return problem ? diagnosisFor(evidence, problem) : explainUnreadable(evidence);
  const result = search(evidence, readings);
  if (result.kind === 'found') return explainFound(evidence, result);
  return problem === undefined ? explainNoMatch(evidence, readings, result) : diagnosisFor(evidence, problem);
}

function besidesRight(evidence: SignatureEvidence, problem: HeaderProblem): Diagnosis {
  return diagnosisFor(evidence, { ...problem, found: `${problem.found}; the signature itself is right` });
}

/** Separates a wrong prefix, which is reported with the notation of the digest, from the first other problem. */
function problemsOf({ presented: { problem }, ageProblem }: SignatureEvidence) {
  const isPrefix = problem?.code === 'missing-prefix';
  return {
    prefixProblem: isPrefix ? problem : undefined,
    otherProblem: isPrefix ? ageProblem : (problem ?? ageProblem),
  };
}

/** Maximum number of texts of a header to try as the signature, because a header may have hundreds. */
const MOST_TEXTS = 4;

/** Returns the texts to try: the received signatures or, if the prefix is wrong, the header value and parts of it. */
function textsOf({ signatures, value, problem }: PresentedSignature): readonly string[] {
  if (problem?.code !== 'missing-prefix') {
    // Tries the whole value too, because a scheme reads a signature only up to a comma, and another may follow.
    const hasMore = signatures.length === 1 && value.split(',').length > 2;
    return [...signatures.slice(0, MOST_TEXTS), ...(hasMore ? [value] : [])];
  }
  const bare = value
    .split(/[\s,;]+/)
    .map((text) => text.replace(/^(?:v\d[=,]|t=\d+|sha-?\d+=|signature=)/i, ''));
  return [...new Set([value, ...bare])].filter((text) => text !== '').slice(0, MOST_TEXTS);
}

function search(evidence: SignatureEvidence, readings: readonly Reading[]): SearchResult {
  const { body, digests } = evidence;
  if (body !== undefined) return searchChanges({ ...evidence, body }, readings);
  // Without the body, only other endings can be tried, because `digests` has hashed all but the last bytes.
  const ends = COSTS.flatMap((cost) => byteChanges(digests.lastBytes, cost));
  for (const { code, would, value } of ends.filter((change) => change.code === 'trailing-newline')) {
    const made = digests.ending(Buffer.from(value)).map((digest) => digest.toString('latin1'));
    const reading = readings.find(({ matches }) => made.some(matches));
    if (reading) return { kind: 'found', reading, changes: [{ code, would }] };
  }
  return { kind: 'too-large' };
}

/** The mistakes that together reproduce a signature: `codes` has their codes, each once; `code` is the first. */
interface FoundChanges extends Explanation {
  readonly codes: readonly ReasonCode[];
  readonly fix: string;
}

/** Explains digests that another program computed for this request. Undefined if the search reproduces none of them. */
export function explainTexts(
  evidence: SignatureEvidence,
  texts: readonly string[],
): FoundChanges | undefined {
  const readings = texts.flatMap((text) => readingsOf(text, evidence.scheme));
  const result = search(evidence, readings);
  return result.kind === 'found' ? describe(evidence, result, undefined) : undefined;
}

function explainFound(evidence: SignatureEvidence, result: SuccessfulSearch): Diagnosis {
  const { prefixProblem, otherProblem } = problemsOf(evidence);
  const isRight = result.changes.length === 0 && result.reading.problem === undefined;
  if (otherProblem !== undefined && isRight) return besidesRight(evidence, otherProblem);
  const { code, codes, found, fix } = describe(evidence, result, prefixProblem);
  const besides = otherProblem === undefined ? '' : `; besides, ${otherProblem.found}`;
  const fixes = otherProblem === undefined ? fix : `${fix}. ${otherProblem.fix}`;
  const hint = mismatchText(evidence.digests.bytes, found + besides, fixes);
  return { code, codes, confidence: 'proved', hint };
}

/** Describes the mistakes that the search found, and their fixes: first those in how the digest is written. */
function describe(
  evidence: SignatureEvidence,
  result: SuccessfulSearch,
  problem: HeaderProblem | undefined,
): FoundChanges {
  const { reading, changes } = result;
  // A correct digest without changes was rejected for its prefix, such as `sha256=` before an HMAC-SHA1.
  const isPrefixWrong = problem !== undefined || changes.length === 0;
  const notation = reading.problem ?? (isPrefixWrong ? wrongPrefix(evidence) : undefined);
  const parts = [...(notation === undefined ? [] : [notation]), ...changes];
  const codes = [...new Set(parts.map(({ code }) => code))];
  const fixes = [...new Set(parts.map((part) => part.fix ?? fixOf(part.code, evidence)))];
  const [code = 'no-match'] = codes;
  return { code, codes, found: foundText(evidence, result, notation), fix: fixes.join('. ') };
}

function wrongPrefix({ scheme }: SignatureEvidence): NotationProblem {
  return {
    code: 'missing-prefix',
    what: hmacName(scheme.hash),
    around: 'lacks its prefix, or has another one',
    fix: recipeOf(scheme),
  };
}

function foundText(
  { scheme }: SignatureEvidence,
  { changes }: SuccessfulSearch,
  notation: NotationProblem | undefined,
): string {
  const would = changes.map((change) => change.would).join(' and ');
  if (notation === undefined) return `it would match ${would}`;
  const { what, around } = notation;
  const also = around === undefined ? '' : `, but it ${around}`;
  if (changes.length > 0) return `it is written as ${what}${also}, and it would match ${would}`;
  // The description of a part of a digest begins with its length: `32 of the 40 digits of the right one`.
  if (/^\d/.test(what)) return `the signature is ${what}`;
  return `it is the ${what} of ${scheme.signs === '{body}' ? 'this body' : 'the signed text'}${also}`;
}
