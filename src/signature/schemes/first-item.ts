import { stringified, utf8TextOf } from '../../diagnosis/signature/json/json-text.ts';

/** What a scheme signs that covers the first item of a list alone. */
export interface FirstItem {
  /** JSON-stringified. */
  readonly json: string;
  /** How many items the list has; 1 for a body that is no list. */
  readonly count: number;
}

/** The first item of a body that is a list, or the body itself; undefined when it is no JSON, or an empty list. */
export function firstItem(body: Uint8Array): FirstItem | undefined {
  const text = utf8TextOf(Buffer.from(body.buffer, body.byteOffset, body.byteLength))?.replace(/^\ufeff/, '');
  // Checks the depth before it is parsed.
  const json = text === undefined ? undefined : stringified(text);
  if (json === undefined) return undefined;
  if (!json.startsWith('[')) return { json, count: 1 };
  const list = JSON.parse(json) as readonly unknown[]; // what begins with [ is a list
  return list.length === 0 ? undefined : { json: JSON.stringify(list[0]), count: list.length };
}
