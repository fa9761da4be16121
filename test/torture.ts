const kills = process.env['HOOKS_TORTURE_KILLS'];

/** Whether the long form of tests runs: `npm run test:torture`. */
export const IS_LONG = kills !== undefined;

/** Number of kills in each torture test. */
export const KILLS = Number(kills ?? 8);

/** The seed of random choices. The seed of a failed run repeats its choices, but not its timing. */
export const SEED = Number(process.env['HOOKS_TORTURE_SEED'] ?? Math.floor(Math.random() * 1e9));
