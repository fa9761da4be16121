/** Whether a body is a page for browsers. Looks at the text, because frameworks send `ok` as text/html too. */
export function isHtmlPage(body: string): boolean {
  return /^\s*(?:<\?xml[^>]{0,200}>\s*)?(?:<!--[^>]{0,200}>\s*)*<(?:!doctype html|html|head|body)\b/i.test(
    body,
  );
}

/**
 * The text of a body that a person would read: the title and text of a page, without tags and styles. Returns
 * other bodies unchanged.
 */
export function readableBody(body: string): string {
  if (!isHtmlPage(body)) return body;
  const text = body
    .replace(/<(style|script|svg)\b[^>]*>[\s\S]*?(?:<\/\1\s*>|$)/gi, ' ')
    .replace(/<!--[\s\S]*?(?:-->|$)/g, ' ')
    .replace(/<[^>]*(?:>|$)/g, ' ')
    .replace(/&(?:nbsp|#160);/g, ' ')
    .replace(/\s+/g, ' ')
    .trim();
  return text === '' ? 'an HTML page' : `an HTML page: ${withoutEntities(text)}`;
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&quot;': '"',
  '&#34;': '"',
  '&#x22;': '"',
  '&#39;': "'",
  '&#x27;': "'",
  '&#039;': "'",
  '&apos;': "'",
  '&lt;': '<',
  '&gt;': '>',
  '&nbsp;': ' ',
  '&amp;': '&',
};

/** Decodes HTML entities: frameworks escape the quotes in the exception messages that they show in a page. */
export function withoutEntities(text: string): string {
  return text.replace(/&(?:quot|apos|lt|gt|nbsp|amp|#0?\d\d|#x2[27]);/gi, (entity) => {
    return ENTITIES[entity.toLowerCase()] ?? entity;
  });
}

/** Maximum characters of the words to quote from a response: a sentence, not a page. */
const MAX_LENGTH = 160;

/**
 * The reason that a response gives in its own words, on one line; undefined if the words only repeat the status. The text
 * is not escaped.
 */
export function responseWords(body: string): string | undefined {
  const readable = readableBody(body).replace(/^an HTML page: /, '');
  const candidates = /^\s*[[{]/.test(readable) ? errorFields(readable) : [firstLine(readable)];
  const words = candidates.map((text) => text.replace(/\s+/g, ' ').trim()).find(saysSomething);
  return words === undefined || words.length > MAX_LENGTH ? undefined : words;
}

/** JSON fields that hold a reason, the most specific first. */
const REASON_FIELDS = [
  'error_description',
  'message',
  'errorMessage',
  'detail',
  'reason',
  'msg',
  'title',
  'error',
  'errors',
];

/** The texts of the REASON_FIELDS in a JSON text. Searches by pattern, because the JSON may be cut off. */
function errorFields(json: string): string[] {
  return REASON_FIELDS.flatMap((field) => {
    const found = new RegExp(String.raw`"${field}"\s*:\s*\[?\s*"((?:[^"\\]|\\.)+)"`, 'i').exec(json)?.[1];
    return found === undefined
      ? []
      : [found.replace(/\\u[\da-f]{4}|\\[bfnrt]/gi, ' ').replace(/\\(.)/g, '$1')];
  });
}

function firstLine(text: string): string {
  return text.trim().split('\n', 1)[0] ?? '';
}

/** Matches words that only repeat the status (`Bad Request`), and all characters other than letters. */
const STATUS_WORDS =
  /\b(?:http|errors?|unauthori[sz]ed|forbidden|bad|request|unprocessable|entity|content|access|permission|denied|is|not|allowed|authori[sz]ed|invalid|rejected|refused|fail(?:ed|ure)?|nope?|false|true|null|you|are|do|have|to|this|the|resource|page)\b|[^\p{L}]/giu;

function saysSomething(words: string): boolean {
  return words.replace(STATUS_WORDS, '').length > 2;
}

/** Matches the name of an exception, the place where it was raised if the page names it, and its message. */
const EXCEPTION =
  /\b(([A-Z][\w.$\\]*(?:::[A-Z]\w*)*(?:Error|Exception|DoesNotExist))(?: \[[A-Z_]+\])?(?: (?:at|in) [^\s:]+)?)(?:\s+\1)*:?[ \t]*([^\n]*)/;
/** Text that follows the message in the error pages of frameworks, on the same line once the tags are removed. */
const BEHIND_MESSAGE =
  /\s+(?:at (?:\S+ \(|\/|async )|\/\/ |Request (?:Method|information)|Extracted source|Rails\.root|Traceback|File ").*$/;

const PHP_ERROR = /\b(?:Fatal|Parse) error(?:<\/b>)?:\s+(?:Uncaught )?([^\n]+)/;

/**
 * Name and message of the exception in the page, trace or JSON of a framework; undefined if there is none. The text is
 * not escaped.
 */
export function exceptionLine(body: string): string | undefined {
  const readable = readableBody(body);
  const found = EXCEPTION.exec(readable);
  if (found === null) return PHP_ERROR.exec(readable)?.[1]?.trim().slice(0, MAX_LENGTH);
  const [, place = '', , text = ''] = found;
  const message = text
    .replace(BEHIND_MESSAGE, '')
    .replace(/["}\s]+$/, '')
    .trim();
  return (message === '' ? place : `${place}: ${message}`).slice(0, MAX_LENGTH);
}
