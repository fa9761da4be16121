/** Paints a text for a terminal; returns it as it is where no colors are wanted. */
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

/** chalk, loaded only where there are colors to paint. It does not look at NO_COLOR, so the level is set here. */
export async function loadPalette(): Promise<Palette> {
  const { Chalk } = await import('chalk');
  return new Chalk({ level: 1 });
}
