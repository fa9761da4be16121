import type { BodyVariant } from './body-variant.ts';
import type { Deadline } from '../../../signature/deadline.ts';
import { stringified } from '../../../signature/body/json-text.ts';

const code = 'url-encoded';

/** Yields the JSON inside a body that is a form or percent-encoded. */
export function* formVariants(text: string, deadline: Deadline): Generator<BodyVariant> {
  const decoded = percentDecoded(text);
  if (decoded !== undefined && decoded !== text) {
    yield { code, would: 'with the percent-encoding taken off', bytes: decoded };
  }
  if (!/^[^\s={["]{1,100}=/.test(text)) return;
  const would = 'over the value of the form field alone';
  for (const value of formValues(text, deadline)) {
    yield { code, would, bytes: value };
    const json = stringified(value);
    if (json !== undefined && json !== value) {
      yield { code, would: `${would}, JSON-stringified`, bytes: json };
    }
  }
}

/** Yields each distinct value of a form, the longest field first, because a signed body is longer than other fields. */
function* formValues(text: string, deadline: Deadline): Generator<string> {
  const seen = new Set<string>();
  const fields = [...new Set(text.split('&'))].toSorted((left, right) => right.length - left.length);
  for (const field of fields) {
    if (deadline.isOver) return;
    for (const [, value] of new URLSearchParams(field)) {
      if (!seen.has(value)) yield value;
      seen.add(value);
    }
  }
}

/** Yields a JSON body percent-encoded, and as a field of a form (`payload=…`), as a sender may have signed it. */
export function* formFieldVariants(text: string): Generator<BodyVariant> {
  const spellings: string[] = [];
  for (const bytes of percentEncoded(text)) {
    if (spellings.includes(bytes)) continue;
    spellings.push(bytes);
    yield { code, would: 'percent-encoded', bytes };
  }
  for (const field of ['payload', 'body', 'data']) {
    for (const encoded of spellings) {
      yield { code, would: `as the form field "${field}"`, bytes: `${field}=${encoded}` };
    }
  }
}

/** Yields a text percent-encoded as by JavaScript, PHP (`rawurlencode`, `urlencode`) and Python (`quote`, `quote_plus`). */
function* percentEncoded(text: string): Generator<string> {
  const javaScript = encodeURIComponent(text);
  yield javaScript;
  // Replaces one character after the other with a fixed text: calling a function for each match takes a hundred times as
  // long.
  const strict = PLAIN_IN_JAVASCRIPT.reduce(
    (encoded, character) => encoded.replaceAll(character, percent(character)),
    javaScript,
  );
  yield strict;
  yield strict.replaceAll('%2F', '/');
  yield strict.replaceAll('%20', '+');
  yield strict.replaceAll('~', '%7E').replaceAll('%20', '+');
  yield new URLSearchParams({ '': text }).toString().slice(1);
}

const PLAIN_IN_JAVASCRIPT = ['!', "'", '(', ')', '*'];

function percent(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
}

function percentDecoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return undefined;
  }
}
