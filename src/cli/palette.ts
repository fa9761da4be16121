/** Paints a text for a terminal; returns it as it is where no colours are wanted. */
export type Paint = (text: string) => string;
export type Palette = Readonly<Record<keyof typeof CODES, Paint>>;

/** The numbers of SGR (ECMA-48) that turn each on and off. */
const CODES = {
  bold: [1, 22],
  dim: [2, 22],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
} as const;

export function paletteOf(hasColors: boolean): Palette {
  const paint =
    (name: keyof typeof CODES): Paint =>
    (text) =>
      hasColors ? painted(text, CODES[name]) : text;
  return {
    bold: paint('bold'),
    dim: paint('dim'),
    red: paint('red'),
    green: paint('green'),
    yellow: paint('yellow'),
  };
}

/** Goes on after a colour within the text, and ends with each line, so that a line can be shown alone. */
function painted(text: string, [on, off]: readonly [on: number, off: number]): string {
  if (text === '') return text;
  const [start, end] = [`\u001b[${on}m`, `\u001b[${off}m`];
  return start + text.replaceAll(end, start).replaceAll('\n', `${end}\n${start}`) + end;
}
