import { isUtf8 } from 'node:buffer';
import { gunzipSync, gzipSync } from 'node:zlib';
import { HooksError } from '../../errors.ts';
import { parseJsonOrUndefined } from '../../message/json/batch-document.ts';
import { bomLength, isTooDeep, readJson } from '../../message/json/read-json.ts';
import { isJsonArray, isJsonObject, type JsonValue } from '../../message/types.ts';
import { RequestRejection } from '../import/imported.ts';
import type { Redaction } from './redaction.ts';

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

/** Redacts a text that is JSON. Throws RequestRejection if it cannot be read without loss to remove values from it. */
export function redactJson(text: string, redaction: Redaction): string {
  const bytes = Buffer.from(text);
  if (isTooDeep(bytes)) throw new RequestRejection('its JSON is nested over 512 levels deep');
  if (!redaction.drops) return redaction.json(text);
  try {
    const value = readJson(bytes);
    const rest = withoutDropped(value, redaction, []);
    const json = JSON.stringify(rest);
    return redaction.json(json === JSON.stringify(value) ? text : json);
  } catch (error) {
    if (!(error instanceof HooksError)) throw error;
    throw new RequestRejection(
      'its JSON would lose a number or a duplicate key, so no value can be removed from it',
    );
  }
}

/** Removes the values of --drop. The path of a message of a batch or list is also its path in the message. */
function withoutDropped(value: JsonValue, redaction: Redaction, path: readonly string[]): JsonValue {
  const inMessage = path.slice(keysBeforeMessage(path));
  const isKeptPlace = (key: string): boolean =>
    !redaction.isDropped([...path, key]) &&
    (inMessage.length === path.length || !redaction.isDropped([...inMessage, key]));
  if (isJsonArray(value)) {
    return value.flatMap((each, index) =>
      isKeptPlace(String(index)) ? [withoutDropped(each, redaction, [...path, String(index)])] : [],
    );
  }
  if (!isJsonObject(value)) return value;
  const kept = Object.entries(value).filter(([key]) => isKeptPlace(key));
  return Object.fromEntries(
    kept.map(([key, each]) => [key, withoutDropped(each, redaction, [...path, key])]),
  );
}

/** The number of keys in front of a message: its index in a list, or `batch` and its index. */
function keysBeforeMessage([first = '', second = '']: readonly string[]): number {
  if (/^\d+$/.test(first)) return 1;
  return first === 'batch' && /^\d+$/.test(second) ? 2 : 0;
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
