import type { RequestSummary } from '../../wire.ts';
import { shownVerdictOf } from '../summary-texts.ts';

export interface RequestFilter {
  /** Text of the search field: words, and terms such as `type:track`, `user:u1`, `status:5xx`. */
  readonly text: string;
  /** Type of message that a request must have to be shown; empty for all types. */
  readonly type: string;
  readonly verdict: string;
}

export const EVERYTHING: RequestFilter = { text: '', type: '', verdict: '' };

type SummaryTest = (summary: RequestSummary) => boolean;

/** Returns the summaries that pass a filter, in order. `inBody`: ids of requests whose body contains the filter's words. */
export function filtered(
  summaries: readonly RequestSummary[],
  filter: RequestFilter,
  inBody: ReadonlySet<number> = new Set(),
): readonly RequestSummary[] {
  const { tests, words } = parseFilter(filter);
  if (tests.length === 0 && words.length === 0) return summaries;
  return summaries.filter(
    (summary) =>
      tests.every((test) => test(summary)) &&
      (words.length === 0 ||
        inBody.has(summary.id) ||
        words.every((word) => searchTextOf(summary).includes(word))),
  );
}

/** Returns the words to search for in bodies: the text of the filter without terms such as `type:track`. */
export function wordsOf({ text }: RequestFilter): string {
  return parseFilter({ ...EVERYTHING, text }).words.join(' ');
}

function parseFilter({ text, type, verdict }: RequestFilter): {
  tests: readonly SummaryTest[];
  words: readonly string[];
} {
  const tests: SummaryTest[] = [];
  const words: string[] = [];
  for (const word of text.toLowerCase().split(/\s+/).filter(Boolean)) {
    const [, name = '', value = ''] = /^(\w+):(.+)$/.exec(word) ?? [];
    const term = Object.hasOwn(TERMS, name) ? TERMS[name] : undefined;
    if (term === undefined) words.push(word);
    else tests.push((summary) => term(summary, value));
  }
  if (type !== '') tests.push((summary) => typesOfRequest(summary).includes(type));
  if (verdict !== '') tests.push((summary) => hasVerdict(summary, verdict));
  return { tests, words };
}

/** Value of the type filter for requests without a type. */
export const NO_TYPE = '-';

export function typesOfRequest({ type, among }: RequestSummary): readonly string[] {
  return among?.types ?? [type ?? NO_TYPE];
}

/**
 * Whether a request has a verdict. A request whose signature is valid only for re-serialized JSON has two verdicts: `valid`
 * and `re-serialized`.
 */
function hasVerdict(summary: RequestSummary, verdict: string): boolean {
  return summary.verdict === verdict || shownVerdictOf(summary) === verdict;
}

/** The tests of the terms in the search field (`type:track`). The help of the page lists the terms. */
const TERMS: Readonly<Record<string, (summary: RequestSummary, value: string) => boolean>> = {
  type: (summary, value) => typesOfRequest(summary).some((type) => type.toLowerCase() === value),
  event: ({ event, among }, value) => includesText(value, event, ...(among?.events ?? [])),
  user: ({ userId, anonymousId, among }, value) =>
    includesText(value, userId, anonymousId, ...(among?.users ?? [])),
  verdict: hasVerdict,
  path: ({ path }, value) => includesText(value, path),
  status: ({ status, answered }, value) =>
    value.endsWith('xx')
      ? String(status).startsWith(value.slice(0, -2))
      : String(status ?? answered) === value,
};

function includesText(value: string, ...texts: readonly (string | undefined)[]): boolean {
  return texts.some((text) => text?.toLowerCase().includes(value));
}

const searchTexts = new WeakMap<RequestSummary, string>();

function searchTextOf(summary: RequestSummary): string {
  const known = searchTexts.get(summary);
  if (known !== undefined) return known;
  const { type, event, userId, anonymousId, messageId, method, path, verdict, status, answered, among } =
    summary;
  const facts = [type, event, userId, anonymousId, messageId, method, path, verdict, status ?? answered];
  const all = [...facts, ...Object.values(among ?? {}).flat()];
  const text = all.join('\n').toLowerCase();
  searchTexts.set(summary, text);
  return text;
}
