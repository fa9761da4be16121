import { printable } from '../../redact.ts';
import type { SignatureVerdict } from '../../receiver/received-request.ts';
import type { Details, RequestSummary } from '../wire.ts';

/** The title of a request: its event, type, number of messages, or method and path. */
export function requestTitleOf({ event, type, messages, method, path }: RequestSummary): string {
  const several = messages === undefined ? undefined : `${messages} messages`;
  return printable(event ?? type ?? several ?? `${method} ${path}`);
}

/**
 * A verdict as the page shows it. `re-serialized`: the signature is valid for re-serialized JSON, but not for the received
 * bytes, which other receivers verify.
 */
export type ShownVerdict = SignatureVerdict | 're-serialized';

export function shownVerdictOf({ verdict, isRestringified }: RequestSummary): ShownVerdict {
  return isRestringified === true ? 're-serialized' : verdict;
}

/** Texts below the title of a request: type and user, events and types of its messages, or why it was rejected. */
export function aboutOf(summary: RequestSummary): readonly string[] {
  const { problem } = summary;
  if (problem !== undefined) return [printable(`rejected: ${problem}`)];
  const unplanned = unplannedText(summary);
  const facts = factsOf(summary);
  return unplanned === undefined ? facts : [unplanned, ...facts];
}

function factsOf(summary: RequestSummary): readonly string[] {
  const { type, event, among } = summary;
  // Omits the type track, because its events are listed.
  const names = among && [...among.events, ...among.types.filter((each) => each !== 'track')];
  if (names !== undefined) return [printable(names.join(', ') || 'track')];
  if (type === undefined) return [summary.bytes === 0 ? 'no body' : sizeText(summary.bytes)];
  const who = whoOf(summary) ?? 'no user';
  return event === undefined ? [who] : [printable(type), who];
}

/** Says that messages of a request violate the tracking plan. Undefined if none does. */
function unplannedText({ unplanned, messages }: RequestSummary): string | undefined {
  if (unplanned === undefined) return undefined;
  if (messages === undefined) return 'violates the plan';
  return `${unplanned} ${unplanned === 1 ? 'violates' : 'violate'} the plan`;
}

export function whoOf({ userId, anonymousId }: RequestSummary): string | undefined {
  const who = userId ?? anonymousId;
  return who === undefined ? undefined : printable(who);
}

export function statusOf({ status, answered }: RequestSummary): string {
  return answered === 'status' ? String(status) : answered;
}

/** The time of day in the browser's time zone, with milliseconds. */
export function timeOf({ at }: RequestSummary): string {
  const time = new Date(at);
  return `${time.toTimeString().slice(0, 8)}.${String(time.getMilliseconds()).padStart(3, '0')}`;
}

/** `1 request`, `2,000 requests`. */
export function requestsText(count: number): string {
  return `${count.toLocaleString('en')} request${count === 1 ? '' : 's'}`;
}

export function sizeText(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`;
  if (bytes < 1024 * 1024) return `${(bytes / 1024).toFixed(1)} KB`;
  return `${(bytes / 1024 / 1024).toFixed(1)} MB`;
}

export function millisecondsText(ms: number): string {
  return ms < 1 ? '<1 ms' : `${Math.round(ms)} ms`;
}

/** A text of several lines, each escaped and limited in length. */
export function printableLines(text: string): string {
  return text
    .split('\n')
    .map((line) => printable(line, 2_000))
    .join('\n');
}

/** The summary of a request for screen readers. */
export function spokenSummary(summary: RequestSummary): string {
  const who = whoOf(summary);
  return [
    summary.type === undefined || summary.event === undefined ? undefined : summary.type,
    requestTitleOf(summary),
    who === undefined ? undefined : `by ${who}`,
    shownVerdictOf(summary),
    unplannedText(summary),
    statusOf(summary),
    timeOf(summary),
  ]
    .filter(Boolean)
    .join(', ');
}

/** The verdict as a sentence, and its reason or how to fix it. */
export function verdictText(details: Details): { what: string; why?: string } {
  const { summary, diagnosis, note, secret, scheme, warning, messages } = details;
  const verdict = shownVerdictOf(summary);
  switch (verdict) {
    case 're-serialized':
      return {
        what: 'The signature is valid only for the re-serialized body',
        why: `It matches the JSON-stringified body, not the received bytes (${note}). A receiver that verifies the bytes rejects this request.`,
      };
    case 'valid':
      return {
        what: `The signature is valid by ${scheme}${secret === undefined || secret === 1 ? '' : ` (secret ${secret})`}`,
        ...(warning !== undefined && { why: warning }),
      };
    case 'invalid':
      return {
        what: 'The signature does not match',
        ...(diagnosis !== undefined && { why: withoutHeading(diagnosis.hint) }),
      };
    case 'unsigned':
      return {
        what: 'There is no signature',
        why:
          diagnosis?.hint ??
          'A signed request has an `X-Signature` header: the HMAC-SHA1 of its body in hex. Set the secret in the sender.',
      };
    case 'unchecked':
      if (messages !== undefined) {
        return {
          what: 'There is no signature to check',
          why: 'A call of a tracking API has a write key instead.',
        };
      }
      return {
        what: 'The signature was not checked',
        why: 'Start `hooks listen` with `--secret` or `HOOKS_SECRET` to check signatures.',
      };
    default:
      return verdict satisfies never;
  }
}

/** Removes "Signature does not match" from a hint, because the heading above the hint says it. */
function withoutHeading(hint: string): string {
  const text = hint.replace(/^Signature does not match: /, '');
  return text.charAt(0).toUpperCase() + text.slice(1);
}
