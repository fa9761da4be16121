import { relative, resolve } from 'node:path';
import { ConfigError, InputError, type HooksError } from '../errors.ts';
import { printable } from '../redact.ts';
import { closest, nearPath } from '../suggest.ts';
import type { Io } from './io.ts';

/** The output for the lines of an error: stderr, or the lines above a progress bar. */
type ErrorOutput = Pick<Io, 'note' | 'errColor'>;

/** Prints `error: SENTENCE` and, if there is a hint, `hint:  HINT` below it. The caller must escape text from outside. */
export function noteError({ note, errColor }: ErrorOutput, sentence: string, hint?: string): void {
  note(`${errColor.red('error:')} ${sentence}`);
  if (hint !== undefined) noteHint({ note, errColor }, hint);
}

/** Prints `hint:  HINT`, below a line that names the problem. */
export function noteHint({ note, errColor }: ErrorOutput, hint: string): void {
  note(`${errColor.dim('hint: ')} ${hint}`);
}

/**
 * Returns the hint of an error, unescaped. Names the file or variable that is probably meant by one that does not exist, if
 * its name is near.
 */
export function hintOf(error: HooksError, io: Pick<Io, 'env' | 'cwd'>): string | undefined {
  const { code, path, syscall = '' } = (error.cause ?? {}) as NodeJS.ErrnoException; // other errors lack these fields
  const isMissing = code === 'ENOENT' && path !== undefined && !syscall.startsWith('spawn');
  // Reads the current folder only here, because it may be gone.
  const near = isMissing ? nearPath(resolve(io.cwd, path)) : undefined;
  if (near !== undefined) return `did you mean ${near.startsWith(io.cwd) ? relative(io.cwd, near) : near}?`;
  const [, unset] = /needs the environment variable (\w+), which is not set/.exec(error.message) ?? [];
  const variable = unset === undefined ? undefined : closest(unset, Object.keys(io.env));
  return variable === undefined ? error.hint : `rename ${variable}, which is set, to ${unset}`;
}

/** Returns the escaped message of an error, after its position in a file: `orders.ndjson:3: expected …`. */
export function errorSentence(error: HooksError): string {
  const sentence = printable(error.message, 2_000);
  const position = filePosition(error);
  return `${position === '' ? sentence : withPosition(position, sentence)}${settingOf(error)}`;
}

/** Puts a file position before a sentence, which then starts in lower case: `orders.ndjson:3: expected …`. */
export function withPosition(position: string, sentence: string): string {
  return `${position}: ${sentence.replace(/^[A-Z](?![A-Z])/, (letter) => letter.toLowerCase())}`;
}

function filePosition(error: HooksError): string {
  if (!(error instanceof InputError) || error.file === undefined) return '';
  const position = [error.line, error.column].filter((part) => part !== undefined).join(':');
  return `${printable(error.file)}${position === '' ? '' : `:${position}`}`;
}

/** Key prefix of settings that name no destination: those of flags and of a config in the short form. */
const UNNAMED = 'sources.default.destinations.Webhooks.';

/**
 * Returns the full key of an invalid setting, because the sentence of its error does not name the destination. Empty if the
 * error has an origin, such as a file or a flag, or if the key names no destination.
 */
function settingOf(error: HooksError): string {
  if (!(error instanceof ConfigError) || error.origin !== undefined) return '';
  const { key = '' } = error;
  return key.startsWith('sources.') && !key.startsWith(UNNAMED) ? ` (at \`${printable(key, 200)}\`)` : '';
}
