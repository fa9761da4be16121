import { withoutEntities } from './page-blocks.ts';

/**
 * Parses the JSON at the start of a text. If the JSON is cut off, drops a key, integer or word (`tru`) at its end,
 * which may be incomplete, and closes open strings, arrays and objects. Undefined if the text does not start with JSON.
 */
export function parsedStart(text: string): unknown {
  for (const json of [text, closedJson(text)]) {
    try {
      return JSON.parse(json);
    } catch {}
  }
  return undefined;
}

// Every character but white space is part of a match, so the time is linear. The last string may lack its end quote.
const TOKEN = /"(?:[^"\\]+|\\[\s\S])*(?:"|\\?$)|[[\]{}:,]|[^\s"[\]{}:,]+/g;

function closedJson(text: string): string {
  const open: string[] = [];
  let [end, previous, ending] = [0, '', ''];
  for (const { 0: token, index } of text.matchAll(TOKEN)) {
    const isKey = open.at(-1) === '}' && (previous === '{' || previous === ',');
    if (token === '{' || token === '[') open.push(token === '{' ? '}' : ']');
    if (token === '}' || token === ']') open.pop();
    previous = token;
    if (isKey || token === ':' || token === ',' || /^(?:-?\d*\.?|[a-z]*)$/.test(token)) continue;
    end = index + token.length;
    const isCut = token.startsWith('"') && !/[^\\](?:\\\\)*"$/.test(token);
    ending = isCut && token !== '""' ? '"' : '';
    if (open.length === 0) break;
  }
  const kept = ending === '' ? text.slice(0, end) : text.slice(0, end).replace(/\\(?:u[\da-f]{0,3})?$/i, '');
  return kept + ending + open.toReversed().join('');
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

function placeOf(node: object): string {
  const name = exceptionName(node);
  if (name !== undefined) return name;
  // Errors with one of these keys, such as Spring's, have the path of the URL in `path`, not a field of the request.
  const isUrl = 'status' in node || 'timestamp' in node;
  const fields = node as Record<string, unknown>; // the members of parsed JSON may be anything
  const [found] = PLACES.map((place) => fields[place]).filter(Boolean);
  if (Array.isArray(found)) return found.filter((part) => typeof part !== 'object').join('.');
  return !isUrl && typeof found === 'string' && /^[\w.$/[\]#-]{1,80}$/.test(found) ? found : '';
}

/** The class of the exception that an object describes, such as `ValueError`. Undefined if it has no such name. */
function exceptionName(node: object): string | undefined {
  const { exception, errorType, name, type } = node as Record<string, unknown>; // the members of parsed JSON may be anything
  return [exception, errorType, name, type].find(
    (text): text is string => typeof text === 'string' && /^[\w.$\\:]{1,80}(?:Error|Exception)$/.test(text),
  );
}
