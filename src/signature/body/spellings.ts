import type { JsonMember } from './json-text.ts';
import type { NoteCode } from '../reasons.ts';

/** How a language or library writes JSON. */
export interface Spelling extends Arrangement {
  readonly code: NoteCode;
  /** The body that would match, after "it would match": `as json.dumps of Python writes it`. */
  readonly would: string;
  readonly escape: Escape;
}

/** The white space of a JSON text and the order of its members. */
export interface Arrangement {
  readonly layout: JsonLayout;
  /** Reorders the members of an object. @default the order of the text */
  readonly order?: MemberOrder;
}

export interface JsonLayout {
  /** Indentation of each level of the JSON. Empty to write everything on one line. */
  readonly indent: string;
  /** Characters that end a line. @default '\n' */
  readonly newline?: '\r\n';
  readonly comma: string;
  readonly colon: string;
}

/** Changes the escapes in a piece of JSON that JSON.stringify wrote. Escapes a character in one way wherever it occurs. */
type Escape = (json: string) => string;

type MemberOrder = (members: readonly JsonMember[]) => readonly JsonMember[];

const COMPACT: JsonLayout = { indent: '', comma: ',', colon: ':' };
const PYTHON: JsonLayout = { indent: '', comma: ', ', colon: ': ' };
const PRETTY: Omit<JsonLayout, 'indent'> = { comma: ',', colon: ': ' };

const plain: Escape = (json) => json;
/** Escapes of Python's json.dumps. */
const ascii: Escape = (json) => escapeCharacters(json, /[\u007f-\uffff]/g);
const asciiUpperCase: Escape = (json) => escapeCharacters(json, /[\u007f-\uffff]/g, 'upper');
/** Escapes of Go's encoding/json and Rails' to_json. */
const html: Escape = (json) => escapeCharacters(json, /[<>&\u2028\u2029]/g);
const gson: Escape = (json) => escapeCharacters(json, /[<>&='\u2028\u2029]/g);
/**
 * Escapes of System.Text.Json, including the quote. Leaves a plus sign as in `1e+30`, which is taken for part of a number.
 */
const dotnet: Escape = (json) =>
  escapeCharacters(
    json.replace(/\\[\\"]/g, (escape) => (escape === '\\"' ? '\\u0022' : escape)),
    /[<>&'`\u007f-\uffff]|\+(?!(?<=\d[eE]\+)\d)/g,
    'upper',
  );
const slashes: Escape = (json) => json.replaceAll('/', '\\/');
/** Escapes of PHP's json_encode without flags. */
const php: Escape = (json) => ascii(json).replaceAll('/', '\\/');

/** Characters that the functions of type Escape do not all write alike. */
const TELLING = ['"', '/', '<', '>', '&', '=', "'", '+', '`', '\u007f', '\u2028', '\u2029'];

/**
 * Returns the characters of a JSON text that the functions of escaping write differently. Two functions that write these
 * characters alike write the whole text alike.
 */
export function tellingCharacters(json: string): string[] {
  const found = TELLING.filter((character) => json.includes(JSON.stringify(character).slice(1, -1)));
  // The é stands for all other characters from U+0080 on, because each escape treats them alike.
  return /[\u0080-\uffff]/.test(json) ? [...found, '\u00e9'] : found;
}

const sorted: MemberOrder = (members) =>
  members.toSorted((left, right) => (left.key < right.key ? -1 : Number(left.key > right.key)));

const INDENTED: readonly (readonly [JsonLayout, string])[] = [
  [{ ...PRETTY, indent: '  ' }, 'indented by 2 spaces'],
  [{ ...PRETTY, indent: '    ' }, 'indented by 4 spaces'],
  [{ ...PRETTY, indent: '\t' }, 'indented by tabs'],
];

const UNICODE: readonly (readonly [Escape, string])[] = [
  [ascii, 'with non-ASCII characters as \\u escapes'],
  [asciiUpperCase, 'with non-ASCII characters as upper-case \\u escapes'],
  [html, 'with <, > and & as \\u escapes, as Go and Rails write them'],
  [gson, "with <, >, &, = and ' as \\u escapes, as Gson writes them"],
  [dotnet, 'with the escapes of System.Text.Json'],
];

export const COMPACT_SPELLING: Spelling = {
  code: 'pretty-printed',
  would: 'without the white space between its parts',
  layout: COMPACT,
  escape: plain,
};

export const SORTED_SPELLING: Spelling = {
  ...COMPACT_SPELLING,
  code: 'reordered-keys',
  would: 'with sorted keys',
  order: sorted,
};

export const PYTHON_SPELLINGS: readonly Spelling[] = [
  { code: 'python-json', would: 'as json.dumps of Python writes it', layout: PYTHON, escape: ascii },
  {
    code: 'python-json',
    would: 'as json.dumps of Python writes it with ensure_ascii=False',
    layout: PYTHON,
    escape: plain,
  },
];

/**
 * Spellings in the order in which they are tried. If two give the same text, the simpler one is first. Made only when a body is
 * diagnosed, because most signatures match.
 */
export const SPELLINGS: Iterable<Spelling> = {
  *[Symbol.iterator]() {
    yield COMPACT_SPELLING;
    yield* PYTHON_SPELLINGS;
    for (const [layout, words] of INDENTED) yield* indented(layout, words);
    for (const [layout, words] of INDENTED.slice(0, 2)) {
      const would = `${words} with CRLF, as Windows writes it`;
      yield { code: 'pretty-printed', would, layout: { ...layout, newline: '\r\n' }, escape: plain };
    }
    for (const [escape, would] of UNICODE) {
      yield { code: 'escaped-unicode', would, layout: COMPACT, escape };
    }
    yield { code: 'escaped-slash', would: 'with slashes as \\/', layout: COMPACT, escape: slashes };
    yield {
      code: 'escaped-slash',
      would: 'with slashes as \\/ and non-ASCII characters as \\u escapes',
      layout: COMPACT,
      escape: php,
    };
    yield* sortedKeys(COMPACT, 'with sorted keys');
    yield* sortedKeys(PYTHON, 'with sorted keys, a space after commas and colons,');
    yield {
      code: 'reordered-keys',
      would: 'with the keys in the order of the wire',
      layout: COMPACT,
      escape: plain,
      order: wireOrder,
    };
  },
};

function indented(layout: JsonLayout, words: string): Spelling[] {
  const code = 'pretty-printed';
  return [
    { code, would: words, layout, escape: plain },
    { code, would: `${words} and with non-ASCII characters as \\u escapes`, layout, escape: ascii },
    { code, would: `${words} and with slashes as \\/`, layout, escape: slashes },
    { code, would: `${words} and with the escapes of PHP`, layout, escape: php },
  ];
}

function sortedKeys(layout: JsonLayout, words: string): Spelling[] {
  const common = { code: 'reordered-keys', layout, order: sorted } as const;
  return [
    { ...common, would: words, escape: plain },
    { ...common, would: `${words} and non-ASCII characters as \\u escapes`, escape: ascii },
    { ...common, would: `${words} and <, > and & as \\u escapes, as Go writes them`, escape: html },
  ];
}

/**
 * Keys of messages in one order that agrees with the order of the fields in the request body of every message type (seven
 * sets of fields: contract, Messages on the wire).
 */
const WIRE_KEYS = [
  'version',
  'type',
  'Previous ID',
  'User ID',
  'groupId',
  'userId',
  'anonymousId',
  'event',
  'name',
  'properties',
  'traits',
  'timestamp',
];

/** Puts the keys of WIRE_KEYS first, in their order, if the object is a message. Other objects keep their order. */
function wireOrder(members: readonly JsonMember[]): readonly JsonMember[] {
  if (!members.some(({ key }) => key === 'type')) return members;
  const known = WIRE_KEYS.flatMap((key) => members.filter((member) => member.key === key));
  return [...known, ...members.filter(({ key }) => !WIRE_KEYS.includes(key))];
}

function escapeCharacters(literal: string, which: RegExp, letters: 'lower' | 'upper' = 'lower'): string {
  return literal.replace(which, (character) => {
    const code = character.charCodeAt(0).toString(16).padStart(4, '0');
    return `\\u${letters === 'upper' ? code.toUpperCase() : code}`;
  });
}
