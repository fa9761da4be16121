import { setTimeout as sleep } from 'node:timers/promises';

/**
 * @typedef {Readonly<Record<string, number>>} Measurement one number per quantity, all positive
 * @typedef {Readonly<Record<string, () => Promise<Measurement>>>} Variants what is compared, by name
 */

/**
 * Measures every variant once a round, in turn, so that other work of the machine affects all of them. The first
 * variant of a round changes from round to round. A round before the first warms up and does not count.
 *
 * @param {Variants} variants
 * @param {number} rounds
 * @returns {Promise<Record<string, Measurement[]>>} per variant, one measurement a round
 */
export async function interleave(variants, rounds) {
  const names = Object.keys(variants);
  /** @type {Record<string, Measurement[]>} */
  const measured = Object.fromEntries(names.map((name) => [name, []]));
  for (let round = -1; round < rounds; round++) {
    const first = Math.max(0, round) % names.length;
    for (const name of [...names.slice(first), ...names.slice(0, first)]) {
      const measurement = await variants[name]();
      if (round >= 0) measured[name].push(measurement);
      // Waits, so that work left by a variant (closing sockets, writing pages) does not affect the next one.
      await sleep(50);
    }
  }
  return measured;
}

/**
 * Returns one quantity of one variant.
 *
 * @param {readonly Measurement[]} measurements
 * @param {string} quantity
 */
export function values(measurements, quantity) {
  return measurements.map((measurement) => measurement[quantity]);
}

/**
 * Returns one quantity of a variant, divided by that of another variant in the same round.
 *
 * @param {readonly Measurement[]} ours
 * @param {readonly Measurement[]} theirs
 * @param {string} quantity
 */
export function ratios(ours, theirs, quantity) {
  return ours.map((measurement, round) => measurement[quantity] / theirs[round][quantity]);
}

/**
 * `min – median – max`.
 *
 * @param {readonly number[]} numbers
 * @param {(number: number) => string} shown
 */
export function spread(numbers, shown) {
  const sorted = numbers.toSorted((a, b) => a - b);
  const middle = sorted.length / 2;
  const median = (sorted[Math.ceil(middle) - 1] + sorted[Math.floor(middle)]) / 2;
  return [sorted[0], median, sorted.at(-1)].map(shown).join(' – ');
}
