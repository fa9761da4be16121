import { hash } from 'node:crypto';
import type { RequestTarget } from '../../signature/evidence.ts';
import type { HmacFrame } from '../../signature/hmac.ts';
import { BUILT_IN_SCHEMES } from '../../signature/schemes/built-in.ts';
import type { HeaderList } from '../../signature/schemes/header-list.ts';
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
 * Texts that may have been signed around the body, the most common first: the template of the scheme with another id or
 * timestamp, the templates of other schemes, and every order of up to two fields with usual separators.
 */
export function framesOf(
  scheme: SignatureScheme,
  request: FramedRequest,
  own: SignedFields = { id: '', timestamp: '' },
): readonly FrameChange[] {
  const guesses = {
    timestamp: timeGuesses(own.timestamp, request),
    id: idGuesses(own.id, request),
    ...targetGuesses(request),
  };
  // The templates are filled with the received id and timestamp; the guesses stand in for missing ones.
  const filling = {
    ...guesses,
    timestamp: ownOr(own.timestamp, guesses.timestamp),
    id: ownOr(own.id, guesses.id),
  };
  return [...ownTemplate(scheme, own, guesses), ...otherTemplates(scheme, filling)];
}

function ownOr(own: string, guessed: Guesses): Guesses {
  return own === '' ? guessed : [[own, '']];
}

function* ownTemplate(
  { signs }: SignatureScheme,
  own: SignedFields,
  guesses: FieldGuesses,
): Generator<FrameChange> {
  for (const field of ['timestamp', 'id'] as const) {
    if (!signs.includes(`{${field}}`)) continue;
    for (const [value, would] of guesses[field]) {
      const isUnit = field === 'timestamp' && value === `${own.timestamp}000`;
      const code = isUnit ? 'timestamp-unit' : (`other-${field}` as const);
      const frame = frameOf(signs, { ...own, [field]: value });
      yield { code, would: `with ${would} as the ${field}`, cost: 1, frame };
    }
  }
}

function* otherTemplates(scheme: SignatureScheme, guesses: FieldGuesses): Generator<FrameChange> {
  const seen = new Set([scheme.signs]);
  for (const { signs, name } of BUILT_IN_SCHEMES) {
    const cost = signs === '{body}' ? 1 : 2;
    if (!seen.has(signs)) yield* filled(signs, { asWhom: `, as ${name} does`, cost }, guesses);
    seen.add(signs);
  }
  for (const signs of TEMPLATES) {
    if (!seen.has(signs)) yield* filled(signs, { asWhom: '', cost: 4 }, guesses);
    seen.add(signs);
  }
}

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

/** Fills a template such as `{id}.{body}` with every combination of guesses for its fields. */
function* filled(
  signs: string,
  { asWhom, cost }: { readonly asWhom: string; readonly cost: number },
  guesses: FieldGuesses,
): Generator<FrameChange> {
  const would = `over ${signs.replaceAll('\n', '\\n')}${asWhom}`;
  let fillings: Partial<Record<Field, string>>[] = [{}];
  for (const field of FIELDS.filter((each) => signs.includes(`{${each}}`))) {
    fillings = fillings.flatMap((filling) =>
      guesses[field].map(([value]) => ({ ...filling, [field]: value })),
    );
  }
  for (const filling of fillings) {
    yield { code: 'other-template', would, cost, frame: frameOf(signs, filling) };
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

/** Seconds to add to the timestamp, because the sender may read its clock twice: for the header and for the signature. */
const NEAR_SECONDS = [-1, 1, -2, 2, -3, 3, -4, 4, -5, 5];

function timeGuesses(own: string, { headers, body }: FramedRequest): Guesses {
  const found: [string, string][] = [];
  if (/^\d{10}$/.test(own)) {
    found.push([`${own}000`, 'milliseconds'], [`${own}.0`, 'a decimal number']);
    for (const seconds of NEAR_SECONDS) {
      found.push([String(Number(own) + seconds), 'a time some seconds off']);
    }
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
