import { ConfigError, InputError, type HooksError } from '../errors.ts';
import { printable } from '../redact.ts';

/** What is wrong, with the place in a file in front: `orders.ndjson:3: expected …`. */
export function sentence(error: HooksError): string {
  return `${place(error)}${printable(error.message, 2_000)}${setting(error)}`;
}

function place(error: HooksError): string {
  if (!(error instanceof InputError) || error.file === undefined) return '';
  const position = [error.line, error.column].filter((part) => part !== undefined).join(':');
  return `${printable(error.file)}${position === '' ? '' : `:${position}`}: `;
}

/** Of the short form, which a flag's settings have too, since that names no destination. */
const UNNAMED = 'sources.default.destinations.Webhooks.';

/** Which of many destinations and webhooks it is, where the sentence itself, which the library says too, does not. */
function setting(error: HooksError): string {
  if (!(error instanceof ConfigError) || error.origin !== undefined) return '';
  const { key = '' } = error;
  return key.startsWith('sources.') && !key.startsWith(UNNAMED) ? ` (at \`${printable(key, 200)}\`)` : '';
}
