const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  // In an attribute a reader would make blanks of these.
  '\n': '&#10;',
  '\r': '&#13;',
  '\t': '&#9;',
};

// Characters that XML 1.0, 2.2 forbids in any spelling (lone surrogates too); C1, line separators and
// bidirectional controls, which it allows and a reader does not see.
// eslint-disable-next-line no-control-regex -- control characters are what this pattern is for
const UNWRITABLE = /[\u0000-\u0008\v\f\u000e-\u001f\u007f-\u009f\ufffe\uffff\p{Cs}\p{Zl}\p{Zp}\p{Bidi_C}]/gu;

/** Any text, fit for an attribute or between tags. What XML cannot hold is shown as `\u0007`. */
export function escapeXml(text: string): string {
  return text
    .replace(UNWRITABLE, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .replace(/[&<>"\n\r\t]/g, (character) => ENTITIES[character] ?? character);
}

/** ` name="value"` for each that is there. */
export function attributes(values: Readonly<Record<string, string | number | undefined>>): string {
  return Object.entries(values)
    .map(([name, value]) => (value === undefined ? '' : ` ${name}="${escapeXml(String(value))}"`))
    .join('');
}
