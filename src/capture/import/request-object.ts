import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from '../../message/types.ts';
import type { HeaderPair } from '../capture.ts';
import { requestProblem } from '../http-request.ts';
import { statedLength, targetOfUrl, type Imported } from './imported.ts';
import { bodyOf } from './request-body.ts';

// Tools write a request as a JSON object with a method, a URL, headers and a body, but use different names. One reader with the
// names of all of them also reads the logs of tools that are not listed.

const METHODS = ['method', 'httpMethod', 'http_method', 'requestMethod'];
const URLS = ['url', 'uri', 'rawPath', 'path', 'originalUrl'];
const HEADERS = ['headers', 'multiValueHeaders', 'header', 'requestHeaders', 'request_headers'];
/** Keys of the query parameters in Lambda events. Other tools keep the query in the URL. */
const QUERIES = ['multiValueQueryStringParameters', 'queryStringParameters'];
const TIMES = ['at', 'startedDateTime', 'start', 'created_at', 'createdAt', 'timestamp', 'time'];
/** Fields of a response, which has headers and a body too. */
const OF_RESPONSE = ['status', 'statusCode', 'status_code', 'statusText'];

/** Deepest nesting of a request in a value. */
const MOST_DEPTH = 20;

/** Finds the requests in a value, whatever tool wrote it, in their order. `at` is the time of the value, if it is known. */
export function* requestsIn(value: JsonValue, at?: number, depth = 0): Generator<Imported, void, undefined> {
  if (depth > MOST_DEPTH) return;
  if (typeof value === 'string') {
    const inner = value.includes('"headers"') ? jsonWithin(value) : undefined;
    if (inner !== undefined) yield* requestsIn(inner, at, depth + 1);
    return;
  }
  if (isJsonArray(value)) {
    for (const each of value) yield* requestsIn(each, at, depth + 1);
    return;
  }
  if (!isJsonObject(value)) return;
  const time = timeOf(value) ?? at;
  const found = readRequest(value, time);
  if (found !== undefined) {
    yield found;
    return;
  }
  for (const [key, each] of Object.entries(value)) {
    // A response may have a request in it that the server repeats.
    if (!/^res(?:ponse.*|ult)?$/i.test(key)) yield* requestsIn(each ?? null, time, depth + 1);
  }
}

/** Number of brackets to try in a text. Logs write a few before the JSON, such as the time, the level and a thread. */
const MOST_STARTS = 50;

/** Parses a text that is JSON, or a line of a log that ends in it. Monolog writes empty lists and objects after it. */
export function jsonWithin(text: string): JsonValue | undefined {
  let line = text.trim();
  while (/[\]}] (?:\[\]|\{\})$/.test(line.slice(-4))) line = line.slice(0, -3);
  if (!/[\]}]$/.test(line)) return undefined;
  let starts = 0;
  for (const { index } of line.matchAll(/[[{]/g)) {
    if (++starts > MOST_STARTS) return undefined;
    const value = parsedJson(line.slice(index));
    if (value !== undefined) return value;
  }
  return undefined;
}

/** Parses a text that is JSON, also with a byte order mark. Undefined if it is not JSON. */
export function parsedJson(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text.replace(/^\u{FEFF}/u, '')) as JsonValue; // JSON.parse returns only these
  } catch {
    return undefined;
  }
}

function readRequest(fields: JsonObject, at: number | undefined): Imported | undefined {
  const headers = headersOf(firstOf(fields, HEADERS));
  const method = textOf(firstOf(fields, METHODS)) ?? textOf(lambdaCall(fields)['method']);
  const url = urlOf(fields);
  const isResponse = OF_RESPONSE.some((key) => fields[key] !== undefined);
  if (headers === undefined || isResponse || (method === undefined && url === undefined)) return undefined;
  const request = { method: method ?? 'POST', url: targetOfUrl(url ?? '/'), headers, at };
  const what = `${request.method} ${request.url}`;
  // Tools write an empty body for these methods, such as `{}`. Only a length shows that one was sent.
  const hasBody = !/^(?:GET|HEAD|OPTIONS|CONNECT|TRACE)$/i.test(request.method) || statedLength(headers);
  if (!hasBody) return { kind: 'skipped' };
  const body = bodyOf(fields, headers);
  if (body === undefined) return { kind: 'skipped' };
  const reason = requestProblem(request.method, headers);
  if (reason !== undefined) return { kind: 'rejected', what, reason };
  if ('reason' in body) return { kind: 'rejected', what, reason: body.reason };
  return { kind: 'request', request: { ...request, body: body.bytes } };
}

function urlOf(fields: JsonObject): string | undefined {
  const value = firstOf(fields, URLS);
  const text = textOf(value) ?? (isJsonObject(value) ? textOf(value['raw']) : undefined);
  const values = (headersOf(firstOf(fields, QUERIES)) ?? []).map(([...pair]) => pair);
  const { requestContext, rawQueryString } = fields;
  // A load balancer passes the parameters as they were sent; API Gateway decodes them.
  const isEncoded = isJsonObject(requestContext) && requestContext['elb'] !== undefined;
  const joined = isEncoded
    ? values.map((pair) => pair.join('=')).join('&')
    : new URLSearchParams(values).toString();
  const query = textOf(rawQueryString) ?? joined;
  return text === undefined || query === '' || text.includes('?') ? text : `${text}?${query}`;
}

/** The method and the time of an event of Lambda in version 2. */
function lambdaCall({ requestContext }: JsonObject): JsonObject {
  const { http } = isJsonObject(requestContext) ? requestContext : {};
  return isJsonObject(http) ? http : {};
}

function timeOf(fields: JsonObject): number | undefined {
  const { requestContext } = fields;
  const { timeEpoch, requestTimeEpoch } = isJsonObject(requestContext) ? requestContext : {};
  const value = firstOf(fields, TIMES) ?? timeEpoch ?? requestTimeEpoch;
  const at = typeof value === 'number' ? value : Date.parse(textOf(value) ?? '');
  // Ignores numbers that are seconds, or durations.
  return at > Date.UTC(2000) && at < Date.UTC(2100) ? at : undefined;
}

/** Headers as pairs: of a list of pairs or of `{name, value}`, or of an object whose values are texts or lists. */
function headersOf(value: JsonValue | undefined): readonly HeaderPair[] | undefined {
  if (isJsonObject(value)) {
    return Object.entries(value).flatMap(([name, each]) =>
      [each ?? null].flat().map((text): HeaderPair => [name, headerText(text)]),
    );
  }
  if (!isJsonArray(value)) return undefined;
  const pairs = value.flatMap((each): HeaderPair[] => {
    if (isJsonArray(each)) return [[headerText(each[0]), headerText(each[1])]];
    const { name, key = name, value: text } = isJsonObject(each) ? each : {};
    return [[headerText(key), headerText(text)]];
  });
  // HTTP/2 has the method and the host as headers whose names begin with a colon.
  return pairs.filter(([name]) => name !== '' && !name.startsWith(':'));
}

function headerText(value: JsonValue | undefined): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}

function firstOf(fields: JsonObject, keys: readonly string[]): JsonValue | undefined {
  return keys
    .map((key) => fields[key])
    .find((value) => value !== undefined && value !== null && value !== '');
}

function textOf(value: JsonValue | undefined): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
