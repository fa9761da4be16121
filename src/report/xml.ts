const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  // XML parsers would change these characters in attributes to spaces.
  '\n': '&#10;',
  '\r': '&#13;',
  '\t': '&#9;',
};

// Characters that XML 1.0, 2.2 forbids even as references, including lone surrogates. Also C1, line separators and
// bidirectional controls, which XML allows but are invisible.
// eslint-disable-next-line no-control-regex -- the pattern must match control characters
const UNWRITABLE = /[\u0000-\u0008\v\f\u000e-\u001f\u007f-\u009f\ufffe\uffff\p{Cs}\p{Zl}\p{Zp}\p{Bidi_C}]/gu;

/** Escapes text for an attribute or an element. Characters that XML cannot represent become escapes such as `\u0007`. */
export function escapeXml(text: string): string {
  return text
    .replace(UNWRITABLE, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .replace(/[&<>"\n\r\t]/g, (character) => ENTITIES[character] ?? character);
}

/** Formats attributes as ` name="value"`. Skips undefined values. */
export function attributes(values: Readonly<Record<string, string | number | undefined>>): string {
  return Object.entries(values)
    .map(([name, value]) => (value === undefined ? '' : ` ${name}="${escapeXml(String(value))}"`))
    .join('');
}
