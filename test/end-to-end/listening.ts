import { startHooks, type HooksOptions, type RunningHooks } from './hooks.ts';
import { listeningBy, type Listening } from './listening-by.ts';

/** `hooks listen` of the built binary on a free port with JSON lines, once it is ready. */
export function listening(
  args: readonly string[] = [],
  options: HooksOptions = {},
): Promise<RunningHooks & Listening> {
  return listeningBy(startHooks, args, options);
}
