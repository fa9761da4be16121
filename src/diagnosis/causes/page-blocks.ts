/** A text of an HTML page, with its element: a block element, or an inline one whose class or id suggests a message. */
export interface PageBlock {
  /** Lower-case name of the element. Empty for text after the end of a block, or before the first one. */
  readonly tag: string;
  readonly attributes: string;
  readonly text: string;
}

/** Whether a body begins like an HTML page. Content-Type is no evidence: frameworks send even `ok` as text/html. */
export function isHtmlPage(body: string): boolean {
  return /^\s*(?:<\?xml[^>]{0,200}>\s*)?(?:<!--[^>]{0,200}>\s*)*<(?:!doctype html|html|head|body)\b/i.test(
    body,
  );
}

// UNREAD and TOKEN either fail within a few characters or consume what they read, so the time is linear.
const UNREAD = /<(style|script|svg|noscript|template|iframe)\b[\s\S]*?(?:<\/\1\b[^>]*(?:>|$)|$)/gi;
const TOKEN = /<!--[\s\S]*?(?:-->|$)|<[!?][^>]*(?:>|$)|<(\/?)([a-z][\w-]*)([^>]*)(?:>|$)|[^<]+|</gi;
/** Inline elements: their text belongs to the block around them. */
const INLINE = /^(?:a|abbr|b|code|em|i|kbd|small|span|strong|tt|u|var|wbr|font|q|samp|sub|sup|mark)$/;
const MARKED = /(?:class|id)=["']?[^"'>]*(?:message|errormsg|exception|description)/i;

/** Splits a page into the texts of its blocks. Drops comments, and elements that show no text, such as scripts. */
export function pageBlocks(html: string): PageBlock[] {
  const blocks: PageBlock[] = [];
  let [tag, attributes, text] = ['', '', ''];
  const flush = (): void => {
    const decoded = withoutEntities(text).trim();
    if (decoded !== '') blocks.push({ tag, attributes, text: decoded });
    [tag, attributes, text] = ['', '', ''];
  };
  for (const [whole, slash, name, rest = ''] of html.replace(UNREAD, ' ').matchAll(TOKEN)) {
    const element = name?.toLowerCase();
    if (element === undefined) text += /^<[!?]/.test(whole) ? ' ' : whole;
    else if (element === 'br') text += '\n';
    else if (!INLINE.test(element) || MARKED.test(rest)) {
      flush();
      if (slash === '') [tag, attributes] = [element, rest];
    }
  }
  flush();
  return blocks;
}

const ENTITIES: Readonly<Record<string, string>> = {
  quot: '"',
  apos: "'",
  lt: '<',
  gt: '>',
  nbsp: ' ',
  amp: '&',
};

export function withoutEntities(text: string): string {
  return text.replace(/&(?:#(\d{1,7})|#x([\da-f]{1,6})|([a-z]{2,6}));/gi, (entity, decimal, hex, name) => {
    if (name !== undefined) return ENTITIES[String(name).toLowerCase()] ?? entity;
    const code = decimal === undefined ? parseInt(hex, 16) : Number(decimal);
    if (code === 0xa0) return ' ';
    return code <= 0x10ffff ? String.fromCodePoint(code) : entity;
  });
}
