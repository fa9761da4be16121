import { hash } from 'node:crypto';
import type { HmacFrame } from '../../signature/hmac.ts';
import { BUILT_IN_SCHEMES } from '../../signature/schemes/built-in.ts';
import type { HeaderList } from '../../signature/schemes/header-list.ts';
import { withFields } from '../../signature/schemes/layout.ts';
import type { SignatureScheme, SignedFields } from '../../signature/schemes/scheme.ts';
import type { KeptBody } from '../../signature/body/kept-body.ts';
import type { FrameVariant } from './find-mistake.ts';

/** Values that the sender may have signed as the id, or as the timestamp, each with its description. */
type Guesses = readonly (readonly [value: string, would: string])[];

/** Ids and timestamps that the sender may have signed. */
interface FieldGuesses {
  /** The id and the timestamp from the scheme's own headers; an empty text for a missing one. */
  readonly own: SignedFields;
  readonly ids: Guesses;
  readonly timestamps: Guesses;
}

/**
 * Wrong prefixes and suffixes that the sender may have signed around the body, the likeliest first: the template of the
 * scheme with another id or timestamp, then templates of other schemes and unknown senders.
 */
export function frameVariants(
  scheme: SignatureScheme,
  headers: HeaderList,
  body: KeptBody | undefined,
  own: SignedFields = { id: '', timestamp: '' },
): readonly FrameVariant[] {
  const guesses = {
    own,
    ids: idGuesses(own.id, headers, body),
    timestamps: timeGuesses(own.timestamp, headers, body),
  };
  return [...ownTemplate(scheme, guesses), ...otherTemplates(scheme, guesses)];
}

function frameOf(signs: string, fields: SignedFields): HmacFrame {
  const [before = '', after = ''] = signs.split('{body}');
  return { before: withFields(before, fields), after: withFields(after, fields) };
}

function* ownTemplate(
  { signs }: SignatureScheme,
  { own, ids, timestamps }: FieldGuesses,
): Generator<FrameVariant> {
  if (signs.includes('{timestamp}')) {
    for (const [timestamp, would] of timestamps) {
      const isUnit = timestamp === `${own.timestamp}000`;
      const code = isUnit ? 'timestamp-unit' : 'other-timestamp';
      yield { code, would: `with ${would} as the timestamp`, frame: frameOf(signs, { ...own, timestamp }) };
    }
  }
  if (signs.includes('{id}')) {
    for (const [id, would] of ids) {
      yield { code: 'other-id', would: `with ${would} as the id`, frame: frameOf(signs, { ...own, id }) };
    }
  }
}

/** Templates of signed texts that no built-in scheme uses. */
const OTHER_TEMPLATES = [
  '{timestamp}{body}',
  '{timestamp}:{body}',
  '{timestamp}\n{body}',
  '{body}.{timestamp}',
  '{body}{timestamp}',
  '{id}.{body}',
  '{id}{timestamp}{body}',
  '{timestamp}.{id}.{body}',
] as const;

function* otherTemplates(scheme: SignatureScheme, guesses: FieldGuesses): Generator<FrameVariant> {
  const seen = new Set([scheme.signs]);
  for (const { signs, name } of BUILT_IN_SCHEMES) {
    if (seen.has(signs)) continue;
    seen.add(signs);
    yield* byTemplate(signs, `, as ${name} does`, guesses);
  }
  for (const signs of OTHER_TEMPLATES) if (!seen.has(signs)) yield* byTemplate(signs, '', guesses);
}

/** Fills a template such as `{id}.{body}` with the received id and timestamp, or with each guess for a missing one. */
function* byTemplate(
  signs: string,
  asWhom: string,
  { own, ids, timestamps }: FieldGuesses,
): Generator<FrameVariant> {
  const someIds = ownOr(own.id, ids, signs.includes('{id}'));
  const someTimes = ownOr(own.timestamp, timestamps, signs.includes('{timestamp}'));
  const shown = signs.replaceAll('\n', '\\n');
  const would = `over ${shown}${asWhom}`;
  for (const id of someIds) {
    for (const timestamp of someTimes) {
      yield { code: 'other-template', would, frame: frameOf(signs, { id, timestamp }) };
    }
  }
}

function ownOr(own: string, guessed: Guesses, isUsed: boolean): readonly string[] {
  if (!isUsed) return [''];
  return own === '' ? guessed.map(([value]) => value) : [own];
}

/** Seconds to add to the timestamp, because the sender may read its clock twice: for the header and for the signature. */
const NEAR_SECONDS = [-1, 1, -2, 2, -3, 3, -4, 4, -5, 5];

function timeGuesses(own: string, headers: HeaderList, body: KeptBody | undefined): Guesses {
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

function idGuesses(own: string, headers: HeaderList, body: KeptBody | undefined): Guesses {
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
const MOST_GUESSES = 24;

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
