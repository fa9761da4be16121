/** Colors a text for a terminal, or returns it unchanged if colors are off. */
export type Paint = (text: string) => string;
export type Palette = Readonly<Record<'bold' | 'dim' | 'red' | 'green' | 'yellow', Paint>>;

const unpainted: Paint = (text) => text;
export const PLAIN_PALETTE: Palette = {
  bold: unpainted,
  dim: unpainted,
  red: unpainted,
  green: unpainted,
  yellow: unpainted,
};

export interface Palettes {
  /** Colors for stdout; a palette that changes nothing if colors are off. */
  readonly color: Palette;
  /** Colors for stderr. */
  readonly errColor: Palette;
}

export const PLAIN_PALETTES: Palettes = { color: PLAIN_PALETTE, errColor: PLAIN_PALETTE };

/** Loads chalk, which only colored output needs. Sets its level, because chalk ignores NO_COLOR. */
export async function loadPalette(): Promise<Palette> {
  const { Chalk } = await import('chalk');
  return new Chalk({ level: 1 });
}
