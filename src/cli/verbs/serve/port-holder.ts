import { ConfigError } from '../../../errors.ts';
import { reachableHost } from '../../../service/start-listening.ts';

/** Time for the program that holds a port to respond. */
const ASK_MS = 500;

/** How to find the process that listens at a port, and to end it. */
const FIND_AND_END: Readonly<Partial<Record<NodeJS.Platform, string>>> = {
  linux: "run `ss -ltnp 'sport = :PORT'` to find its process, and `kill PID` to end it",
  win32: 'run `netstat -ano | findstr :PORT` to find its process, and `taskkill /F /PID PID` to end it',
};
const ELSEWHERE = 'run `lsof -nP -iTCP:PORT -sTCP:LISTEN` to find its process, and `kill PID` to end it';

/** The fields of the error with which Node reports that it cannot listen. */
interface ListenFailure extends NodeJS.ErrnoException {
  readonly address?: string;
  readonly port?: number;
}

/**
 * Returns the error of a start that failed. If the port is in use and responds like `hooks serve`, the hint says how to find
 * and end that process: after `kill` of `npx hooks serve`, for example, the program still runs without npm.
 */
export async function withPortHolder(error: unknown): Promise<unknown> {
  if (!(error instanceof ConfigError)) return error;
  const { code, address = '', port = 0 } = (error.cause ?? {}) as ListenFailure; // other errors lack these fields
  if (code !== 'EADDRINUSE' || !(await isLikeServe(address, port))) return error;
  const how = (FIND_AND_END[process.platform] ?? ELSEWHERE).replace('PORT', String(port));
  const { key, origin, message, cause, hint = '' } = error;
  return new ConfigError(message, {
    key,
    origin,
    cause,
    hint: `an earlier hooks serve seems to hold it: ${how}; or ${hint}`,
  });
}

/** Whether a port responds to the health check as `hooks serve` does. */
async function isLikeServe(address: string, port: number): Promise<boolean> {
  try {
    const url = `http://${reachableHost(address)}:${port}/healthz`;
    const response = await fetch(url, { signal: AbortSignal.timeout(ASK_MS) });
    return response.ok && (await response.text()) === '{"status":"ok"}';
  } catch {
    return false;
  }
}
