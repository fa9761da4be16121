import { withoutEntities } from './page-blocks.ts';

/**
 * Parses JSON. If it is cut off, or if other text follows, returns only the strings that it has as values, by key. Of
 * several with one key, keeps the first. Undefined if there is none.
 */
export function parsedStart(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    const pairs = [...text.matchAll(/"([^"\\]{1,80})"\s*:\s*"((?:[^"\\]+|\\[\s\S])*)/g)].toReversed();
    const values = pairs.map(
      ([, key = '', value = '']) => [key, parsedStart(`"${value}"`) ?? value] as const,
    );
    return values.length === 0 ? undefined : Object.fromEntries(values);
  }
}

/** A text that may be the error message of a JSON response. `rank` is the position of its key in FIELDS. */
export interface JsonText {
  readonly text: string;
  readonly rank: number;
  readonly isAboutField: boolean;
}

/** Keys of error messages, the most specific first. Case and punctuation are ignored: `Error_Message` counts, too. */
const FIELDS =
  'errordescription errormessage message detail details reason msg description errors issues title error exception hint';
const RANKS = FIELDS.split(' ');
export const HINT_RANK = RANKS.indexOf('hint');
/** Keys whose value tells which part of the request an error message is about. */
const PLACES = 'loc path field param pointer instancePath propertyPath property attribute'.split(' ');
const MAX_DEPTH = 12;

/** Returns the texts of a JSON response that may be its error message, in the order of FIELDS, the outermost first. */
export function jsonTexts(value: unknown): readonly JsonText[] {
  const found: (JsonText & { depth: number })[] = [];
  const visit = (node: unknown, key: string, about: string, depth: number): void => {
    if (depth > MAX_DEPTH) return;
    const inner = typeof node === 'string' && /^\s*[[{]/.test(node) ? parsedStart(node) : undefined;
    if (typeof inner === 'object') visit(inner, key, about, depth + 1);
    else if (typeof node === 'string') {
      const rank = rankOf(key);
      const text = withoutEntities(about === '' || node.includes(about) ? node : `${about}: ${node}`);
      if (rank !== -1) found.push({ text, rank, depth, isAboutField: about !== '' });
    } else if (Array.isArray(node)) {
      const isFieldName = rankOf(key) === -1 && !/trace|stack/i.test(key);
      for (const item of node) {
        // Recognizes the errors of one field of the request: `{"email": ["This field is required."]}`
        const isError = isFieldName && typeof item === 'string' && item.includes(' ');
        visit(item, isError ? 'errors' : key, isError ? key : about, depth + 1);
      }
    } else if (typeof node === 'object' && node !== null) {
      const place = placeOf(node) || about;
      for (const [name, child] of Object.entries(node)) visit(child, name, place, depth + 1);
    }
  };
  visit(value, 'message', '', 0);
  return found.toSorted((one, other) => one.rank - other.rank || one.depth - other.depth);
}

function rankOf(key: string): number {
  return RANKS.indexOf(key.toLowerCase().replace(/[^a-z]/g, ''));
}

/** Returns the subject of the messages in this object: an exception class, or a part of the request. Empty if unknown. */
function placeOf(node: object): string {
  const fields = node as Record<string, unknown>; // the members of parsed JSON may be anything
  const name = ['exception', 'errorType', 'name', 'type']
    .map((key) => fields[key])
    .find((text) => typeof text === 'string' && /^[\w.$\\:]+(?:Error|Exception)$/.test(text));
  // In an object with one of these keys, such as an error of Spring, `path` is the path of the URL.
  const isOfUrl = 'status' in node || 'timestamp' in node;
  const place = name ?? PLACES.map((key) => (isOfUrl && key === 'path' ? '' : fields[key])).find(Boolean);
  if (Array.isArray(place)) return place.filter((part) => typeof part !== 'object').join('.');
  return typeof place === 'string' && /^[\w.$\\:/[\]#-]{1,80}$/.test(place) ? place : '';
}
