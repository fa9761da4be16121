import type { RecordedRequest } from '../../pipeline/recording-transport.ts';
import { isSecretHeader, isSecretParameter, printable } from '../../redact.ts';
import { escapeInJson, jsonLine } from '../result/json-line.ts';

export type RequestFormat = 'text' | 'json' | 'curl';

interface Shown {
  readonly format: RequestFormat;
  /** Otherwise `$HOOKS_…` stands in their place. */
  readonly showSecrets: boolean;
}

/** Of a URL: a text as it is, or a variable that stands for what is secret. */
interface Piece {
  readonly text: string;
  readonly variable?: string;
}

interface Header {
  readonly name: string;
  readonly value: string;
  /** What stands in its place. */
  readonly variable?: string;
}

export interface RequestText {
  readonly text: string;
  /** The variables that stand for secrets in it. */
  readonly variables: readonly string[];
}

/** A request that was not sent, for `--dry-run` and `--curl`. */
export function requestText(request: RecordedRequest, { format, showSecrets }: Shown): RequestText {
  const headers = pairs(request.headers).map(([name, value]) => shownHeader(name, value, showSecrets));
  const body = Buffer.from(request.body).toString();
  const url = shownUrl(request.url, showSecrets);
  const variables = [...url, ...headers].flatMap(({ variable }) => variable ?? []);
  return { text: textIn(format, { url, headers, body }), variables };
}

interface Request {
  readonly url: readonly Piece[];
  readonly headers: readonly Header[];
  readonly body: string;
}

function textIn(format: RequestFormat, { url, headers, body }: Request): string {
  switch (format) {
    case 'text':
      return `POST ${spelled(url)}\n${headers.map((each) => `${printable(each.name)}: ${plain(each)}\n`).join('')}\n${escapeInJson(body)}\n\n`;
    case 'json':
      return jsonLine({
        method: 'POST',
        url: spelled(url),
        headers: headers.map(({ name, value, variable }) => [
          name,
          variable === undefined ? value : `$${variable}`,
        ]),
        body,
      });
    case 'curl':
      return curl(url, headers, body);
    default:
      return format satisfies never;
  }
}

function plain({ value, variable }: Header): string {
  return variable === undefined ? printable(value, 10_000) : `$${variable}`;
}

function spelled(url: readonly Piece[]): string {
  return url.map(({ text, variable }) => (variable === undefined ? text : `$${variable}`)).join('');
}

function curl(url: readonly Piece[], headers: readonly Header[], body: string): string {
  const words = [
    `curl -X POST ${url.map(({ text, variable }) => (variable === undefined ? quoted(text) : `"$${variable}"`)).join('')}`,
    ...headers.map((header) => `-H ${headerWord(header)}`),
    `--data-binary ${quoted(body)}`,
  ];
  return `${words.join(' \\\n  ')}\n`;
}

/** A header's name may have a backquote or a `$` in it, which a shell would obey in double quotes. */
function headerWord({ name, value, variable }: Header): string {
  if (variable === undefined) return quoted(`${name}: ${value}`);
  return /^[\w-]+$/.test(name) ? `"${name}: $${variable}"` : `${quoted(`${name}: `)}"$${variable}"`;
}

/** For a POSIX shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** A secret parameter's value is a piece of its own. */
function shownUrl(url: string, showSecrets: boolean): Piece[] {
  const isSecret = (name: string): boolean => !showSecrets && isSecretParameter(name);
  // The parts in parentheses are kept by split: what stands before a value, its name, the value.
  const parts = url.split(/([?&]([^=&#]*)=)([^&#]*)/);
  const pieces: Piece[] = [];
  for (let at = 0; at < parts.length; at += 4) {
    const [text = '', start = '', name = '', value = ''] = parts.slice(at, at + 4);
    pieces.push({ text: text + start + (isSecret(name) ? '' : value) });
    if (isSecret(name)) pieces.push({ text: value, variable: variableOf(name) });
  }
  return joined(pieces);
}

/** Texts that follow one another are one. */
function joined(pieces: readonly Piece[]): Piece[] {
  const result: Piece[] = [];
  for (const piece of pieces) {
    const last = result.at(-1);
    if (last === undefined || last.variable !== undefined || piece.variable !== undefined) result.push(piece);
    else result[result.length - 1] = { text: last.text + piece.text };
  }
  return result.filter(({ text, variable }) => variable !== undefined || text !== '');
}

function variableOf(name: string): string {
  return `HOOKS_${name.toUpperCase().replaceAll(/[^A-Z0-9]/g, '_')}`;
}

function shownHeader(name: string, value: string, showSecrets: boolean): Header {
  if (showSecrets || !isSecretHeader(name)) return { name, value };
  return { name, value, variable: variableOf(name) };
}

function pairs(flat: readonly string[]): [string, string][] {
  const all: [string, string][] = [];
  for (let at = 0; at + 1 < flat.length; at += 2) all.push([flat[at] ?? '', flat[at + 1] ?? '']);
  return all;
}
