import { SAME_BYTES } from '../../../signature/reasons.ts';
import type { KeptBody } from '../../../signature/body/kept-body.ts';
import type { Deadline } from '../../../signature/deadline.ts';
import type { Changed, Cost } from '../change.ts';

const code = 'url-encoded';

/** Yields the JSON inside a form or percent-encoded text, by changes of this cost. */
export function* formChanges(
  { head, text = '' }: KeptBody,
  cost: Cost,
  deadline: Deadline,
): Generator<Changed<string>> {
  if (/^\s*[[{"]/.test(head)) return;
  if (cost === 1 && IS_FORM.test(text)) {
    const would = 'over the value of the form field alone';
    for (const value of formValues(text, deadline)) yield { code, would, cost, value };
  }
  if (cost === 2 && IS_FORM.test(text)) yield* otherForms(text, cost);
  const decoded = cost === 2 && /[%+]/.test(text) ? percentDecoded(text) : undefined;
  if (decoded !== undefined) {
    yield { code, would: 'with the percent-encoding taken off', cost, value: decoded };
  }
}

const IS_FORM = /^[^\s={["]{1,100}=/;

/** Yields the JSON of the fields of a form, and the form as other programs encode it. */
function* otherForms(text: string, cost: Cost): Generator<Changed<string>> {
  const fields = Object.fromEntries(new URLSearchParams(text));
  const would = 'over the JSON of its form fields';
  yield { code, would, cost, value: JSON.stringify(fields) };
  for (const value of [
    text.replaceAll('+', '%20'),
    text.replaceAll('%20', '+'),
    new URLSearchParams(text).toString(),
  ]) {
    yield { code, would: 'with its form encoded by another program', fix: SAME_BYTES, cost, value };
  }
}

/** Yields each distinct value of a form, the longest field first, because a signed body is longer than other fields. */
function* formValues(text: string, deadline: Deadline): Generator<string> {
  const fields = [...new Set(text.split('&'))].toSorted((left, right) => right.length - left.length);
  for (const field of fields) {
    if (deadline.isOver) return;
    for (const [, value] of new URLSearchParams(field)) yield value;
  }
}

const FIELDS = ['payload', 'body', 'data'];

/** Yields JSON percent-encoded as JavaScript, PHP (`rawurlencode`, `urlencode`) and Python (`quote`) do, alone or in a form. */
export function* encodedForms({ json, text = '' }: KeptBody, cost: Cost): Generator<Changed<string>> {
  if (cost === 1 || json === undefined) return;
  for (const value of percentEncoded(text.trim())) {
    if (cost === 2) yield { code, would: 'percent-encoded', cost, value };
    for (const name of cost === 3 ? FIELDS : []) {
      yield { code, would: `as the form field "${name}"`, cost, value: `${name}=${value}` };
    }
  }
}

function percentEncoded(text: string): readonly string[] {
  const javaScript = encodeURIComponent(Buffer.from(text).toString());
  const strict = javaScript.replace(
    /[!'()*]/g,
    (each) => `%${each.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return [
    javaScript,
    strict,
    strict.replaceAll('%2F', '/'),
    strict.replaceAll('%20', '+'),
    new URLSearchParams({ '': text }).toString().slice(1),
  ];
}

function percentDecoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return undefined;
  }
}
