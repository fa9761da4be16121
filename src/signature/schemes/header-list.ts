import { isObject, kindOf } from '../../check-options.ts';
import { ConfigError } from '../../errors.ts';

/** A request's headers: name in lower case and value, in order. */
export type HeaderList = readonly (readonly [lowerName: string, value: string])[];

/**
 * A request's headers as programs have them: `Headers`, `request.headers` or `request.rawHeaders` of Node, or a list of pairs. Of `Headers` and
 * `request.headers` a header that came twice is one value, which matches nothing.
 */
export type HeadersInput =
  | Iterable<readonly [string, string]>
  | readonly string[]
  | Readonly<Record<string, string | readonly string[] | undefined>>;

/** Throws ConfigError for what has no headers. */
export function headerList(headers: HeadersInput): HeaderList {
  const given: unknown = headers;
  if (Array.isArray(given) && given.every((each) => typeof each === 'string')) return rawHeaderList(given);
  if (typeof given === 'object' && given !== null && Symbol.iterator in given) {
    return [...(given as Iterable<readonly [string, string]>)].map(([name, value]) => pair(name, value)); // each pair is checked
  }
  if (!isObject(given)) throw notHeaders(kindOf(given));
  return Object.entries(given).flatMap(([name, value]) =>
    (Array.isArray(value) ? value : [value]).flatMap((each: unknown) =>
      each === undefined ? [] : [pair(name, each)],
    ),
  );
}

/** The headers of Node's `rawHeaders`: name, value, name, value … */
export function rawHeaderList(rawHeaders: readonly string[]): HeaderList {
  const list: [string, string][] = [];
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    list.push([(rawHeaders[at] ?? '').toLowerCase(), rawHeaders[at + 1] ?? '']);
  }
  return list;
}

/** The values of a header, by its name in lower case. */
export function headerValues(headers: HeaderList, lowerName: string): readonly string[] {
  return headers.filter(([name]) => name === lowerName).map(([, value]) => value);
}

function pair(name: unknown, value: unknown): readonly [string, string] {
  if (typeof name !== 'string' || typeof value !== 'string') throw notHeaders('other values than text');
  return [name.toLowerCase(), value];
}

function notHeaders(got: string): ConfigError {
  return new ConfigError(`Expected \`headers\` to be the headers of a request, got ${got}`, {
    key: 'headers',
    hint: 'pass request.headers, request.rawHeaders or a Headers object',
  });
}
