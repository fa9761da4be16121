import { InputError, type HooksError } from '../errors.ts';
import { printable } from '../redact.ts';

/** What is wrong, with the place in a file in front: `orders.ndjson:3: expected …`. */
export function sentence(error: HooksError): string {
  return `${place(error)}${printable(error.message, 2_000)}`;
}

function place(error: HooksError): string {
  if (!(error instanceof InputError) || error.file === undefined) return '';
  const position = [error.line, error.column].filter((part) => part !== undefined).join(':');
  return `${printable(error.file)}${position === '' ? '' : `:${position}`}: `;
}
