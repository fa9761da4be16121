import type { KeptBody } from '../../signature/body/kept-body.ts';
import type { RequestTarget } from '../../signature/evidence.ts';
import type { HmacFrame } from '../../signature/hmac.ts';
import type { ReasonCode } from '../../signature/reasons.ts';
import { BUILT_IN_SCHEMES } from '../../signature/schemes/built-in.ts';
import type { HeaderList } from '../../signature/schemes/header-list.ts';
import { layoutOf } from '../../signature/schemes/layout.ts';
import type { SignatureScheme, SignedFields } from '../../signature/schemes/scheme.ts';

/** Wrong text around the body (`frame`) that may have been signed. `would` describes it, to follow "it would match". */
export interface FrameChange {
  readonly code: ReasonCode;
  readonly would: string;
  readonly cost: number;
  readonly frame: HmacFrame;
}

/** A template of the signed text, such as `{id}.{body}`. `asWhom` names the scheme that uses it: `, as github does`. */
interface Template {
  readonly signs: string;
  readonly cost: number;
  readonly asWhom?: string;
}

/**
 * Wrong texts around the body that a sender may have signed. The templates are the scheme's own (also with reordered
 * or missing parts, or other separators), those of the other built-in schemes, and one to three fields with usual
 * separators. Each template is filled with the received fields and with guesses.
 */
export class FrameChanges {
  readonly #own: SignedFields;
  readonly #guesses: FieldGuesses;
  readonly #scheme: SignatureScheme;
  #frames: readonly FrameChange[] | undefined;

  constructor(
    scheme: SignatureScheme,
    request: FramedRequest,
    own: SignedFields = { id: '', timestamp: '' },
  ) {
    this.#scheme = scheme;
    this.#own = own;
    this.#guesses = guessesOf(request, own);
  }

  /** Returns the changes whose cost is at most `sum`. For a `sum` of 0, returns an empty list without making them. */
  upTo(sum: number): readonly FrameChange[] {
    if (sum === 0) return [];
    this.#frames ??= this.#made();
    return this.#frames.filter(({ cost }) => cost <= sum);
  }

  #made(): readonly FrameChange[] {
    const frames: FrameChange[] = [];
    const seen = new Set<string>();
    for (const template of templatesOf(this.#scheme)) {
      if (seen.has(template.signs)) continue;
      seen.add(template.signs);
      const { timestamp } = this.#guesses;
      const near = template.signs === this.#scheme.signs ? nearTimes(this.#own.timestamp) : [];
      frames.push(...filled(template, this.#own, { ...this.#guesses, timestamp: [...timestamp, ...near] }));
    }
    return frames;
  }
}

function* templatesOf(scheme: SignatureScheme): Generator<Template> {
  yield { signs: scheme.signs, cost: 0 };
  const [separator = '.'] = layoutOf(scheme).separators;
  for (const parts of selections(scheme.signs.split(separator))) {
    for (const each of new Set([separator, ...SEPARATORS])) {
      yield { signs: parts.join(each), cost: each === separator ? 1 : 2 };
    }
  }
  for (const { signs, name } of BUILT_IN_SCHEMES) yield { signs, cost: 2, asWhom: `, as ${name} does` };
  for (const names of USUAL_LISTS) {
    const fields = names.split(' ').map((name) => `{${name}}`);
    for (const each of SEPARATORS) yield { signs: fields.join(each), cost: 2 };
  }
}

/** Returns the permutations of all subsets of the parts that include the body. Empty for more than MOST_PARTS parts. */
function selections(parts: readonly string[]): readonly (readonly string[])[] {
  const orders = (left: readonly string[]): readonly (readonly string[])[] => [
    [],
    ...left.flatMap((part) => orders(left.filter((each) => each !== part)).map((rest) => [part, ...rest])),
  ];
  return parts.length > MOST_PARTS ? [] : orders(parts).filter((order) => order.includes(BODY));
}

const MOST_PARTS = 4;
const BODY = '{body}';
const SEPARATORS = ['.', '', ':', '\n', '|', '-', ' '];

/** Lists of fields that services sign, in signing order. `filled` skips lists with a field that has no known value. */
const USUAL_LISTS =
  'timestamp body,body timestamp,id body,body id,url body,path body,method path body,method url body,timestamp method path body,timestamp path body'.split(
    ',',
  );

/** Values for the placeholders of a template. */
interface Filling {
  readonly values: Partial<Readonly<Record<Field, string>>>;
  /** Phrases of `would`: one for a template of another scheme, and one for each guess that is not the field itself. */
  readonly words: readonly string[];
  readonly cost: number;
  readonly code: ReasonCode;
}

/**
 * Fills a template with the received fields. If some are missing, yields each combination of guesses for them.
 * Otherwise yields the text as received, unless that is the right one, and a text for each guess in place of one field.
 */
function* filled(
  { signs, cost, asWhom = '' }: Template,
  own: SignedFields,
  guesses: FieldGuesses,
): Generator<FrameChange> {
  const over = cost === 0 ? [] : [`over ${signs.replaceAll('\n', '\\n')}${asWhom}`];
  const used = [...signs.matchAll(/\{(\w+)\}/g)].map(([, field]) => field as Field | 'body'); // no other fields exist
  const fields = used.filter((field) => field !== 'body');
  const received: Filling = { values: own, words: over, cost, code: 'other-template' };
  const missing = fields.filter((field) => (received.values[field] ?? '') === '');
  let fillings = [received];
  for (const field of missing) fillings = fillings.flatMap((each) => guessed(each, field, guesses));
  const others = missing.length > 0 ? [] : fields.flatMap((field) => guessed(received, field, guesses));
  for (const filling of [...fillings, ...others]) {
    if (filling.words.length === 0) continue;
    const would = filling.words.join(', ');
    yield { ...filling, cost: Math.max(1, filling.cost), would, frame: frameOf(signs, filling.values) };
  }
}

/** Returns a copy of the filling for each guess of one field. A guess in place of a received value costs 1 more. */
function guessed(filling: Filling, field: Field, guesses: FieldGuesses): readonly Filling[] {
  const own = filling.values[field] ?? '';
  return guesses[field].map(([value, what, extraCost = 0]) => {
    const cost = filling.cost + (own === '' ? 0 : 1) + extraCost;
    const isUsual = what.toLowerCase() === `the ${field}`;
    const words = isUsual ? [] : [`with ${what} as the ${field}`];
    const isUnit = value === `${own}000`;
    const code =
      filling.words.length > 0 ? filling.code : isUnit ? 'timestamp-unit' : (CODES[field] ?? filling.code);
    return { values: { ...filling.values, [field]: value }, words: [...filling.words, ...words], cost, code };
  });
}

const CODES: Partial<Readonly<Record<Field, ReasonCode>>> = { timestamp: 'other-timestamp', id: 'other-id' };

function frameOf(signs: string, filling: Filling['values']): HmacFrame {
  const text = (template: string): string =>
    template.replace(/\{(\w+)\}/g, (_, field: Field) => filling[field] ?? ''); // templates have no other placeholders
  const [before = '', after = ''] = signs.split(BODY);
  return { before: text(before), after: text(after) };
}

/** The parts of a request that its sender may have signed. `body` and `target` are undefined if they are unknown. */
interface FramedRequest {
  readonly headers: HeaderList;
  readonly body: KeptBody | undefined;
  readonly target?: RequestTarget | undefined;
}

/** Fields that services sign together with the body. */
type Field = 'timestamp' | 'id' | 'path' | 'url' | 'method';

/** Values that a sender may have signed for a field. `what` describes the value. Unlikely values have an extra cost. */
type Guesses = readonly (readonly [value: string, what: string, extraCost?: number | undefined])[];

type FieldGuesses = Readonly<Record<Field, Guesses>>;

/** Collects values that may have been signed: other times and ids in the request, its path, URL and method. */
function guessesOf(request: FramedRequest, { id, timestamp }: SignedFields): FieldGuesses {
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

/** Returns the path, unchanged and as proxies and frameworks change it. */
function pathGuesses(path: string): Guesses {
  return [
    [path, 'the path'],
    [path.replace(/\?.*$/s, ''), 'the path without its query'],
    [path.replace(/\/?(?=\?|$)/, ''), 'the path without the slash at its end', 1],
    [path.replace(/\/?(?=\?|$)/, '/'), 'the path with a slash at its end', 1],
  ];
}

/** Returns the other times within 10 s of a Unix time in seconds: a sender may read its clock twice, or retry. */
function nearTimes(own: string): Guesses {
  if (!/^\d{10}$/.test(own)) return [];
  return Array.from({ length: 20 }, (_, index): Guesses[number] => {
    const seconds = index < 10 ? index - 10 : index - 9;
    const what = `a time ${Math.abs(seconds)} s ${seconds < 0 ? 'earlier' : 'later'}`;
    return [String(Number(own) + seconds), what, Math.abs(seconds) > 2 ? 2 : 0];
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
  const ids = members.filter(([name]) => /^(?:messageId|id|event_id|eventId)$/.test(name));
  return [
    ...ids.map(([name, id]) => [String(id), `\`${name}\` of the body`, 1] as const),
    ...headers.filter(([name]) => ID_HEADER.test(name)).map(([name, id]) => [id, name] as const),
  ];
}

/** Maximum number of guesses per field, besides `nearTimes`. If several fields are missing, all combinations are tried. */
const MOST_GUESSES = 16;

function distinct(found: Iterable<Guesses[number]>, own: string): Guesses {
  const known = new Map<string, Guesses[number]>();
  for (const guess of found) if (guess[0] !== own && !known.has(guess[0])) known.set(guess[0], guess);
  return [...known.values()].slice(0, MOST_GUESSES);
}
