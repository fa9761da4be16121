import type { JsonMember } from './json-text.ts';
import { tracesOf } from './spelling-traces.ts';
import type { NoteCode } from '../reasons.ts';

/** How a language or library writes JSON: its white space, its escapes and the order of its members. */
export interface Spelling extends Arrangement {
  readonly code: NoteCode;
  /** The body that would match, after "it would match": `as json.dumps of Python writes it`. */
  readonly would: string;
  readonly escape: Escape;
  /** The escapes that a program with this layout usually writes. */
  readonly usual: Escape;
  readonly parts: SpellingParts;
}

interface SpellingParts {
  readonly layout: Part<JsonLayout>;
  readonly escape: Part<Escape>;
  readonly order: Part<MemberOrder | undefined>;
  readonly number: Part<NumberText | undefined>;
}

/** The white space of a JSON text and the order of its members. */
export interface Arrangement {
  readonly layout: JsonLayout;
  /** Reorders the members of an object. @default the order of the text */
  readonly order?: MemberOrder | undefined;
  /** Writes a number, true, false or null again. @default as in the text */
  readonly number?: NumberText | undefined;
}

export interface JsonLayout {
  /** Indentation of each level of the JSON. Empty to write everything on one line. */
  readonly indent: string;
  readonly comma: string;
  readonly colon: string;
}

/** Changes the escapes in a piece of JSON that JSON.stringify wrote. Escapes a character in one way wherever it occurs. */
type Escape = (json: string) => string;

/** Reorders the members of an object. */
type MemberOrder = (members: readonly JsonMember[]) => readonly JsonMember[];

type NumberText = (text: string) => string;

/** One part of a spelling: its layout, escapes or order. `would` is empty for the usual layout, escapes or order. */
interface Part<Way> {
  readonly way: Way;
  readonly would: string;
  readonly cost: number;
  readonly code: NoteCode;
}

function part<Way>(code: NoteCode, cost: number, would: string, way: Way): Part<Way> {
  return { way, would, cost, code };
}

const PRETTY = { comma: ',', colon: ': ' };
const COMPACT = part<JsonLayout>('pretty-printed', 0, '', { indent: '', comma: ',', colon: ':' });
const COMPACT_WORDS = 'without the white space between its parts';

const PYTHON_LAYOUT = part<JsonLayout>('python-json', 1, 'as json.dumps of Python writes it', {
  indent: '',
  comma: ', ',
  colon: ': ',
});

const LAYOUTS: readonly Part<JsonLayout>[] = [
  COMPACT,
  PYTHON_LAYOUT,
  part('pretty-printed', 1, 'indented by 2 spaces', { ...PRETTY, indent: '  ' }),
  part('pretty-printed', 1, 'indented by 4 spaces', { ...PRETTY, indent: '    ' }),
  part('pretty-printed', 2, 'indented by tabs', { ...PRETTY, indent: '\t' }),
];

const plain: Escape = (json) => json;
/** Escapes of Python's json.dumps. */
const ascii: Escape = (json) => escapeCharacters(json, /[\u007f-\uffff]/g);
/** Escapes of Go's encoding/json and Rails' to_json. */
const html: Escape = (json) => escapeCharacters(json, /[<>&\u2028\u2029]/g);
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

const PLAIN = part<Escape>('pretty-printed', 0, '', plain);
const ASCII = part<Escape>('escaped-unicode', 1, 'with non-ASCII characters as \\u escapes', ascii);

const HTML = part('escaped-unicode', 1, 'with <, > and & as \\u escapes, as Go and Rails write them', html);

const ESCAPES: readonly Part<Escape>[] = [
  PLAIN,
  ASCII,
  part('escaped-slash', 1, 'with slashes as \\/', slashes),
  HTML,
  part('escaped-slash', 1, 'with slashes as \\/ and non-ASCII characters as \\u escapes', php),
  part('escaped-unicode', 2, 'with the escapes of System.Text.Json', dotnet),
];

/** Characters by which the functions of type Escape differ. */
const TELLING = ['"', '/', '<', '>', '&', "'", '+', '`', '\u007f', '\u2028', '\u2029'];

/**
 * Returns the characters of a JSON text that the functions of type Escape write differently. Two functions that write these
 * characters alike write the whole text alike.
 */
export function tellingCharacters(json: string): string[] {
  const found = TELLING.filter((character) => json.includes(JSON.stringify(character).slice(1, -1)));
  // The é stands for all other characters from U+0080 on, because each escape treats them alike.
  return /[\u0080-\uffff]/.test(json) ? [...found, '\u00e9'] : found;
}

const KEPT = part<MemberOrder | undefined>('pretty-printed', 0, '', undefined);
const SORTED = part<MemberOrder | undefined>('reordered-keys', 1, 'with sorted keys', (members) =>
  members.toSorted((left, right) => (left.key < right.key ? -1 : Number(left.key > right.key))),
);

const isNumber = /^-?\d/;
const isFloat = /[.eE]/;
const SAME_NUMBERS = part<NumberText | undefined>('pretty-printed', 0, '', undefined);
const NUMBERS: readonly Part<NumberText | undefined>[] = [
  SAME_NUMBERS,
  part('other-encoding', 1, 'with its numbers as JavaScript, Go and PHP write them', (text) =>
    isNumber.test(text) ? String(Number(text)) : text,
  ),
  part('other-encoding', 1, 'with its numbers as Python and Ruby write them', (text) =>
    isNumber.test(text) && isFloat.test(text) ? String(Number(text)).replace(/^-?\d+$/, '$&.0') : text,
  ),
];

/** Composes a spelling. The code is that of the first unusual part: the order, else the layout, else the escapes. */
function spelling(
  layout: Part<JsonLayout>,
  escape: Part<Escape>,
  order: Part<MemberOrder | undefined>,
  number = SAME_NUMBERS,
): Spelling {
  const parts = [order, layout, pythonEscape(layout, escape), number];
  const words = parts.map(({ would }) => would).filter(Boolean);
  return {
    code: parts.find(({ would }) => would !== '')?.code ?? 'pretty-printed',
    would: words.join(' and ') || COMPACT_WORDS,
    layout: layout.way,
    escape: escape.way,
    usual: layout === PYTHON_LAYOUT ? ascii : plain,
    order: order.way,
    number: number.way,
    parts: { layout, escape, order, number },
  };
}

/** Names only those parts of a spelling in which two texts of the same JSON differ. Undefined if there is none. */
export function spellingDifference(
  given: string,
  written: string,
  { layout, escape, order, number }: SpellingParts,
): Pick<Spelling, 'code' | 'would'> | undefined {
  const own = tracesOf(given);
  const other = tracesOf(written);
  const isNewLayout = own.layout !== other.layout;
  const isNewEscape = own.escapes !== other.escapes;
  const named = isNewLayout ? pythonEscape(layout, escape) : escape;
  const parts = [
    ...(own.order === other.order ? [] : [order]),
    ...(isNewLayout ? [layout === COMPACT ? { ...COMPACT, would: COMPACT_WORDS } : layout] : []),
    ...(isNewEscape ? [named === PLAIN && escape === PLAIN ? UNESCAPED : named] : []),
    ...(own.numbers === other.numbers ? [] : [number]),
    ...(own.end === other.end ? [] : [WITHOUT_NEWLINE]),
  ].filter(({ would }) => would !== '');
  const [first] = parts;
  return first && { code: first.code, would: parts.map(({ would }) => would).join(' and ') };
}

const UNESCAPED: Pick<Spelling, 'code' | 'would'> = {
  code: 'escaped-unicode',
  would: 'with its characters as they are, without escapes',
};
const WITHOUT_NEWLINE: Pick<Spelling, 'code' | 'would'> = {
  code: 'trailing-newline',
  would: 'without the trailing newline',
};

/** How rare a spelling is: the sum of the costs of its parts, at least 1. */
function costOf({ layout, escape, order, number }: SpellingParts): number {
  const isGo = order === SORTED && escape === HTML; // which writes a map so
  const escapeCost = isGo ? 0 : pythonEscape(layout, escape).cost;
  return Math.max(1, layout.cost + escapeCost + order.cost + number.cost);
}

/** Returns the escapes to name with a layout. Python escapes by default, so the name of its layout implies them. */
function pythonEscape(layout: Part<JsonLayout>, escape: Part<Escape>): Part<Escape> {
  if (layout !== PYTHON_LAYOUT) return escape;
  if (escape === ASCII) return PLAIN;
  return escape === PLAIN ? part('python-json', 0, 'with ensure_ascii=False', plain) : escape;
}

export const COMPACT_SPELLING = spelling(COMPACT, PLAIN, KEPT);
export const SORTED_SPELLING = spelling(COMPACT, PLAIN, SORTED);

export const PYTHON_SPELLINGS: readonly Spelling[] = [ASCII, PLAIN].map((escape) =>
  spelling(PYTHON_LAYOUT, escape, KEPT),
);

/** Composes the combinations of a layout, escapes, an order and numbers that have this cost. */
export function jsonSpellingsOfCost(cost: number): readonly Spelling[] {
  return NUMBERS.flatMap((number) =>
    LAYOUTS.flatMap((layout) =>
      [KEPT, SORTED].flatMap((order) =>
        ESCAPES.filter((escape) => costOf({ layout, escape, order, number }) === cost).map((escape) =>
          spelling(layout, escape, order, number),
        ),
      ),
    ),
  );
}

function escapeCharacters(literal: string, which: RegExp, letters: 'lower' | 'upper' = 'lower'): string {
  return literal.replace(which, (character) => {
    const code = character.charCodeAt(0).toString(16).padStart(4, '0');
    return `\\u${letters === 'upper' ? code.toUpperCase() : code}`;
  });
}
