import type { HooksOptions, RunningCommand } from './running-command.ts';

export interface Listening {
  readonly url: string;
  readonly port: number;
  /** Its first line. */
  readonly ready: Readonly<Record<string, unknown>>;
  readonly nextLine: () => Promise<Record<string, unknown>>;
  readonly post: (body: string | Uint8Array, headers?: Record<string, string>) => Promise<Response>;
}

/** `hooks listen` on a free port with JSON lines, once it is ready; `start` runs it, in this process or in one of its own. */
export async function listeningBy<Running extends RunningCommand>(
  start: (args: readonly string[], options: HooksOptions) => Running,
  args: readonly string[] = [],
  options: HooksOptions = {},
): Promise<Running & Listening> {
  const running = start(['listen', '--port', '0', '-o', 'json', ...args], options);
  const nextLine = async (): Promise<Record<string, unknown>> => {
    const { value, done } = await running.lines.next();
    if (done === true) throw new Error(`hooks listen ended: ${running.stderr()}`);
    return JSON.parse(value) as Record<string, unknown>;
  };
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
