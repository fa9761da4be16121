const BLANK = 0x20;

/**
 * Without the blanks and controls around it. Other spaces, such as U+00A0, are a part of an id: the readers of bytes do not
 * know them, and one id must not depend on which of the readers its line comes to.
 */
export function trimmedId(text: string): string {
  let [from, to] = [0, text.length];
  while (from < to && text.charCodeAt(from) <= BLANK) from++;
  while (to > from && text.charCodeAt(to - 1) <= BLANK) to--;
  return text.slice(from, to);
}
