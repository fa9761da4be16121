import { onTestFinished } from 'vitest';
import { nextJson, type HooksOptions, type RunningCommand } from './running-command.ts';

export interface Listening {
  readonly url: string;
  readonly port: number;
  /** The first line. */
  readonly ready: Readonly<Record<string, unknown>>;
  readonly nextLine: () => Promise<Record<string, unknown>>;
  readonly post: (body: string | Uint8Array, headers?: Record<string, string>) => Promise<Response>;
}

/** Starts `hooks listen -o json` on a free port by `start`, and waits until it is ready. It stops when the test ends. */
export async function listeningBy<Running extends RunningCommand>(
  start: (args: readonly string[], options: HooksOptions) => Running,
  args: readonly string[] = [],
  options: HooksOptions = {},
): Promise<Running & Listening> {
  const running = start(['listen', '--port', '0', '-o', 'json', ...args], options);
  onTestFinished(() => void running.stop());
  const nextLine = (): Promise<Record<string, unknown>> => nextJson(running);
  const ready = await nextLine();
  const url = String(ready['url']);
  return {
    ...running,
    url,
    port: Number(new URL(url).port),
    ready,
    nextLine,
    post: (body, headers = {}) => fetch(`${url}/hook`, { method: 'POST', body: Buffer.from(body), headers }),
  };
}
