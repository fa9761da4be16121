import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

const EVENTS = ['instructions', 'cycles'];
const STAT = ['stat', '-x', ',', '-e', EVENTS.map((event) => `${event}:u`).join()];

/** Why the counters of the processor cannot be read. Undefined if `perf stat` (Debian: linux-perf) reads them. */
export const NO_COUNTERS = whyNoCounters();

/** @type {import('./report.js').Quantities} counted per message; empty if the counters cannot be read */
export const COUNTED =
  NO_COUNTERS === undefined
    ? Object.fromEntries(
        EVENTS.map((event) => [event, { name: `${event} a message`, shown: (count) => count.toFixed(0) }]),
      )
    : {};

/**
 * Returns the command line that counts another command, including its start, into a file.
 *
 * @param {readonly string[]} command
 * @param {string} file
 */
export function counting(command, file) {
  return ['perf', ...STAT, '-o', file, '--', ...command];
}

/**
 * Returns the counts per message.
 *
 * @param {string} text what perf wrote
 * @param {number} messages
 * @returns {Record<string, number>} by event; NaN if it was not counted
 */
export function countsIn(text, messages) {
  return Object.fromEntries(
    EVENTS.map((event) => {
      const [, count] = new RegExp(`^(\\d+),[^,]*,${event}:u`, 'm').exec(text) ?? [];
      return [event, Number(count) / messages];
    }),
  );
}

/**
 * Reads the counts per message. Empty if the counters cannot be read.
 *
 * @param {string} file
 * @param {number} messages
 */
export function readCounts(file, messages) {
  return NO_COUNTERS === undefined ? countsIn(readFileSync(file, 'utf8'), messages) : {};
}

function whyNoCounters() {
  const { error, stderr } = spawnSync('perf', [...STAT, '--', 'true'], { encoding: 'utf8' });
  if (error !== undefined) return 'perf is not installed (Debian: apt-get install linux-perf)';
  const isCounted = Object.values(countsIn(stderr, 1)).every(Number.isFinite);
  return isCounted ? undefined : 'this processor, or its virtual machine, does not let perf count';
}
