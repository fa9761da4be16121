import { hash } from 'node:crypto';
import type { RequestTarget } from '../../signature/evidence.ts';
import type { HmacFrame } from '../../signature/hmac.ts';
import { BUILT_IN_SCHEMES } from '../../signature/schemes/built-in.ts';
import type { HeaderList } from '../../signature/schemes/header-list.ts';
import { layoutOf } from '../../signature/schemes/layout.ts';
import type { SignatureScheme, SignedFields } from '../../signature/schemes/scheme.ts';
import type { KeptBody } from '../../signature/body/kept-body.ts';
import type { ReasonCode } from '../../signature/reasons.ts';

/** A text that may have been signed around the body, in place of the right one. */
export interface FrameChange {
  readonly code: ReasonCode;
  readonly would: string;
  readonly cost: number;
  readonly frame: HmacFrame;
}

/** The request whose signature does not match, as far as it is known. */
export interface FramedRequest {
  readonly headers: HeaderList;
  readonly body: KeptBody | undefined;
  readonly target?: RequestTarget | undefined;
}

/** Values that the sender may have signed as a field, each with its description. */
type Guesses = readonly (readonly [value: string, would: string])[];

/** Fields that services sign beside the body. */
const FIELDS = ['timestamp', 'id', 'path', 'url', 'method'] as const;

type Field = (typeof FIELDS)[number];

type FieldGuesses = Readonly<Record<Field, Guesses>>;

/**
 * Texts that may have been signed around the body: the parts of the scheme's own template in another order or number, the
 * templates of other schemes, and one or two fields with usual separators. Each is filled with the received id and timestamp,
 * or with another one. Makes those of the highest cost, of which there are many, only when they are asked for.
 */
export class FrameChanges {
  readonly #own: SignedFields;
  readonly #guesses: FieldGuesses;
  readonly #scheme: SignatureScheme;
  readonly #seen = new Set<string>();
  #few: readonly FrameChange[] | undefined;
  #many: readonly FrameChange[] | undefined;

  constructor(
    scheme: SignatureScheme,
    request: FramedRequest,
    own: SignedFields = { id: '', timestamp: '' },
  ) {
    this.#scheme = scheme;
    this.#own = own;
    this.#guesses = {
      timestamp: timeGuesses(own.timestamp, request),
      id: idGuesses(own.id, request),
      ...targetGuesses(request),
    };
  }

  /** The frames whose cost is at most `sum`. */
  upTo(sum: number): readonly FrameChange[] {
    if (sum === 0) return [];
    this.#few ??= this.#filled(templatesOf(this.#scheme));
    if (sum >= ALONE)
      this.#many ??= this.#filled(TEMPLATES.map((signs) => ({ signs, cost: ALONE, asWhom: '' })));
    return [...this.#few, ...(this.#many ?? [])].filter(({ cost }) => cost <= sum);
  }

  #filled(templates: Iterable<Template>): readonly FrameChange[] {
    const frames: FrameChange[] = [];
    for (const template of templates) {
      if (this.#seen.has(template.signs)) continue;
      this.#seen.add(template.signs);
      const { timestamp } = this.#guesses;
      const near = template.signs === this.#scheme.signs ? nearTimes(this.#own.timestamp) : [];
      frames.push(...filled(template, this.#own, { ...this.#guesses, timestamp: [...timestamp, ...near] }));
    }
    return frames;
  }
}

interface Template {
  readonly signs: string;
  readonly cost: number;
  readonly asWhom: string;
}

function* templatesOf(scheme: SignatureScheme): Generator<Template> {
  yield { signs: scheme.signs, cost: 0, asWhom: '' };
  const [separator = '.'] = layoutOf(scheme).separators;
  for (const parts of selections(scheme.signs.split(separator))) {
    for (const each of new Set([separator, ...SEPARATORS])) {
      yield { signs: parts.join(each), cost: each === separator ? 1 : 2, asWhom: '' };
    }
  }
  for (const { signs, name } of BUILT_IN_SCHEMES) yield { signs, cost: 2, asWhom: `, as ${name} does` };
}

/** Cost of a frame that is tried without other changes, because there are many. */
const ALONE = 4;

/** All orders of all selections of parts that include the body. */
function selections(parts: readonly string[]): readonly (readonly string[])[] {
  const orders = (left: readonly string[]): readonly (readonly string[])[] => [
    [],
    ...left.flatMap((part) => orders(left.filter((each) => each !== part)).map((rest) => [part, ...rest])),
  ];
  return parts.length > MOST_PARTS ? [] : orders(parts).filter((order) => order.includes('{body}'));
}

const MOST_PARTS = 4;

const SEPARATORS = ['.', '', ':', '\n', '|', '-', ' '];
/** Templates with one field before or after the body, then with two fields before it. */
const TEMPLATES: readonly string[] = [
  ...FIELDS.flatMap((field) =>
    SEPARATORS.flatMap((separator) => [`{${field}}${separator}{body}`, `{body}${separator}{${field}}`]),
  ),
  ...FIELDS.flatMap((field) =>
    FIELDS.filter((other) => other !== field).flatMap((other) =>
      SEPARATORS.slice(0, 4).map((separator) => [`{${field}}`, `{${other}}`, '{body}'].join(separator)),
    ),
  ),
];

/** Fills a template with the received fields, or with guesses for those that are missing, and for one of the others. */
function* filled(
  { signs, cost, asWhom }: Template,
  own: SignedFields,
  guesses: FieldGuesses,
): Generator<FrameChange> {
  const over = `over ${signs.replaceAll('\n', '\\n')}${asWhom}`;
  const used = FIELDS.filter((field) => signs.includes(`{${field}}`));
  const received: Partial<Record<Field, string>> = { ...own };
  const missing = used.filter((field) => (received[field] ?? '') === '');
  let fillings: Partial<Record<Field, string>>[] = [received];
  for (const field of missing) {
    fillings = fillings.flatMap((filling) =>
      guesses[field].map(([value]) => ({ ...filling, [field]: value })),
    );
  }
  const code = 'other-template';
  if (cost > 0)
    for (const filling of fillings) yield { code, would: over, cost, frame: frameOf(signs, filling) };
  for (const field of missing.length > 0 ? [] : used) {
    for (const [value, what] of guesses[field]) {
      const as = `with ${what} as the ${field}`;
      const isUnit = field === 'timestamp' && value === `${own.timestamp}000`;
      const fieldCode = isUnit
        ? 'timestamp-unit'
        : field === 'timestamp' || field === 'id'
          ? (`other-${field}` as const)
          : code;
      yield {
        code: cost === 0 ? fieldCode : code,
        would: cost === 0 ? as : `${over}, ${as}`,
        cost: cost === 0 ? 1 : Math.min(ALONE, cost + 1),
        frame: frameOf(signs, { ...received, [field]: value }),
      };
    }
  }
}

function frameOf(signs: string, fields: Partial<Record<Field, string>>): HmacFrame {
  const text = (template: string): string =>
    template.replace(/\{(\w+)\}/g, (_, field: Field) => fields[field] ?? ''); // templates have known fields only
  const [before = '', after = ''] = signs.split('{body}');
  return { before: text(before), after: text(after) };
}

function targetGuesses({ headers, target }: FramedRequest): Pick<FieldGuesses, 'path' | 'url' | 'method'> {
  if (target === undefined) return { path: [], url: [], method: [] };
  const { method, path } = target;
  const host = headers.find(([name]) => name === 'host')?.[1];
  const pathAlone = path.replace(/\?.*$/s, '');
  return {
    method: [[method, 'the method']],
    path: distinctGuesses(
      [
        [path, 'the path'],
        [pathAlone, 'the path without its query'],
      ],
      '',
    ),
    url:
      host === undefined
        ? []
        : [`https://${host}${path}`, `http://${host}${path}`].map((url) => [url, 'the URL']),
  };
}

/** Seconds that a sender may have signed before or after the time that it sends: it reads its clock twice, or retries. */
const MOST_SECONDS = 60;

function nearTimes(own: string): Guesses {
  if (!/^\d{10}$/.test(own)) return [];
  return Array.from({ length: MOST_SECONDS }, (_, index) => index + 1).flatMap((seconds) =>
    [-seconds, seconds].map((each) => {
      const size = seconds === 1 ? '1 second' : `${seconds} seconds`;
      return [String(Number(own) + each), `a time ${size} ${each < 0 ? 'earlier' : 'later'}`] as const;
    }),
  );
}

function timeGuesses(own: string, { headers, body }: FramedRequest): Guesses {
  const found: [string, string][] = [];
  if (/^\d{10}$/.test(own)) {
    found.push([`${own}000`, 'milliseconds'], [`${own}.0`, 'a decimal number']);
  }
  for (const [name, value] of headers) {
    for (const [, time] of value.matchAll(/(?:^|t=)(\d{10}(?:\d{3})?)(?=$|,)/g)) {
      if (time !== undefined) found.push([time, `the time in ${name}`]);
    }
  }
  const stamp = memberOf(body, 'timestamp');
  if (stamp !== undefined) {
    const seconds = Math.floor(Date.parse(stamp) / 1000);
    if (Number.isFinite(seconds)) {
      found.push(
        [String(seconds), 'the timestamp of the body'],
        [`${seconds}000`, 'the timestamp of the body in milliseconds'],
      );
    }
    found.push([stamp, 'the timestamp of the body as it is written']);
  }
  return distinctGuesses(found, own);
}

/** Matches the names of headers that contain the id of a message or of a request. */
const ID_HEADER = /(?:^|-)(?:id|key|delivery|guid)$/;

function idGuesses(own: string, { headers, body }: FramedRequest): Guesses {
  const found: [string, string][] = [];
  for (const member of ['messageId', 'id', 'event_id', 'eventId']) {
    const id = memberOf(body, member);
    if (id !== undefined) {
      found.push(
        [id, `\`${member}\` of the body`],
        [hash('sha256', id, 'hex'), `the SHA-256 of \`${member}\``],
      );
    }
  }
  for (const [name, value] of headers) if (ID_HEADER.test(name)) found.push([value, name]);
  if (own !== '') {
    found.push([`msg_${own}`, 'msg_ and the id'], [own.replace(/^[a-z]+_/, ''), 'the id without its prefix']);
    found.push([own.toLowerCase(), 'the id in lower case'], [own.toUpperCase(), 'the id in upper case']);
    found.push(['', 'nothing'], ['undefined', 'undefined'], ['null', 'null'], ['None', 'None']);
  }
  return distinctGuesses(found, own);
}

/** Maximum guesses for the id or the timestamp, because every combination of two guesses is hashed. */
const MOST_GUESSES = 16;

function distinctGuesses(found: Guesses, own: string): Guesses {
  const distinct = new Map<string, string>();
  for (const [value, would] of found) if (value !== own && !distinct.has(value)) distinct.set(value, would);
  return [...distinct].slice(0, MOST_GUESSES);
}

function memberOf(body: KeptBody | undefined, name: string): string | undefined {
  const value = body?.value;
  if (typeof value !== 'object' || value === null || !(name in value)) return undefined;
  const member: unknown = (value as Record<string, unknown>)[name]; // an object's member may be anything
  return typeof member === 'string' && member.length <= 1_000 ? member : undefined;
}
