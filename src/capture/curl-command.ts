import { isSecretHeader, isSecretParameter, MASK, printable } from '../redact.ts';

/** A piece of a URL. `variable` is the shell variable that replaces a secret. */
export interface UrlPiece {
  readonly text: string;
  readonly variable?: string;
}

export interface ShownHeader {
  readonly name: string;
  readonly value: string;
  /** Name of the shell variable that replaces the header's value, if the value is secret. */
  readonly variable?: string;
}

export interface CurlRequest {
  /** Method of the request. @default 'POST' */
  readonly method?: string | undefined;
  readonly url: readonly UrlPiece[];
  readonly headers: readonly ShownHeader[];
  /** Body as text, or as base64 if it is not text. */
  readonly body: string | { readonly base64: string };
  /**
   * Hides the write key in the body of a tracking API call: replaces the key by a variable in a text body, by the mask in a
   * base64 body. @default false
   */
  readonly hidesWriteKey?: boolean | undefined;
}

/** Writes a request as a curl command for a POSIX shell, with variables for secrets and without a final line break. */
export function curlCommand(request: CurlRequest): string {
  const { method = 'POST', url, headers, body: given, hidesWriteKey = false } = request;
  const body =
    typeof given === 'string' && isUnsafe(given)
      ? { base64: base64Of(hidesWriteKey ? given.replaceAll(WRITE_KEY, `$1${MASK}`) : given) }
      : given;
  const isText = typeof body === 'string';
  const words = [
    `curl ${globOff(url)}${pathAsIs(url)}-X ${quotedIfNeeded(method)} ${url.map(({ text, variable }) => (variable === undefined ? shellQuoted(text) : `"$${variable}"`)).join('')}`,
    ...headers.map((header) => `-H ${headerWord(header)}`),
    // The option is not --data-binary, because that would read a body that begins with @ as a file name.
    isText ? `--data-raw ${hidesWriteKey ? withoutWriteKey(body) : shellQuoted(body)}` : '--data-binary @-',
  ];
  const command = words.join(' \\\n  ');
  return isText ? command : `printf %s ${shellQuoted(body.base64)} | base64 -d |\n${command}`;
}

/**
 * Whether a text has characters that control a terminal or the text direction, which are unsafe to paste, or a NUL, which
 * arguments cannot have.
 */
function isUnsafe(text: string): boolean {
  const rest = text.replaceAll(/[\t\n]/g, '');
  return printable(rest, Infinity) !== rest;
}

const WRITE_KEY = /("writeKey"\s*:\s*")((?:[^"\\]|\\.)+)(?=")/g;

function withoutWriteKey(body: string): string {
  const [start = '', name = '', key, ...rest] = body.split(WRITE_KEY);
  if (key === undefined) return shellQuoted(body);
  return `${shellQuoted(start + name)}"$HOOKS_WRITE_KEY"${withoutWriteKey(rest.join(''))}`;
}

/** Encodes text as base64 in Node and in browsers. */
function base64Of(text: string): string {
  let bytes = '';
  for (const byte of new TextEncoder().encode(text)) bytes += String.fromCharCode(byte);
  return btoa(bytes);
}

/** The option that keeps curl from expanding `{x,y}` and `[1-3]` into several requests, or rejecting the URL. */
function globOff(url: readonly UrlPiece[]): string {
  return url.some(({ text }) => /[[\]{}]/.test(text)) ? '--globoff ' : '';
}

/** The curl option for a URL with `/./` or `/../`, which curl would otherwise resolve. Empty for other URLs. */
function pathAsIs(url: readonly UrlPiece[]): string {
  const [path = ''] = url
    .map(({ text }) => text)
    .join('')
    .split('?');
  return /\/(?:\.|%2e){1,2}(?:\/|$)/i.test(path) ? '--path-as-is ' : '';
}

/** Quotes a header for a shell. Its name can have a backquote or a `$`, which shells interpret in double quotes. */
function headerWord({ name, value, variable }: ShownHeader): string {
  const isOdd = variable === undefined && NOT_ASCII.test(value);
  if (isOdd) return `"$(printf ${printfFormat(`${name}: ${value}`)})"`;
  // A header without a value needs a semicolon: `X-Empty;`. curl leaves out a header that ends with its colon.
  if (variable === undefined) return shellQuoted(value === '' ? `${name};` : `${name}: ${value}`);
  return /^[\w-]+$/.test(name) ? `"${name}: $${variable}"` : `${shellQuoted(`${name}: `)}"$${variable}"`;
}

/** Matches characters outside printable ASCII. In headers they are Latin-1, which a terminal would convert or interpret. */
const NOT_ASCII = /[^ -~]/;

/** The format with which printf writes exactly these bytes: bytes outside printable ASCII are in octal. */
function printfFormat(latin1: string): string {
  const escaped = latin1
    .replaceAll(/[\\%]/g, (each) => (each === '%' ? '%%' : '\\\\'))
    .replaceAll(/[^ -~]/g, (each) => `\\${each.charCodeAt(0).toString(8).padStart(3, '0')}`);
  return shellQuoted(escaped);
}

function quotedIfNeeded(word: string): string {
  return /^[\w-]+$/.test(word) ? word : shellQuoted(word);
}

/** Quotes a word for a POSIX shell. */
export function shellQuoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** Splits a URL into pieces. The value of each secret parameter is a separate piece. */
export function shownUrl(url: string, { showSecrets }: { readonly showSecrets: boolean }): UrlPiece[] {
  const isSecret = (name: string): boolean => !showSecrets && isSecretParameter(name);
  // split keeps the groups of the pattern: the text before a value, the name, the value.
  const parts = url.split(/([?&]([^=&#]*)=)([^&#]*)/);
  const pieces: UrlPiece[] = [];
  for (let at = 0; at < parts.length; at += 4) {
    const [text = '', start = '', name = '', value = ''] = parts.slice(at, at + 4);
    pieces.push({ text: text + start + (isSecret(name) ? '' : value) });
    if (isSecret(name)) pieces.push({ text: value, variable: variableOf(name) });
  }
  return joined(pieces);
}

/** Joins adjacent pieces of a URL that are text. */
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
