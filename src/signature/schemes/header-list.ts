import { isObject, kindOf } from '../../validate-options.ts';
import { ConfigError } from '../../errors.ts';

/** Headers of a request in order, as pairs of lower-case name and value. */
export type HeaderList = readonly (readonly [lowerName: string, value: string])[];

/**
 * Headers of a request: `Headers`, Node's `request.headers` or `request.rawHeaders`, or a list of pairs. `Headers` and
 * `request.headers` join duplicate headers into one value, which matches nothing.
 */
export type HeadersInput =
  | Iterable<readonly [string, string]>
  | readonly string[]
  | Readonly<Record<string, string | readonly string[] | undefined>>;

/** Reads the headers of a request. Throws ConfigError if the value has none of these forms. */
export function headerList(headers: HeadersInput): HeaderList {
  const given: unknown = headers;
  if (Array.isArray(given) && given.every((each) => typeof each === 'string')) return rawHeaderList(given);
  if (typeof given === 'object' && given !== null && Symbol.iterator in given) {
    const pairs: readonly unknown[] = [...(given as Iterable<unknown>)]; // it has an iterator
    return withAliases(pairs.map((each) => pair(...(Array.isArray(each) ? (each as unknown[]) : []))));
  }
  if (!isObject(given)) throw notHeaders(kindOf(given));
  const pairs = Object.entries(given).flatMap(([name, value]) =>
    (Array.isArray(value) ? value : [value]).flatMap((each: unknown) =>
      each === undefined ? [] : [pair(name, each)],
    ),
  );
  return withAliases(pairs);
}

/** Reads Node's `rawHeaders`: name, value, name, value … */
export function rawHeaderList(rawHeaders: readonly string[]): HeaderList {
  const list: [string, string][] = [];
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    list.push([(rawHeaders[at] ?? '').toLowerCase(), rawHeaders[at + 1] ?? '']);
  }
  return withAliases(list);
}

/** Older names of the headers of Standard Webhooks, which Svix still sends. */
const ALIASES: ReadonlyMap<string, string> = new Map([
  ['svix-id', 'webhook-id'],
  ['svix-timestamp', 'webhook-timestamp'],
  ['svix-signature', 'webhook-signature'],
]);

/**
 * Adds the newer names of headers that have older names. Does nothing if the request has a newer name, because the names of
 * the two sets are never mixed.
 */
function withAliases(list: HeaderList): HeaderList {
  if (!list.some(([name]) => name === 'svix-signature')) return list;
  const newer = new Set(ALIASES.values());
  if (list.some(([name]) => newer.has(name))) return list;
  const aliases = list.flatMap(([name, value]): HeaderList => {
    const alias = ALIASES.get(name);
    return alias === undefined ? [] : [[alias, value]];
  });
  return [...list, ...aliases];
}

/** The name that a header has in a request: that of Svix, if the request has the older names. */
export function receivedName(headers: HeaderList, name: string): string {
  const older = [...ALIASES].find(([, newer]) => newer === name.toLowerCase())?.[0];
  return older !== undefined && hasHeader(headers, older) ? older : name;
}

export function headerValues(headers: HeaderList, lowerName: string): readonly string[] {
  return headers.filter(([name]) => name === lowerName).map(([, value]) => value);
}

export function hasHeader(headers: HeaderList, lowerName: string): boolean {
  return headers.some(([name]) => name === lowerName);
}

function pair(name?: unknown, value?: unknown): readonly [string, string] {
  if (typeof name !== 'string' || typeof value !== 'string') throw notHeaders('other values than text');
  return [name.toLowerCase(), value];
}

function notHeaders(got: string): ConfigError {
  return new ConfigError(`Expected \`headers\` to be the headers of a request, got ${got}`, {
    key: 'headers',
    hint: 'pass request.headers, request.rawHeaders or a Headers object',
  });
}
