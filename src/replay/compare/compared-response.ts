import { HooksError } from '../../errors.ts';
import { readJsonString } from '../../message/json/read-json.ts';
import type { JsonValue } from '../../message/types.ts';
import type { ResponseValue } from './value-format.ts';

/** A value for each of the two receivers. */
export type Sides<Value> = Readonly<Record<'old' | 'new', Value>>;

/** The response of a receiver to a message, or the error if no complete response was received. */
export type ComparedResponse =
  | {
      readonly kind: 'response';
      readonly status: number;
      /** All headers, with lower-case names. */
      readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
      readonly body: string;
      /** Milliseconds from the start of the request to the status line. */
      readonly ms: number;
    }
  | {
      readonly kind: 'none';
      /** The code of the network error, such as `reset`. */
      readonly error: string;
      readonly detail: string;
    };

/** The parts of a response that are compared. */
export interface ResponseParts {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  /** `empty`, `JSON`, `text`, or the encoding of a compressed body, such as `gzip`. */
  readonly bodyKind: string;
  /**
   * The parsed JSON, or the text. Undefined if the body is empty. Text of several words is stored as an object with a
   * property for each word and each separator, so that noise in one word does not hide differences in the others.
   */
  readonly body: ResponseValue;
}

/** Headers that are not compared: they describe the transfer or the server program, and do not matter to the sender. */
const UNCOMPARED: ReadonlySet<string> = new Set([
  'age',
  'alt-svc',
  'connection',
  'content-length',
  'date',
  'keep-alive',
  'server',
  'server-timing',
  'trailer',
  'transfer-encoding',
  'via',
  'x-powered-by',
]);

export function partsOfResponse({
  status,
  headers,
  body,
}: ComparedResponse & { kind: 'response' }): ResponseParts {
  const compared = Object.entries(headers).flatMap(([name, value]) =>
    value === undefined || UNCOMPARED.has(name) ? [] : [[name, headerText(name, value)] as const],
  );
  const read = { status, headers: new Map(compared) };
  const encoding = read.headers.get('content-encoding') ?? 'identity';
  if (encoding !== 'identity') return { ...read, bodyKind: encoding, body };
  const value = jsonOrUndefined(body);
  if (value !== undefined) return { ...read, bodyKind: 'JSON', body: value };
  return body.trim() === ''
    ? { ...read, bodyKind: 'empty', body: undefined }
    : { ...read, bodyKind: 'text', body: wordsOf(body) };
}

/** Maximum number of words and separators in a text that is compared word by word. Longer texts are compared as a whole. */
const MAX_WORDS = 200;

function wordsOf(text: string): JsonValue {
  const words = text.trim().split(/([\s<>=&;,"]+)/);
  if (words.length === 1 || words.length > MAX_WORDS) return text;
  return Object.fromEntries(words.map((word, at) => [`word${at + 1}`, word]));
}

function headerText(name: string, value: string | readonly string[]): string {
  const values = typeof value === 'string' ? [value] : value;
  if (name === 'set-cookie') return values.map(cookieText).join(', ');
  const text = values.join(', ');
  return name === 'content-type' ? text.toLowerCase().replaceAll(/\s*;\s*/g, '; ') : text;
}

/**
 * Returns the name and the sorted attributes of a cookie. Omits the value, because it is secret, and the expiry time,
 * because it can differ in each response.
 */
function cookieText(cookie: string): string {
  const [pair = '', ...attributes] = cookie.split(/\s*;\s*/);
  const name = pair.includes('=') ? pair.split('=', 1)[0] : '';
  const texts = attributes.map((text) => text.toLowerCase().replace(/^(expires|max-age)=.*/, '$1'));
  return [name, ...texts.filter(Boolean).toSorted()].join('; ');
}

/** Parses JSON. Undefined if the text is not JSON, is nested too deep, or would lose a number or a duplicate key. */
function jsonOrUndefined(text: string): JsonValue | undefined {
  try {
    return readJsonString(text);
  } catch (error) {
    if (error instanceof HooksError) return undefined;
    throw error;
  }
}
