import { SAME_BYTES } from '../../../signature/reasons.ts';
import type { KeptBody } from '../../../signature/body/kept-body.ts';
import type { Deadline } from '../../../signature/deadline.ts';
import { ChangeTable, type Changed, type Cost } from '../change.ts';
import { bodyCodecChanges, type Bytes } from '../codecs/codec.ts';
import { PERCENT_ENCODINGS } from '../codecs/codecs.ts';
import { joinedFields } from './joined-fields.ts';

const code = 'url-encoded';

/**
 * Yields texts that may have been signed in place of a form: its fields joined into one text, the value of one field,
 * its fields as JSON, or the form as another program encodes it. For a JSON object, yields only its joined fields.
 */
export function* formChanges(
  body: KeptBody,
  cost: Cost,
  deadline: Deadline,
): Generator<readonly Changed<string>[]> {
  const { head, text = '' } = body;
  const isForm = !/^\s*[[{"]/.test(head) && IS_FORM.test(text);
  yield [...joinedFields(body, isForm, cost)];
  if (!isForm) return;
  if (cost === 1) yield* fieldLists(text, deadline);
  if (cost === 2) yield [...otherForms(text, cost)];
}

const IS_FORM = /^[^\s={["]{1,100}=/;

/** Yields the fields of a form as JSON, and the form as other programs encode it, with %20 for a space, for example. */
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

/** Yields the values of a form's fields, the longest field first, because its value is usually the signed text. */
function* fieldLists(text: string, deadline: Deadline): Generator<readonly Changed<string>[]> {
  const fields = [...new Set(text.split('&'))].toSorted((left, right) => right.length - left.length);
  const would = 'over the value of the form field alone';
  for (let at = 0; at < fields.length && !deadline.isOver; at += FIELDS_A_LIST) {
    const some = new URLSearchParams(fields.slice(at, at + FIELDS_A_LIST).join('&'));
    yield [...some.values()].map((value) => ({ code, would, cost: 1, value }));
  }
}

/** Number of fields to decode between checks of the deadline, because a form can have a very large number of fields. */
const FIELDS_A_LIST = 16;

/** Names of form fields that hold the whole message, by the cost of the change. GitHub names the field `payload`. */
const FIELDS: Readonly<Record<Cost, readonly string[]>> = {
  1: [],
  2: ['payload'],
  3: ['body', 'data'],
  4: [],
};

/** Yields the text in each percent-encoding, and as the only field of a form in these encodings. */
export function* encodedForms(text: string, cost: Cost): Generator<Changed<Bytes>> {
  const written = { text, bytes: Buffer.from(text) };
  yield* ENCODINGS.changes(written, cost);
  for (const name of FIELDS[cost]) {
    for (const { value } of ENCODINGS.changes(written, 2)) {
      yield { code, would: `as the form field "${name}"`, cost, value: `${name}=${String(value)}` };
    }
  }
}

const ENCODINGS = new ChangeTable([], bodyCodecChanges(PERCENT_ENCODINGS, 'encode'));
