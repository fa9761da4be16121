import type { KeptBody } from '../../../signature/body/kept-body.ts';
import type { Changed, Cost } from '../change.ts';

type NamedValue = readonly [name: string, value: string];

/** A way to join the fields of a form or of a JSON object into one text. */
type Joint = readonly [what: string, write: (field: NamedValue) => string, separator: string];

const JOINTS: readonly Joint[] = [
  ['name and value', ([name, value]) => name + value, ''],
  ['name=value', ([name, value]) => `${name}=${value}`, '&'],
  ['name:value', ([name, value]) => `${name}:${value}`, '\n'],
  ['the value alone', ([, value]) => value, ''],
];

/**
 * Yields the fields of a form or of a JSON object, joined into one text in different ways. Some services sign such a
 * text instead of the body: Twilio signs the URL and the sorted fields. Unsorted fields cost 1 more than sorted ones.
 */
export function* joinedFields(body: KeptBody, isForm: boolean, cost: Cost): Generator<Changed<string>> {
  const fields = fieldsOf(body, isForm);
  if (fields.length < 2) return;
  const sorted = fields.toSorted(([left], [right]) => (left < right ? -1 : Number(left > right)));
  const likeliest = isForm ? 1 : 2;
  if (cost !== likeliest && cost !== likeliest + 1) return;
  const [order, way] = cost === likeliest ? [sorted, 'sorted '] : [fields, ''];
  for (const [what, write, separator] of JOINTS) {
    const by = separator === '' ? '' : `, joined by ${JSON.stringify(separator)}`;
    const would = `over its ${way}fields, each as ${what}${by}`;
    yield { code: 'other-encoding', would, fix: FIELDS, cost, value: order.map(write).join(separator) };
  }
}

const FIELDS =
  'Sign and verify the bytes of the body; for a service that signs fields, such as Twilio, verify with its own library';

function fieldsOf({ text = '', value }: KeptBody, isForm: boolean): readonly NamedValue[] {
  if (isForm) return [...new URLSearchParams(text)];
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [];
  return Object.entries(value).map(([name, member]: [string, unknown]) => {
    return [name, typeof member === 'string' ? member : JSON.stringify(member)];
  });
}
