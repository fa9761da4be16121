import type { CauseFacts, CauseKind, ResponseEvidence } from '../../transport/cause.ts';
import { exceptionLine, responseWords } from './response-words.ts';

/**
 * Recognizes one kind of response by its evidence, and explains it. The rule applies if all of its conditions
 * hold. `says` and `fix` are templates over `CauseFacts`: `says` is a sentence without a full stop, `fix`
 * begins with a verb.
 */
export interface CauseRule {
  /** Code of the cause. Stable and unique, because the records of attempts store it. */
  readonly code: string;
  readonly kind: CauseKind;
  readonly status?: readonly number[];
  /** The pattern that each of these response headers must match if the rule applies, by lower-case header name. */
  readonly headers?: Readonly<Record<string, RegExp>>;
  /** Pattern of the response body, if the rule needs one. Its group `named` fills `{named}` in `says` and `fix`. */
  readonly body?: RegExp;
  readonly isSigned?: boolean;
  readonly isBySchemeWithout?: true;
  readonly says: string;
  readonly fix: string;
}

/** Gives `kind` to each rule that does not have its own. */
export function rulesOfKind(
  kind: CauseKind,
  rules: readonly (Omit<CauseRule, 'kind'> & { readonly kind?: CauseKind })[],
): readonly CauseRule[] {
  return rules.map((rule) => ({ kind, ...rule }));
}

export function appliesTo(
  { status, headers = {}, body, isSigned, isBySchemeWithout }: CauseRule,
  seen: ResponseEvidence,
): boolean {
  if (status !== undefined && !status.includes(seen.status)) return false;
  if (isSigned !== undefined && isSigned !== seen.isSigned) return false;
  if (isBySchemeWithout && !seen.isBySchemeWithout) return false;
  for (const name in headers) if (!headers[name]?.test(seen.headers[name] ?? '')) return false;
  return body === undefined || body.test(seen.body);
}

/**
 * Fills a template: `{status} {server} {host} {hostname} {path} {location} {wait} {words} {exception}
 * {reason} {proxy} {named}`.
 */
export function filledTemplate(template: string, given: CauseFacts, named = '…'): string {
  const { status, url, server, location, retryAfter, body, proxy } = given;
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  const facts: Readonly<Record<string, string>> = {
    status: String(status),
    server: server === undefined || server === '' ? 'which does not say its name' : server.slice(0, 60),
    host: parsed?.host ?? url,
    hostname: parsed?.hostname ?? url,
    path: parsed?.pathname ?? '',
    location: location === undefined ? 'a place that it does not name' : location.slice(0, 300),
    wait: retryAfter === undefined ? '' : `, Retry-After ${waitText(retryAfter)}`,
    words: template.includes('{words}') ? quotation(body, responseWords) : '',
    exception: template.includes('{exception}') ? quotation(body, exceptionLine) : '',
    reason: template.includes('{reason}')
      ? quotation(body, (text) => exceptionLine(text) ?? responseWords(text))
      : '',
    named,
    proxy: proxy ?? (parsed?.protocol === 'http:' ? 'HTTP_PROXY' : 'HTTPS_PROXY'),
  };
  return template.replace(/\{([a-z]+)\}/g, (whole, name: string) => facts[name] ?? whole);
}

/**
 * Quotes the words that `wordsOf` finds in the body, as the end of a sentence (`: "no such user"`); empty if it finds
 * none.
 */
function quotation(body: string | undefined, wordsOf: (body: string) => string | undefined): string {
  const words = body === undefined ? undefined : wordsOf(body);
  return words === undefined ? '' : `: "${words}"`;
}

/** Formats a Retry-After header: seconds, or the date as received. */
function waitText(retryAfter: string): string {
  return /^\d{1,9}$/.test(retryAfter) ? `${retryAfter} s` : retryAfter.slice(0, 40);
}
