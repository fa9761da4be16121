/** Whether a body is a page for browsers. Frameworks send `ok` as text/html too, so that the type says nothing. */
export function isHtmlPage(body: string): boolean {
  return /^\s*(?:<\?xml[^>]{0,200}>\s*)?(?:<!--[^>]{0,200}>\s*)*<(?:!doctype html|html|head|body)\b/i.test(
    body,
  );
}

/** What a person would read of a body: of a page its title and text, without tags and styles; anything else as it is. */
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

/** Frameworks escape the quotes in the message of an exception that they show in a page. */
export function withoutEntities(text: string): string {
  return text.replace(/&(?:quot|apos|lt|gt|nbsp|amp|#0?\d\d|#x2[27]);/gi, (entity) => {
    return ENTITIES[entity.toLowerCase()] ?? entity;
  });
}
