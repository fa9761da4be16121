import type { KeptBody } from '../../../signature/body/kept-body.ts';
import type { Deadline } from '../../../signature/deadline.ts';
import { ChangeTable, type Changed, type Cost } from '../change.ts';
import { codecChanges, type Bytes } from '../codecs/codec.ts';
import { PERCENT_ENCODINGS } from '../codecs/codecs.ts';

const code = 'url-encoded';

/** Yields the values of a form's fields, the longest field first, because its value is usually the signed text. */
export function* fieldValues(
  { head, text = '' }: KeptBody,
  deadline: Deadline,
): Generator<readonly Changed<string>[]> {
  if (/^\s*[[{"]/.test(head) || !/^[^\s={["]{1,100}=/.test(text)) return;
  const fields = [...new Set(text.split('&'))].toSorted((left, right) => right.length - left.length);
  const would = 'over the value of the form field alone';
  for (let at = 0; at < fields.length && !deadline.isOver; at += FIELDS_A_LIST) {
    const some = new URLSearchParams(fields.slice(at, at + FIELDS_A_LIST).join('&'));
    yield [...some.values()].map((value) => ({ code, would, cost: 1, value }));
  }
}

/** Number of fields to decode between checks of the deadline, because a form can have a very large number of fields. */
const FIELDS_A_LIST = 16;

/** Returns the text in each percent-encoding, alone and as the form field `payload`, as GitHub sends it. */
export function encodedForms(text: string, cost: Cost): readonly Changed<Bytes>[] {
  const encoded = ENCODINGS.changes({ text, bytes: Buffer.from(text) }, cost);
  const would = 'as the form field "payload"';
  return [
    ...encoded,
    ...encoded.map(({ value }) => ({ code, would, cost, value: `payload=${String(value)}` }) as const),
  ];
}

const ENCODINGS = new ChangeTable(codecChanges(PERCENT_ENCODINGS, 'encode', 'over the body'));
