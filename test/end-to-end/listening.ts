import { startHooks, type HooksOptions, type RunningHooks } from './hooks.ts';
import { listeningBy, type Listening } from './listening-by.ts';

/** Starts `hooks listen -o json` of the built binary on a free port, and waits until it is ready. */
export function listening(
  args: readonly string[] = [],
  options: HooksOptions = {},
): Promise<RunningHooks & Listening> {
  return listeningBy(startHooks, args, options);
}
