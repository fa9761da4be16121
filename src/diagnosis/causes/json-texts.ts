/** Parses JSON that may be cut off: closes what is open after the last complete value. Undefined if it is not JSON. */
export function parsedStart(text: string): unknown {
  for (const json of [text, closedJson(text)]) {
    try {
      return JSON.parse(json);
    } catch {}
  }
  return undefined;
}

// Matches at every position, so the time is linear. The last string may lack its closing quote.
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
  const kept = text.slice(0, end);
  return (
    (ending === '' ? kept : kept.replace(/\\(?:u[\da-f]{0,3})?$/i, '')) + ending + open.toReversed().join('')
  );
}

/** A text of a JSON response that may be its message. */
export interface JsonText {
  readonly text: string;
  /** Position of its field in FIELDS. */
  readonly rank: number;
  readonly isAboutField: boolean;
}

/** Fields that hold a message, the most specific first. Case and punctuation do not count. */
const FIELDS =
  'errordescription errormessage exceptionmessage message detail details reason msg description errors issues title error exception fault status'.split(
    ' ',
  );
/** Fields that name the part of a request that a message is about. */
const PLACES = [
  'loc',
  'path',
  'field',
  'param',
  'pointer',
  'instancePath',
  'property',
  'attribute',
  'source',
];
const MAX_DEPTH = 12;

/** Returns the texts that may be the message of a JSON response, the most specific first. */
export function jsonTexts(value: unknown): readonly JsonText[] {
  const found: (JsonText & { depth: number })[] = [];
  const visit = (node: unknown, key: string, about: string, depth: number): void => {
    if (depth > MAX_DEPTH) return;
    if (typeof node === 'string' && /^\s*[[{]/.test(node)) visit(parsedStart(node), key, about, depth + 1);
    else if (typeof node === 'string') {
      const rank = FIELDS.indexOf(key.toLowerCase().replace(/[^a-z]/g, ''));
      const text = about === '' || node.includes(about) ? node : `${about}: ${node}`;
      if (rank !== -1) found.push({ text, rank, depth, isAboutField: about !== '' });
    } else if (Array.isArray(node)) {
      for (const item of node) visit(item, key, about, depth + 1);
    } else if (typeof node === 'object' && node !== null) {
      const fields = Object.entries(node);
      const place = placeOf(node) || about;
      for (const [name, child] of fields) {
        if (isListOfSentences(child) && !FIELDS.includes(name)) visit(child, 'errors', name, depth + 1);
        else visit(child, name, place, depth + 1);
      }
    }
  };
  visit(value, 'message', '', 0);
  return found.toSorted((one, other) => one.rank - other.rank || one.depth - other.depth);
}

function placeOf(node: object): string {
  const name = exceptionName(node);
  if (name !== undefined) return name;
  const found = PLACES.map((place) => (node as Record<string, unknown>)[place]).find((place) => place);
  if (Array.isArray(found)) return found.filter((part) => typeof part !== 'object').join('.');
  return typeof found === 'string' && /^[\w.$/[\]#-]{1,80}$/.test(found) ? found : '';
}

/** Class of the exception that an object describes, if the object names it. */
function exceptionName(node: object): string | undefined {
  const { exception, errorType, name, type } = node as Record<string, unknown>;
  return [exception, errorType, name, type].find(
    (text): text is string => typeof text === 'string' && /^[\w.$\\:]{1,80}(?:Error|Exception)$/.test(text),
  );
}

/** Whether a value is a list of sentences, such as the errors of one field: `{"email": ["This field is required."]}`. */
function isListOfSentences(value: unknown): boolean {
  return (
    Array.isArray(value) &&
    value.length > 0 &&
    value.every(
      (item) => typeof item === 'string' && /^[^\s<]+ \S/.test(item) && !/^\s*(?:at|#\d)/.test(item),
    )
  );
}
