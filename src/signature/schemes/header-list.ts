import { isObject, kindOf } from '../../validate-options.ts';
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

/** The headers of Node's `rawHeaders`: name, value, name, value … */
export function rawHeaderList(rawHeaders: readonly string[]): HeaderList {
  const list: [string, string][] = [];
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    list.push([(rawHeaders[at] ?? '').toLowerCase(), rawHeaders[at + 1] ?? '']);
  }
  return withAliases(list);
}

/** The names that Standard Webhooks had before, under which Svix still sends them. */
const ALIASES: ReadonlyMap<string, string> = new Map([
  ['svix-id', 'webhook-id'],
  ['svix-timestamp', 'webhook-timestamp'],
  ['svix-signature', 'webhook-signature'],
]);

/** Adds the headers that came under their older names, unless one came under the newer: the two sets are never mixed. */
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

export function headerValues(headers: HeaderList, lowerName: string): readonly string[] {
  return headers.filter(([name]) => name === lowerName).map(([, value]) => value);
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
