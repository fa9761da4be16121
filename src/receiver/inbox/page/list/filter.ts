import type { RequestSummary } from '../../wire.ts';

export interface RequestFilter {
  /** Words, and `type:track`, `user:u1`, `status:5xx` … among them. */
  readonly text: string;
  /** Empty: all. */
  readonly type: string;
  readonly verdict: string;
}

export const EVERYTHING: RequestFilter = { text: '', type: '', verdict: '' };

type SummaryTest = (summary: RequestSummary) => boolean;

/** The summaries that a filter lets through, in their order. `inBody`: those whose body is known to have the words in it. */
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

/** What is looked for in bodies too: the words of the text, without its terms. */
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
  if (type !== '') tests.push((summary) => (summary.type ?? '') === (type === NO_TYPE ? '' : type));
  if (verdict !== '') tests.push((summary) => summary.verdict === verdict);
  return { tests, words };
}

/** Chosen in place of a type: requests whose body says none. */
export const NO_TYPE = '-';

/** The terms of the search field; the help lists them. */
const TERMS: Readonly<Record<string, (summary: RequestSummary, value: string) => boolean>> = {
  type: ({ type }, value) => (type ?? '').toLowerCase() === value,
  event: ({ event }, value) => includesText(event, value),
  user: ({ userId, anonymousId }, value) => includesText(userId, value) || includesText(anonymousId, value),
  verdict: ({ verdict }, value) => verdict === value,
  path: ({ path }, value) => includesText(path, value),
  status: ({ status, answered }, value) =>
    value.endsWith('xx')
      ? String(status).startsWith(value.slice(0, -2))
      : String(status ?? answered) === value,
};

function includesText(text: string | undefined, value: string): boolean {
  return text !== undefined && text.toLowerCase().includes(value);
}

const texts = new WeakMap<RequestSummary, string>();

function searchTextOf(summary: RequestSummary): string {
  const known = texts.get(summary);
  if (known !== undefined) return known;
  const { type, event, userId, anonymousId, messageId, method, path, verdict, status, answered } = summary;
  const text = [type, event, userId, anonymousId, messageId, method, path, verdict, status ?? answered]
    .join('\n')
    .toLowerCase();
  texts.set(summary, text);
  return text;
}
