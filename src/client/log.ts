import { createRequire } from 'node:module';
import { format } from 'node:util';
import { commandEscaper } from '../redact.ts';

/** Says what the client does, on stderr, when `DEBUG=analytics`. Never a secret, never a body. */
export type DebugLog = (format: string, ...values: readonly unknown[]) => void;

/** Undefined when DEBUG is off, so that a call costs nothing then: not even loading the package. */
export function createDebugLog(env: Readonly<NodeJS.ProcessEnv> = process.env): DebugLog | undefined {
  if (!env['DEBUG']) return undefined;
  // Required, not imported: the first calls would be lost while an import is in progress.
  const debug = createRequire(import.meta.url)('debug') as typeof import('debug');
  const log = debug('analytics');
  const escape = commandEscaper(env);
  log.log = (...given: unknown[]) => process.stderr.write(`${escape(format(...given))}\n`);
  return log.enabled ? log : undefined;
}
