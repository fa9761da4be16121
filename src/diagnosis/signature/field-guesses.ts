import type { KeptBody } from '../../signature/body/kept-body.ts';
import type { RequestTarget } from '../../signature/evidence.ts';
import type { HeaderList } from '../../signature/schemes/header-list.ts';
import type { SignedFields } from '../../signature/schemes/scheme.ts';

/** The parts of a request that its sender may have signed. `body` and `target` are undefined if they are unknown. */
export interface FramedRequest {
  readonly headers: HeaderList;
  readonly body: KeptBody | undefined;
  readonly target?: RequestTarget | undefined;
}

/** Fields that services sign together with the body. */
export type Field = 'timestamp' | 'id' | 'path' | 'url' | 'method';

/** Values that a sender may have signed for a field. An unlikely value has an extra cost, and is tried later. */
type Guesses = readonly (readonly [value: string, what: string, extraCost?: number | undefined])[];

export type FieldGuesses = Readonly<Record<Field, Guesses>>;

/** Collects values that may have been signed: faulty forms of the received id and time, and values in the request. */
export function guessesOf(request: FramedRequest, { id, timestamp }: SignedFields): FieldGuesses {
  const { headers, target } = request;
  const paths = target === undefined ? [] : pathGuesses(target.path);
  const hosts = headers.filter(([name]) => /^(?:host|x-forwarded-host)$/.test(name)).map(([, host]) => host);
  const urls = hosts.flatMap((host) =>
    ['https://', 'http://'].flatMap((start) =>
      paths.map(([path, what, cost]) => [start + host + path, what.replace('path', 'URL'), cost] as const),
    ),
  );
  return {
    timestamp: distinct(timeGuesses(timestamp, request), timestamp),
    id: distinct(idGuesses(request), id),
    path: distinct(paths, ''),
    url: distinct(urls, ''),
    method: target === undefined ? [] : [[target.method, 'the method']],
  };
}

/** Returns the path, both unchanged and as proxies, frameworks and HTML templates change it. */
function pathGuesses(path: string): Guesses {
  return [
    [path, 'the path'],
    [path.replace(/\?.*$/s, ''), 'the path without its query'],
    [path.replace(/\/?(?=\?|$)/, ''), 'the path without the slash at its end', 1],
    [path.replace(/\/?(?=\?|$)/, '/'), 'the path with a slash at its end', 1],
  ];
}

/** Returns times up to 60 s before and after the sent one, because a sender may read its clock twice, or retry. */
export function nearTimes(own: string): Guesses {
  if (!/^\d{10}$/.test(own)) return [];
  return Array.from({ length: 120 }, (_, index) => {
    const seconds = 1 + Math.floor(index / 2);
    const isEarlier = index % 2 === 0;
    const what = `a time ${seconds} ${seconds === 1 ? 'second' : 'seconds'} ${isEarlier ? 'earlier' : 'later'}`;
    return [String(Number(own) + (isEarlier ? -seconds : seconds)), what, seconds > 2 ? 2 : 0];
  });
}

function* timeGuesses(own: string, { headers }: FramedRequest): Generator<Guesses[number]> {
  if (/^\d{10}$/.test(own)) yield [`${own}000`, 'milliseconds'];
  if (/^\d{13}$/.test(own)) yield [own.slice(0, 10), 'seconds'];
  for (const [name, value] of headers) {
    for (const [, time = ''] of value.matchAll(/(?:^|t=)(\d{10}(?:\d{3})?)(?=$|,)/g)) {
      yield [time, `the time in ${name}`];
    }
  }
}

/** Matches header names that may hold the id of a message or request: `webhook-id`, `idempotency-key`. */
const ID_HEADER = /(?:^|-)(?:id|key|delivery|guid)$/;

function idGuesses({ headers, body }: FramedRequest): Guesses {
  const members: readonly (readonly [string, unknown])[] = Object.entries(body?.value ?? {});
  return [
    ...members.flatMap(([name, id]) => {
      const isId = /^(?:messageId|id|event_id|eventId)$/.test(name) && typeof id === 'string';
      return isId ? [[id, `\`${name}\` of the body`, 1] as const] : [];
    }),
    ...headers.filter(([name]) => ID_HEADER.test(name)).map(([name, id]) => [id, name] as const),
  ];
}

/** Maximum number of guesses per field. If several fields are missing, every combination of guesses is hashed. */
const MOST_GUESSES = 16;

function distinct(found: Iterable<Guesses[number]>, own: string): Guesses {
  const known = new Map<string, Guesses[number]>();
  for (const guess of found) if (guess[0] !== own && !known.has(guess[0])) known.set(guess[0], guess);
  return [...known.values()].slice(0, MOST_GUESSES);
}
