import { until } from '../until.ts';
import { startHooks, type RunningHooks } from './run-in-process.ts';

interface Listening {
  readonly running: RunningHooks;
  readonly url: string;
  /** Returns all output to the terminal so far. */
  readonly screen: () => string;
}

/** Starts `hooks listen` on a terminal of 80 columns whose keys can be pressed. */
export async function listening(args: readonly string[] = []): Promise<Listening> {
  const running = startHooks(['listen', '--port', '0', ...args], {
    terminalColumns: 80,
    hasKeys: true,
    env: { TERM: 'xterm-256color' },
  });
  await until(() => running.terminal.length > 0, 'raw mode');
  const { screen } = running;
  return { running, url: /http:\S+/.exec(screen())?.[0] ?? '', screen };
}
