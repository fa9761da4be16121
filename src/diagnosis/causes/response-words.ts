import { MASK } from '../../redact.ts';
import { HINT_RANK, jsonTexts, parsedStart, type JsonText } from './json-texts.ts';
import { isHtmlPage, pageBlocks, withoutEntities, type PageBlock } from './page-blocks.ts';

/** The receiver's own error message, taken from the body of its response. The texts are not escaped for a terminal. */
export interface ResponseWords {
  /** The error message or, if none is found, the likeliest other text. One line of at most MAX_QUOTATION characters. */
  readonly quotation: string;
  /** Whether the quotation says more than the status does. */
  readonly isTelling: boolean;
  /** The text of an HTML or XML body, without tags, styles and scripts. For other bodies, the whole body. */
  readonly text: string;
  /** The texts of a JSON body that may be its error message, one a line, unescaped. Empty for other bodies. */
  readonly unescaped: string;
}

/** Maximum length of a quotation, in characters. It is short, because each failed attempt stores a quotation. */
export const MAX_QUOTATION = 300;
/** Maximum characters to read from a paragraph. A text of several paragraphs is read up to eight times as far. */
const MAX_TEXT = 2_000;

export function responseWords(body: string): ResponseWords {
  const start = body.replace(/^\uFEFF/, '').trimStart();
  if (isHtmlPage(start) || /^<[a-z!?][^>]{0,200}>/i.test(start)) return pageWords(start);
  const value = /^[[{"]/.test(start) ? parsedStart(start) : undefined;
  if (value === undefined) return wordsOf(messageOf(withoutEntities(start)), withoutEntities(start));
  const texts = jsonTexts(value);
  const best = texts.find(({ text }) => isTelling(messageOf(text))) ?? texts[0];
  if (best === undefined) return wordsOf(oneLine(start), start);
  // A validation error can have a sentence for each invalid field, of which at most five are quoted.
  const quoted = texts.filter((other) => other === best || (best.isAboutField && isLike(other, best)));
  const quotation = quoted.slice(0, 5).map(({ text }) => messageOf(text));
  const hint = texts.find((each) => each !== best && each.rank === HINT_RANK);
  const message = quotation.join('; ') + (hint === undefined ? '' : ` (hint: ${messageOf(hint.text)})`);
  return wordsOf(message, start, texts.map(({ text }) => text).join('\n'));
}

function isLike(one: JsonText, other: JsonText): boolean {
  return one.isAboutField && one.rank === other.rank && !other.text.includes(one.text);
}

function pageWords(html: string): ResponseWords {
  const blocks = pageBlocks(html).map((block) => ({ ...block, words: messageOf(block.text) }));
  const text = blocks.map((block) => block.text).join('\n');
  const ranked = blocks.toSorted((one, other) => scoreOf(other) - scoreOf(one));
  const possible = ranked.filter((block) => scoreOf(block) > 0);
  const best = [isTelling, isSentence].map((is) => possible.find(({ words }) => is(words))).find(Boolean);
  if (best === undefined) return wordsOf(ranked[0]?.words ?? '', text);
  const isName = EXCEPTION_NAME.test(best.words);
  const later = blocks.slice(blocks.indexOf(best) + 1);
  const message = isName ? possible.find((each) => later.includes(each) && isTelling(each.words)) : best;
  const name = isName
    ? best
    : MESSAGE_CLASS.test(best.attributes)
      ? ranked.find(({ words }) => EXCEPTION_NAME.test(words) && !best.words.startsWith(words))
      : undefined;
  return wordsOf([name, message].flatMap((block) => block?.words ?? []).join(': '), text);
}

const EXCEPTION_NAME =
  /^(?:(?:[\w$]+(?:\.|::|\\))+[A-Z]\w*|[A-Z]\w*(?:Error|Exception|DoesNotExist))(?: (?:at|in) \S+)?$/;
export const EXCEPTION =
  /\b[A-Z]\w*(?:Error|Exception|DoesNotExist)\b[^:]{0,60}: \S|\b(?:Fatal|Parse) error: \S|^(?:Error|ERROR|panic): \S/;
const MESSAGE_CLASS = /exception[-_]?(?:value|message)|errormsg|error[-_]message|class=["']?message\b/i;
/** Points by tag: the text with the most points is probably the message. Tags that match UNREAD have 0, all others 1. */
const POINTS: Readonly<Record<string, number>> = { h1: 6, h2: 5, pre: 4.5, title: 4, p: 3 };
/** Matches tags whose text is not the message, unless an attribute matches MESSAGE_CLASS. */
const UNREAD = /^(?:center|address|footer|nav|button|label|th|option)$/;

function scoreOf({ tag, attributes, words }: PageBlock & { words: string }): number {
  const points = UNREAD.test(tag) ? 0 : (POINTS[tag] ?? 1);
  if (MESSAGE_CLASS.test(attributes)) return points + 8;
  if (points === 0 || !/[\s_:]/.test(words)) return EXCEPTION_NAME.test(words) ? points : 0;
  return points + (EXCEPTION.test(words) ? 4 : 0);
}

/** Matches lines of a stack trace that are not its message, in JavaScript, Java, C#, Python, PHP, Ruby and Go. */
const FRAME =
  /^\s*(?:at \S.*(?:\(|:\d)|File "|#\d+ |from \S+:\d|\S+\.rb:\d+:in \S+$|goroutine \d|\.\.\. \d+ more|Stack trace:|Call Stack|Traceback )/;

/** Finds the message in a text. A message comes before, in or after a stack trace, depending on the language. */
function messageOf(text: string): string {
  const lines = text.slice(0, MAX_TEXT * 8).split('\n');
  const trace = lines.findIndex((line) => line.includes('Traceback (most recent call last)'));
  if (trace !== -1) {
    const isEnd = (line: string, at: number): boolean =>
      /^\w/.test(line) && /^\s+\S/.test(lines[at - 1] ?? '');
    const last = lines.findLast((line, at) => at > trace && isEnd(line, at));
    if (last !== undefined) return oneLine(last);
  }
  const end = lines.findIndex((line) => FRAME.test(line));
  const cause = lines.findLast((line) => line.startsWith('Caused by: '));
  if (end !== -1 && cause !== undefined) return oneLine(cause.replace('Caused by: ', ''));
  const message = (end === -1 ? lines : lines.slice(0, end)).join('\n');
  const paragraphs = message.split(/\n\s*\n/, 20).map(oneLine);
  for (const isBest of [(words: string) => EXCEPTION.test(words), isTelling, isSentence, Boolean]) {
    const found = paragraphs.find(isBest);
    if (found !== undefined) return found;
  }
  return '';
}

function oneLine(text: string): string {
  return text.slice(0, MAX_TEXT).replace(/\s+/g, ' ').trim();
}

/** Matches words that say no more than a status does, and all characters other than letters. */
const STATUS_WORDS =
  /\b(?:https?|html|errors?|unauthori[sz]ed|forbidden|bad|request|unprocessable|entity|content|access|permission|denied|is|not|found|allowed|authori[sz]ed|invalid|rejected|refused|fail(?:ed|ure)?|nope?|false|true|null|you|are|do|have|to|this|the|a|an|or|on|in|resource|page|method|internal|server|gateway|time|timeout|out|service|temporarily|unavailable|validation|occurred|has|went|wrong|something|oops|sorry|conflict|gone|media|unsupported|type|too|many|requests|large|long|payload|status|code|exception|caught|unknown|acceptable|here|nothing|undefined|object|input|data|given|was|were|report|proxy)\b|[^\p{L}]/giu;

/** Matches boilerplate that servers send with every response of a given status. */
const STATUS_SENTENCE =
  /^(?:\(generated by|Please contact|More information about|ERROR: The requested|The following error was|(?:\w+ ){0,3}Error$|The (?:server (?:could not (?:verify that|comply)|encountered an)|requested (?:URL|resource) |method is not allowed for|browser \(or proxy\) sent))/;

function isTelling(words: string): boolean {
  return isSentence(words) && !STATUS_SENTENCE.test(words);
}

function isSentence(words: string): boolean {
  return words.replace(STATUS_WORDS, '').length > 2 || /\b\d{3}\.\d/.test(words);
}

function wordsOf(words: string, text: string, unescaped = ''): ResponseWords {
  // Drops words with control characters: they are binary, such as a compressed body.
  const shown = /\p{Cc}/u.test(words) ? '' : words.replace(CREDENTIAL, MASK);
  const quotation = shown.slice(0, MAX_QUOTATION).replace(/[\uD800-\uDBFF]$/, '');
  return { quotation, isTelling: isTelling(quotation), text, unescaped };
}

/** Matches credentials: passwords in URLs, values after names such as `password=`, tokens after a known prefix. */
const CREDENTIAL =
  /(?<=:\/\/[^\s/:@]*:)[^\s/@]+(?=@)|(?<=(?:password|passwd|pwd|secret|token|api_?key)=)[^\s"',;&]{4,}|(?<=\b(?:Bearer |[sr]k_live_|gh[a-z]_|github_pat_|xox[a-z]-|AKIA))[\w.~+/-]{8,}=*/gi;
