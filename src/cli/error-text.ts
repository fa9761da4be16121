import { ConfigError, InputError, type HooksError } from '../errors.ts';
import { printable } from '../redact.ts';
import type { Io } from './io.ts';

/** Where the lines of an error go: stderr, or above a progress bar. */
export type ErrorOutput = Pick<Io, 'note' | 'errColor'>;

/** Prints `error: SENTENCE` and, if there is a hint, `hint:  HINT` below it. The caller escapes what came from outside. */
export function noteError({ note, errColor }: ErrorOutput, sentence: string, hint?: string): void {
  note(`${errColor.red('error:')} ${sentence}`);
  if (hint !== undefined) noteHint({ note, errColor }, hint);
}

/** Prints `hint:  HINT`, below a line that says what is wrong. */
export function noteHint({ note, errColor }: ErrorOutput, hint: string): void {
  note(`${errColor.dim('hint: ')} ${hint}`);
}

/** What is wrong, with the position in a file in front: `orders.ndjson:3: expected …`. */
export function errorSentence(error: HooksError): string {
  const sentence = printable(error.message, 2_000);
  const position = filePosition(error);
  return `${position === '' ? sentence : behindPosition(position, sentence)}${settingOf(error)}`;
}

/** Writes a position in a file before a sentence, which then starts in lower case: `orders.ndjson:3: expected …`. */
export function behindPosition(position: string, sentence: string): string {
  return `${position}: ${sentence.replace(/^[A-Z](?![A-Z])/, (letter) => letter.toLowerCase())}`;
}

function filePosition(error: HooksError): string {
  if (!(error instanceof InputError) || error.file === undefined) return '';
  const position = [error.line, error.column].filter((part) => part !== undefined).join(':');
  return `${printable(error.file)}${position === '' ? '' : `:${position}`}`;
}

/** Prefix of the settings' short form. A flag's settings have it too; it names no destination. */
const UNNAMED = 'sources.default.destinations.Webhooks.';

/** Names the destination and webhook of many, where the sentence does not: the library says the same sentence. */
function settingOf(error: HooksError): string {
  if (!(error instanceof ConfigError) || error.origin !== undefined) return '';
  const { key = '' } = error;
  return key.startsWith('sources.') && !key.startsWith(UNNAMED) ? ` (at \`${printable(key, 200)}\`)` : '';
}
