import { isUtf8 } from 'node:buffer';
import { gunzipSync, gzipSync } from 'node:zlib';
import { parseJsonOrUndefined } from '../../message/json/batch-document.ts';
import { bomLength, isTooDeep } from '../../message/json/read-json.ts';
import { RequestRejection } from '../import/imported.ts';
import { JsonPlace, jsonTokens } from './json-tokens.ts';
import type { RedactedSpan } from './known-values.ts';
import type { Redaction } from './redaction.ts';
import { withSpans } from './spans.ts';

/** Largest body, also once unpacked. Webhooks have less than 1 MB. */
const MOST_BYTES = 8 * 1024 * 1024;
const FORM = /^[^\s=&]+=[^\s&]*(?:&[^\s=&]+=[^\s&]*)*&?$/;

interface BodyForm {
  /** Media type of the body, in lower case without parameters. Empty if unknown. */
  readonly type: string;
  /** Content coding of the body. Empty if none. */
  readonly coding: string;
}

/**
 * Redacts a body: JSON, lines of JSON, or a form, gzipped or not. Throws RequestRejection for a body in which personal data
 * could remain, such as plain text.
 */
export function redactBody(body: Uint8Array, { type, coding }: BodyForm, redaction: Redaction): Uint8Array {
  if (body.length > MOST_BYTES) throw tooLarge();
  const isGzip = body[0] === 0x1f && body[1] === 0x8b;
  if (isGzip) return gzipSync(redactBody(unpacked(body), { type, coding: '' }, redaction));
  if (coding !== '' && coding !== 'identity') {
    throw new RequestRejection(`its body has the content coding ${coding}, and only gzip can be unpacked`);
  }
  if (!isUtf8(body)) throw new RequestRejection('its body is binary, and only text can be searched');
  const bom = bomLength(body);
  const text = Buffer.from(body.subarray(bom)).toString();
  const redacted = redactText(text, type, redaction);
  return Buffer.concat([body.subarray(0, bom), Buffer.from(redacted)]);
}

function redactText(text: string, type: string, redaction: Redaction): string {
  if (parseJsonOrUndefined(text) !== undefined) return redactJson(text, redaction);
  const lines = text.split('\n');
  if (lines.length > 1 && lines.every(isBlankOrJson)) {
    return lines.map((line) => (line.trim() === '' ? line : redactJson(line, redaction))).join('\n');
  }
  const isForm = type === 'application/x-www-form-urlencoded' || (FORM.test(text) && !type.includes('xml'));
  if (isForm) return redaction.form(text);
  throw new RequestRejection(
    `its body is ${type.startsWith('multipart/') ? 'a form with files' : 'a text'}, and only JSON and forms can be redacted safely`,
  );
}

function isBlankOrJson(line: string): boolean {
  return line.trim() === '' || parseJsonOrUndefined(line) !== undefined;
}

/** Redacts a text that is JSON. Throws RequestRejection if it is nested too deep. */
export function redactJson(text: string, redaction: Redaction): string {
  if (isTooDeep(Buffer.from(text))) throw new RequestRejection('its JSON is nested over 512 levels deep');
  if (!redaction.drops) return redaction.json(text);
  const root = new JsonPlace();
  jsonTokens(text, root);
  return redaction.json(withSpans(text, [...droppedSpans(root, text, redaction)]));
}

/** Finds the values of --drop with their keys, each with one of the commas around it. */
function* droppedSpans(around: JsonPlace, text: string, redaction: Redaction): Generator<RedactedSpan> {
  let isFirst = true;
  for (const place of around.items.length > 0 ? around.items : around.fields) {
    if (text.slice(place.start, place.end).trim() === '') continue; // the item of an empty list
    if (redaction.isDropped(place)) {
      const start = place.start - (isFirst ? 0 : 1);
      const end = place.end + (isFirst && text[place.end] === ',' ? 1 : 0);
      yield { start, end, kind: 'dropped', replacement: '' };
    } else {
      isFirst = false;
      yield* droppedSpans(place, text, redaction);
    }
  }
}

function unpacked(body: Uint8Array): Uint8Array {
  try {
    return gunzipSync(body, { maxOutputLength: MOST_BYTES });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') throw tooLarge(); // zlib throws only such errors
    throw new RequestRejection('its gzipped body is corrupt');
  }
}

function tooLarge(): RequestRejection {
  return new RequestRejection('its body is larger than 8 MiB');
}
