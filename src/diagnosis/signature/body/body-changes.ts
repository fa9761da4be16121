import { isUtf8 } from 'node:buffer';
import { KeptBody, LARGEST_DIAGNOSED } from '../../../signature/body/kept-body.ts';
import { whyDiffers } from '../../../signature/body/why-differs.ts';
import type { Deadline } from '../../../signature/deadline.ts';
import { overLossyBody } from '../../../signature/reasons.ts';
import { ChangeTable, coded, type SignatureChange, type Changed, type Cost } from '../change.ts';
import { CHARACTER_SETS } from '../codecs/character-sets.ts';
import { codecChanges, type Bytes } from '../codecs/codec.ts';
import { BODY_CODECS, BYTE_CODECS, ESCAPES, PERCENT_ENCODINGS } from '../codecs/codecs.ts';
import { innerBodyChanges } from './body-looks.ts';
import { byteChanges } from './byte-changes.ts';
import { PART_CHANGES, withFloats } from './part-changes.ts';
import { spelledJson } from './spelled-json.ts';

/** Bytes that may have been signed: the received body, or bytes that a mistake may have put in its place. */
export class BodyCandidate {
  /** A string for UTF-8: most candidates are only hashed, and a string is cheaper to make than a buffer. */
  readonly bytes: Bytes;
  /** Whether all kinds of changes can follow. If not, as after re-serializing JSON, only `byteChanges` are tried. */
  readonly isContent: boolean;
  #body: KeptBody | undefined;

  constructor(bytes: Bytes, isContent: boolean, body?: KeptBody) {
    this.bytes = typeof bytes === 'string' || !isUtf8(bytes) ? bytes : asBuffer(bytes).toString();
    this.isContent = isContent;
    this.#body = body;
  }

  /** Identifies the bytes. If they are not UTF-8, the key starts with a lone surrogate, which UTF-8 cannot encode. */
  get key(): string {
    return typeof this.bytes === 'string' ? this.bytes : `\ud800${asBuffer(this.bytes).toString('latin1')}`;
  }

  get body(): KeptBody {
    return (this.#body ??= new KeptBody(Buffer.from(this.bytes)));
  }
}

function asBuffer({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}

/**
 * Applies the changes of this cost to a body. Yields the bodies that the sender or receiver may have used instead, in
 * lists, the likeliest first. If a search ends early, the rest are not made.
 */
export function* bodyChangeLists(
  candidate: BodyCandidate,
  cost: Cost,
  deadline: Deadline,
): Generator<readonly Changed<BodyCandidate>[]> {
  yield signedBodies(byteChanges(candidate.bytes, cost), false);
  if (!candidate.isContent || deadline.isOver) return;
  const { body } = candidate;
  const { bytes } = body;
  yield signedBodies(stringifiedChange(body, cost), false);
  if (bytes.length > LARGEST_DIAGNOSED) return;
  const written = { bytes, text: bytes.toString() };
  // Allows content changes after a change of cost 1 only. After a rarer one, they are slow and seldom explain a mismatch.
  const isLikely = cost === 1;
  if (isLikely) {
    yield signedBodies(innerBodyChanges(body), true);
    for (const list of fieldValues(body, deadline)) yield signedBodies(list, true);
  }
  const json = spelledJson(body, deadline);
  if (json !== undefined) {
    yield signedBodies(PART_CHANGES.changes(json.node, cost), isLikely);
    // Allows further changes at any cost, because a program that rewrites numbers also rewrites the rest of the JSON.
    yield signedBodies(withFloats(json.node, cost), true);
  }
  yield signedBodies(DECODINGS.changes(written, cost), isLikely);
  if (json !== undefined) yield signedBodies(json.spelled(cost), false);
  if (deadline.isOver) return;
  yield signedBodies(ENCODINGS.changes(written, cost), false);
}

function signedBodies(
  changes: Iterable<Changed<Bytes>>,
  isContent: boolean,
): readonly Changed<BodyCandidate>[] {
  return Array.from(changes, (change) => ({ ...change, value: new BodyCandidate(change.value, isContent) }));
}

/** Returns the constant texts of this cost that broken programs hash instead of the body, such as `[object Object]`. */
export function bodyReplacements(cost: Cost): readonly Changed<BodyCandidate>[] {
  return signedBodies(CONSTANTS.changes(undefined, cost), false);
}

const SIGN_THE_TEXT = 'Sign the JSON text of the message, not the object';
const SIGN_THE_BODY = 'Compute over the bytes of the body: one side did not have them';

const CONSTANTS = new ChangeTable(
  coded<undefined, string>(
    'other-encoding',
    [
      [1, 'over no bytes at all', () => ''],
      [1, 'over "[object Object]", the text of an object', () => '[object Object]', SIGN_THE_TEXT],
      [2, 'over {}', () => '{}'],
      [2, 'over [], as PHP writes the empty $_POST of a JSON request', () => '[]'],
      [2, 'over the word "undefined"', () => 'undefined'],
      [2, 'over the word "null"', () => 'null'],
    ],
    SIGN_THE_BODY,
  ),
);

/** Yields `JSON.stringify(JSON.parse(body))` if it differs from the body: signing it is a common mistake. */
function* stringifiedChange(body: KeptBody, cost: Cost): Generator<Changed<string>> {
  const { text = '', json } = body;
  if (cost !== 1 || json === undefined || json === text) return;
  const refined = (): Pick<SignatureChange, 'code' | 'would'> =>
    body.lossy === undefined
      ? { code: whyDiffers(text, json), would: STRINGIFIED }
      : { code: 'lossy-json', would: overLossyBody(body.lossy.loss) };
  yield { code: 'pretty-printed', would: STRINGIFIED, cost, refined, value: json };
}

const STRINGIFIED = 'over the JSON-stringified body';

/** Yields the values of a form's fields, the longest field first, because its value is usually the signed text. */
function* fieldValues(
  { head, text = '' }: KeptBody,
  deadline: Deadline,
): Generator<readonly Changed<string>[]> {
  if (/^\s*[[{"]/.test(head) || !/^[^\s={["]{1,100}=/.test(text)) return;
  const fields = [...new Set(text.split('&'))].toSorted((left, right) => right.length - left.length);
  const would = 'over the value of the form field alone';
  for (let at = 0; at < fields.length && !deadline.isOver; at += FIELDS_A_LIST) {
    const some = new URLSearchParams(fields.slice(at, at + FIELDS_A_LIST).join('&'));
    yield [...some.values()].map((value) => ({ code: 'url-encoded', would, cost: 1, value }));
  }
}

/** Number of fields to decode between checks of the deadline, because a form can have a very large number of fields. */
const FIELDS_A_LIST = 16;

const CODECS = [...BODY_CODECS, ...BYTE_CODECS, ...ESCAPES, ...PERCENT_ENCODINGS];
const ENCODINGS = new ChangeTable(codecChanges(CODECS, 'encode', 'over the body'));
const DECODINGS = new ChangeTable(codecChanges([...CHARACTER_SETS, ...CODECS], 'decode', 'over the body'));
