const kills = process.env['HOOKS_TORTURE_KILLS'];

/** Whether time does not matter: `npm run test:torture`. */
export const IS_LONG = kills !== undefined;

/** How often each suite of torture kills. */
export const KILLS = Number(kills ?? 8);

/** The seed of a run that failed repeats its choices, though not its timing. */
export const SEED = Number(process.env['HOOKS_TORTURE_SEED'] ?? Math.floor(Math.random() * 1e9));
