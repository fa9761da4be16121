import { until } from '../until.ts';
import { startHooks } from './run-in-process.ts';

/** Starts `hooks listen` on a terminal of 80 columns whose keys can be pressed. */
export async function listening(args: readonly string[] = []) {
  const running = startHooks(['listen', '--port', '0', ...args], {
    terminalColumns: 80,
    hasKeys: true,
    env: { TERM: 'xterm-256color' },
  });
  await until(() => running.terminal.length > 0, 'raw mode');
  /** Returns all output to the terminal so far. */
  const { screen } = running;
  return { running, url: /http:\S+/.exec(screen())?.[0] ?? '', screen };
}
