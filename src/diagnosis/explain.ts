import { hedged } from '../confidence.ts';
import type { MistakenRequest, MistakeOptions, ShownTexts, ShownDigest } from '../check/check.ts';
import {
  diagnosisOf,
  mismatchText,
  type Diagnosis,
  type MismatchEvidence,
  type NoEvidence,
} from '../signature/evidence.ts';
import { missingSignatureFix, overLossyBody, FIXES } from '../signature/reasons.ts';
import { schemeListText, signatureHeaderNames } from '../signature/schemes/layout.ts';
import type {
  CauseFacts,
  FailureEvidence,
  NetworkCause,
  ResponseCause,
  ResponseEvidence,
} from '../transport/cause.ts';
import { filledTemplate } from './causes/cause-rule.ts';
import { ruleOf, storedRule } from './causes/cause-rules.ts';
import { networkCauseText } from './network/network-causes.ts';
import { causeInOutput } from './causes/printed-cause.ts';
import { responseWords } from './causes/response-words.ts';
import { takenRule } from './causes/taken-rules.ts';
import type { ExaminedFailure, FailureToExamine } from '../transport/probes/probes.ts';
import { explainSignature } from './signature/explain-signature.ts';

export type { ExaminedFailure } from '../transport/probes/probes.ts';
export type { ResponseCause } from '../transport/cause.ts';

export function explainMismatch(mismatch: MismatchEvidence): Diagnosis {
  switch (mismatch.kind) {
    case 'none':
      return explainNone(mismatch);
    case 'lossy': {
      const why = `it would match ${overLossyBody(mismatch.loss)}`;
      return diagnosisOf('lossy-json', 'proved', mismatchText(mismatch.bytes, why, FIXES['lossy-json']));
    }
    case 'signature':
      return explainSignature(mismatch);
    default:
      return mismatch satisfies never;
  }
}

function explainNone({ bytes, schemes }: NoEvidence): Diagnosis {
  const names = signatureHeaderNames(schemes);
  const why = `no signature of an accepted scheme was received (${names})`;
  const fix = missingSignatureFix(names, schemeListText(schemes));
  return diagnosisOf('no-signature', 'proved', mismatchText(bytes, why, fix));
}

/** Returns the code of the cause to store for a response other than 2xx. Every such response has a cause. */
export function causeCodeOf(evidence: ResponseEvidence): string {
  return ruleOf({ ...evidence, words: responseWords(evidence.body) }).code;
}

export function responseCauseOf(evidence: ResponseEvidence, facts: CauseFacts): ResponseCause | undefined {
  const words = responseWords(evidence.body);
  const isTaken = evidence.status >= 200 && evidence.status <= 299;
  const rule = (isTaken ? takenRule : ruleOf)({ ...evidence, words });
  return rule && causeOf(rule.code, { ...facts, quotation: words.quotation || undefined });
}

export const printedCauseOf = causeInOutput;

/** Explains the stored code of a cause. If this version does not know it, explains the status and the quotation. */
export function causeOf(stored: string, facts: CauseFacts): ResponseCause {
  const { code, kind, fix, says, confidence } = storedRule(stored, facts);
  const filled = (template: string): string => filledTemplate(template, facts);
  if (says === undefined) {
    const quoted = filled('the response says{quote}');
    const [, path] = (code === 'not-found-words' && NAMED_PATH.exec(facts.quotation ?? '')) || [];
    if (path !== undefined && path !== filled('{path}')) {
      const rewritten = filled(`the response names ${path}, not {path}: probably a proxy changes the path`);
      return { code, kind: 'way', confidence: 'likely', says: rewritten, isQuotation: false, fix: KEEP_PATH };
    }
    return { code, kind, confidence: 'proved', says: quoted, isQuotation: true, fix: filled(fix) };
  }
  // Leaves out "possibly" for a possible cause, because callers that print such a cause put "perhaps" before it.
  const hedgedSays = confidence === 'possible' ? filled(says) : hedged(filled(says), confidence);
  return { code, kind, confidence, says: hedgedSays, isQuotation: false, fix: filled(fix) };
}

/** Matches the path in the messages of routers: `Cannot POST /x`, `No route matches [POST] "/x"`, `Route POST:/x`. */
const NAMED_PATH = /\bPOST\W{1,4}?(\/[^\s"'`?)]*)/;
const KEEP_PATH =
  'let the proxy forward the path unchanged (nginx: proxy_pass without a path behind the port; no strip-prefix), or give the path that the route has behind the proxy';

/** Explains a failed request by its cause, else by its error code. Undefined if this version knows neither code. */
export function networkCauseOf(
  { error, cause }: FailureEvidence,
  facts: Omit<CauseFacts, 'status'>,
): NetworkCause | undefined {
  const code = cause !== undefined && networkCauseText(cause) !== undefined ? cause : error;
  const text = networkCauseText(code);
  if (text === undefined) return undefined;
  const { says, fix } = text;
  const filled = (template: string): string =>
    filledTemplate(template, { status: 0, ...facts, shown: { bypass: '', others: '', ...facts.shown } });
  return { ...text, code, says: says && filled(says), fix: filled(fix) };
}

/** Returns the error message in a response body, else the likeliest text: at most 300 characters, as received. */
export function quotationOf(body: string): string {
  return responseWords(body).quotation;
}

/** Examines a failure by test connections, with code loaded on demand. Rejects only for an invalid proxy variable. */
export async function examineFailure(failure: FailureToExamine): Promise<ExaminedFailure | undefined> {
  const { examineWithProbes } = await import('./network/examine-failure.ts');
  return examineWithProbes(failure);
}

/** Makes requests that receivers with a common mistake accept. Loads the code on demand: most receivers have none. */
export async function mistakenRequests(
  body: Buffer,
  options: MistakeOptions,
): Promise<Iterable<MistakenRequest>> {
  const { requestsOfMistakes } = await import('./mistakes/mistaken-requests.ts');
  return requestsOfMistakes(body, options);
}

export async function explainShown(texts: ShownTexts): Promise<ShownDigest | undefined> {
  const { explainShownDigest } = await import('./mistakes/shown-digest.ts');
  return explainShownDigest(texts);
}
