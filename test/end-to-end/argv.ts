/** Marks the place of an inserted value. A private-use character, so that no command line contains it. */
const MARK = '\uE000';

/**
 * Splits a command line at its white space, as a shell does. An inserted text is never split, and an inserted list
 * adds its words: argv`send --json ${message} ${flags}`.
 */
export function argv(
  texts: TemplateStringsArray,
  ...values: readonly (string | number | readonly string[])[]
): string[] {
  const marked = texts.map((text, index) => (index === 0 ? text : `${MARK}${index - 1}${MARK}${text}`));
  const words = marked.join('').trim().split(/\s+/);
  return words.flatMap((word) => {
    const [, index] = /^\uE000(\d+)\uE000$/.exec(word) ?? [];
    if (index !== undefined) return asWords(values[Number(index)]);
    return word.replaceAll(/\uE000(\d+)\uE000/g, (_mark, place) => String(values[Number(place)]));
  });
}

function asWords(value: string | number | readonly string[] = ''): readonly string[] {
  return typeof value === 'object' ? value : [String(value)];
}
