import { isSecretHeader, isSecretParameter } from '../redact.ts';

/** A piece of a URL: plain text, or a secret that a variable replaces. */
export interface UrlPiece {
  readonly text: string;
  readonly variable?: string;
}

export interface ShownHeader {
  readonly name: string;
  readonly value: string;
  /** The shell variable that replaces the value. */
  readonly variable?: string;
}

export interface CurlRequest {
  readonly url: readonly UrlPiece[];
  readonly headers: readonly ShownHeader[];
  /** A body that is not text is given as base64. */
  readonly body: string | { readonly base64: string };
}

/** Writes a request as a command for a POSIX shell, with variables for secrets. Ends without a line break. */
export function curlCommand({ url, headers, body: given }: CurlRequest): string {
  const body = typeof given === 'string' && UNSAFE.test(given) ? { base64: base64Of(given) } : given;
  const isText = typeof body === 'string';
  const words = [
    `curl ${globOff(url)}${pathAsIs(url)}-X POST ${url.map(({ text, variable }) => (variable === undefined ? shellQuoted(text) : `"$${variable}"`)).join('')}`,
    ...headers.map((header) => `-H ${headerWord(header)}`),
    // --data-binary would take a body that begins with @ for a file's name.
    isText ? `--data-raw ${shellQuoted(body)}` : '--data-binary @-',
  ];
  const command = words.join(' \\\n  ');
  return isText ? command : `printf %s ${shellQuoted(body.base64)} | base64 -d |\n${command}`;
}

/** Control characters: no argument can hold a NUL, and text pasted into a terminal must not control it. */
const UNSAFE = /[^\P{Cc}\t\n]/u;

/** Encodes base64 with what both Node and browsers have. */
function base64Of(text: string): string {
  let bytes = '';
  for (const byte of new TextEncoder().encode(text)) bytes += String.fromCharCode(byte);
  return btoa(bytes);
}

/** The option without which curl makes several requests of `{x,y}` and `[1-3]`, or rejects the URL. */
function globOff(url: readonly UrlPiece[]): string {
  return url.some(({ text }) => /[[\]{}]/.test(text)) ? '--globoff ' : '';
}

/** The option without which curl resolves `/a/../b`. */
function pathAsIs(url: readonly UrlPiece[]): string {
  const [path = ''] = url
    .map(({ text }) => text)
    .join('')
    .split('?');
  return /\/(?:\.|%2e){1,2}(?:\/|$)/i.test(path) ? '--path-as-is ' : '';
}

/** Quotes a header. Its name may contain a backquote or a `$`, which a shell interprets in double quotes. */
function headerWord({ name, value, variable }: ShownHeader): string {
  // curl leaves out a header that ends with its colon.
  if (variable === undefined) return shellQuoted(value === '' ? `${name};` : `${name}: ${value}`);
  return /^[\w-]+$/.test(name) ? `"${name}: $${variable}"` : `${shellQuoted(`${name}: `)}"$${variable}"`;
}

/** Quotes a word for a POSIX shell. */
export function shellQuoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** Splits a URL into pieces, each secret parameter's value a separate one. */
export function shownUrl(url: string, { showSecrets }: { readonly showSecrets: boolean }): UrlPiece[] {
  const isSecret = (name: string): boolean => !showSecrets && isSecretParameter(name);
  // The parts in parentheses are kept by split: what stands before a value, its name, the value.
  const parts = url.split(/([?&]([^=&#]*)=)([^&#]*)/);
  const pieces: UrlPiece[] = [];
  for (let at = 0; at < parts.length; at += 4) {
    const [text = '', start = '', name = '', value = ''] = parts.slice(at, at + 4);
    pieces.push({ text: text + start + (isSecret(name) ? '' : value) });
    if (isSecret(name)) pieces.push({ text: value, variable: variableOf(name) });
  }
  return joined(pieces);
}

/** Joins adjacent texts. */
function joined(pieces: readonly UrlPiece[]): UrlPiece[] {
  const result: UrlPiece[] = [];
  for (const piece of pieces) {
    const last = result.at(-1);
    if (last === undefined || last.variable !== undefined || piece.variable !== undefined) result.push(piece);
    else result[result.length - 1] = { text: last.text + piece.text };
  }
  return result.filter(({ text, variable }) => variable !== undefined || text !== '');
}

export function shownHeader(
  [name, value]: readonly [name: string, value: string],
  { showSecrets }: { readonly showSecrets: boolean },
): ShownHeader {
  if (showSecrets || !isSecretHeader(name) || name.toLowerCase() === 'x-signature') return { name, value };
  return { name, value, variable: variableOf(name) };
}

function variableOf(name: string): string {
  return `HOOKS_${name.toUpperCase().replaceAll(/[^A-Z0-9]/g, '_')}`;
}
