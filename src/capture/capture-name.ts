import { parseJsonOrUndefined } from '../message/json/batch-document.ts';
import { isJsonObject } from '../message/types.ts';
import type { CapturedRequest } from './to-capture.ts';

/** A name for the file of a request: the event or type in its body, else the end of its path. */
export function captureName({ url, body }: Pick<CapturedRequest, 'url' | 'body'>): string {
  const value = parseJsonOrUndefined(body);
  const { event, type, batch, action } = isJsonObject(value) ? value : {};
  const named = [
    event,
    type,
    batch === undefined ? undefined : 'batch',
    action,
    url.split('?', 1)[0]?.split('/').at(-1),
  ];
  const words = named
    .map((each) => (typeof each === 'string' ? each.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-') : ''))
    .map((each) => each.slice(0, 40).replaceAll(/^-|-$/g, ''));
  return words.find((each) => each !== '') ?? 'request';
}
