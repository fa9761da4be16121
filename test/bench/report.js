import { ratios, spread, values } from './rounds.js';

/**
 * @typedef {Readonly<Record<string, { readonly name: string, readonly shown: (number: number) => string }>>} Quantities
 */

/**
 * Prints each quantity of each variant, then the first variant divided by each of the others.
 *
 * @param {Readonly<Record<string, import('./rounds.js').Measurement[]>>} results the first is ours
 * @param {{ quantities: Quantities, print: (line: string) => void, compared?: readonly string[] }} options `compared`:
 *   the quantities to divide. Default: all
 */
export function report(results, { quantities, print, compared = Object.keys(quantities) }) {
  for (const [quantity, { name, shown }] of Object.entries(quantities)) {
    for (const [variant, measurements] of Object.entries(results)) {
      print(`${name}, ${variant}:`.padEnd(46) + spread(values(measurements, quantity), shown));
    }
  }
  const [[ours, measured], ...others] = Object.entries(results);
  for (const [variant, measurements] of others) {
    for (const quantity of compared) {
      const ratio = spread(ratios(measured, measurements, quantity), (number) => `${number.toFixed(2)}×`);
      print(`${ours} ÷ ${variant}, ${quantities[quantity].name}: ${ratio}`);
    }
  }
}
