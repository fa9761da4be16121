import type { Confidence } from '../../confidence.ts';
import type { CauseFacts, CauseKind, ResponseEvidence } from '../../transport/cause.ts';
import type { ResponseWords } from './response-words.ts';

/**
 * Recognizes one kind of response, and explains it. The fields from `status` to `isSigned` are conditions: the rule
 * applies if each one that is set holds. `says` and `fix` are templates for `filledTemplate`: `says` is a sentence
 * without a full stop, and `fix` tells what to do.
 */
export interface CauseRule {
  /** Code of the cause. It must not change, because the records of attempts store it. */
  readonly code: string;
  readonly kind: CauseKind;
  readonly confidence: Confidence;
  readonly status?: readonly number[];
  /** Pattern for the headers of the response: one per line, with a lower-case name, such as `server: nginx`. */
  readonly headers?: RegExp;
  /** Pattern for the text of the body: HTML without its tags; JSON as received, or only its messages, unescaped. */
  readonly words?: RegExp;
  /** Pattern for the body as received, with its markup. */
  readonly body?: RegExp;
  /** Pattern for the error message in the body. A message that says no more than the status never matches. */
  readonly quotation?: RegExp;
  readonly isSigned?: boolean;
  /** The sentence that names the cause. @default a sentence that quotes the response */
  readonly says?: string;
  readonly fix: string;
}

export function rulesOfKind(
  kind: CauseKind,
  confidence: Confidence,
  rules: Readonly<Record<string, Omit<CauseRule, 'code' | 'kind' | 'confidence'> & Partial<CauseRule>>>,
): readonly CauseRule[] {
  return Object.entries(rules).map(([code, rule]) => ({ code, kind, confidence, ...rule }));
}

export interface ReadResponse extends ResponseEvidence {
  readonly words: ResponseWords;
}

export function appliesTo(rule: CauseRule, seen: ReadResponse): boolean {
  const { status, headers, words, body, quotation, isSigned } = rule;
  if (status !== undefined && !status.includes(seen.status)) return false;
  if (isSigned !== undefined && isSigned !== seen.isSigned) return false;
  if (quotation && !(seen.words.isTelling && quotation.test(seen.words.quotation))) return false;
  if (headers?.test(headerLines(seen.headers)) === false) return false;
  const { text, unescaped } = seen.words;
  if (words !== undefined && !words.test(text) && !words.test(unescaped)) return false;
  return body?.test(seen.body) ?? true;
}

export function headerLines(headers: ResponseEvidence['headers']): string {
  return Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}\n`)
    .join('');
}

/** Replaces placeholders such as `{path}` with the facts below or the values in `given.shown`. Keeps unknown ones. */
export function filledTemplate(template: string, given: CauseFacts): string {
  const { status, url, server, location, retryAfter, quotation, proxy } = given;
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  const facts: Readonly<Record<string, string>> = {
    ...given.shown,
    status: String(status),
    server: server?.slice(0, 60) || 'which does not say its name',
    host: parsed?.host ?? url,
    hostname: parsed?.hostname ?? url,
    path: parsed?.pathname ?? '',
    location: location?.slice(0, 300) ?? 'a place that it does not name',
    wait: retryAfter === undefined ? '' : `, Retry-After ${waitText(retryAfter)}`,
    quote: quotation === undefined ? '' : `: "${quotation}"`,
    proxy: proxy ?? (parsed?.protocol === 'http:' ? 'HTTP_PROXY' : 'HTTPS_PROXY'),
  };
  return template.replace(/\{([a-z]+)\}/gi, (whole, name: string) => facts[name] ?? whole);
}

function waitText(retryAfter: string): string {
  return /^\d{1,9}$/.test(retryAfter) ? `${retryAfter} s` : retryAfter.slice(0, 40);
}
