import { createRequire } from 'node:module';
import { format } from 'node:util';
import { commandEscaper } from '../redact.ts';

/** Logs the client's steps on stderr with `DEBUG=analytics`. Callers must not pass secrets or bodies. */
export type DebugLog = (format: string, ...values: readonly unknown[]) => void;

/** Creates the debug log. Undefined if DEBUG does not select it; without DEBUG, the package `debug` is not even loaded. */
export function createDebugLog(env: Readonly<NodeJS.ProcessEnv> = process.env): DebugLog | undefined {
  if (!env['DEBUG']) return undefined;
  // Uses require(), which is synchronous: during an asynchronous import() the first log lines would be lost.
  const debug = createRequire(import.meta.url)('debug') as typeof import('debug');
  const log = debug('analytics');
  const escape = commandEscaper(env);
  log.log = (...given: unknown[]) => process.stderr.write(`${escape(format(...given))}\n`);
  return log.enabled ? log : undefined;
}
