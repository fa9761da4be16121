import { extname } from 'node:path';
import { printable } from '../../redact.ts';

/** What is wrong with a config file, without any text of the file. */
export interface Complaint {
  /** Counted from 1. */
  readonly line?: number;
  readonly reason: string;
  /** @default that of the file's format */
  readonly hint?: string;
}

interface Suspect {
  readonly path: string;
  readonly text: string;
  /** The line in which code cannot be parsed. Does not run it. */
  readonly findSyntaxError: (source: string, filename: string) => Promise<number | undefined>;
}

/** Reads the errors of the parsers of each format. */
export async function complaintOf(error: unknown, suspect: Suspect): Promise<Complaint> {
  if (!(error instanceof Error)) return { reason: 'the config threw something that is no Error' };
  if (extname(suspect.path) === '.json') return jsonComplaint(error, suspect.text.replace(/^\uFEFF/, ''));
  if (isYamlError(error)) return yamlComplaint(error, suspect.text);
  return codeComplaint(error, suspect);
}

interface YamlError extends Error {
  /** What is wrong; quotes words of the file. */
  readonly reason: string;
  /** `line` is counted from 0, `position` in UTF-16 units. */
  readonly mark?: { readonly line: number; readonly position: number };
}

/** Whether the YAML parser rejects a key that its mapping has had already. */
export function isDuplicateKey(error: unknown): error is YamlError {
  return error instanceof Error && isYamlError(error) && error.reason === 'duplicated mapping key';
}

function isYamlError(error: Error): error is YamlError {
  return error.name === 'YAMLException' && 'reason' in error;
}

function yamlComplaint({ reason, mark }: YamlError, text: string): Complaint {
  // A file that ends too early is wrong in its last line, not in the one after it.
  const line = mark && Math.min(mark.line + 1, lineAt(text, text.trimEnd().length));
  const hint = YAML_HINTS.find(([pattern]) => pattern.test(reason))?.[1];
  return { ...at(line), reason: `not valid YAML: ${withoutQuotes(reason)}`, ...(hint && { hint }) };
}

const YAML_HINTS: readonly (readonly [RegExp, string])[] = [
  [/duplicated mapping key/, 'the key of this line stands above it already: keep one of the two'],
  [/within a (?:double|single) quoted/, 'a quote is opened and never closed: look in the lines above, too'],
  [/stream contains non-printable|null byte/, 'take the control characters out of it'],
];

function jsonComplaint(error: Error, text: string): Complaint {
  if (isDuplicateKey(error)) return duplicateComplaint(error, text);
  const { message } = error;
  // V8 names no position for an unexpected token, and none for a text that ends too early.
  const position = / at position (\d+)/.exec(message)?.[1];
  const offset = message.includes('Unexpected end') ? text.trimEnd().length : Number(position);
  const reason = message.replace(/( in JSON at position|, "|, \.\.\.).*$/s, '');
  return {
    ...at(Number.isNaN(offset) ? undefined : lineAt(text, offset)),
    reason: `not valid JSON: ${reason}`,
  };
}

function duplicateComplaint({ mark }: YamlError, text: string): Complaint {
  const offset = mark?.position ?? 0;
  const [literal = '""'] = /^"(?:[^"\\]|\\.)*"/.exec(text.slice(offset)) ?? [];
  const key = printable(String(JSON.parse(literal)), 80);
  return {
    line: lineAt(text, offset),
    reason: `expected each key once, got \`${key}\` twice`,
    hint: 'JSON parsers do not agree on which one counts: keep one of them',
  };
}

function lineAt(text: string, offset: number): number {
  return text.slice(0, offset).split('\n').length;
}

/** Code that cannot be parsed, or that throws when it is run. */
async function codeComplaint(error: Error, { path, text, findSyntaxError }: Suspect): Promise<Complaint> {
  const { message, stack } = error;
  const [first = ''] = message.replace(/^ParseError: /, '').split('\n', 1);
  if (!(error instanceof SyntaxError || message.startsWith('ParseError: '))) {
    return { ...at(lineIn(`${stack}`, path)), reason: `the config cannot be used: ${first}` };
  }
  const line = lineIn(`${message}\n${stack}`, path) ?? (await findSyntaxError(text, path));
  return { ...at(line), reason: `not valid code: ${withoutQuotes(first.trim())}` };
}

function at(line: number | undefined): { readonly line?: number } {
  return line === undefined ? {} : { line };
}

/** Parsers quote the words of a file. A single character tells nothing of a secret, and much of a mistake. */
function withoutQuotes(reason: string): string {
  return reason.replaceAll(/(["'`]).{2,}\1|<.{2,}>/gs, '…');
}

/** The first `path:line` of a message or stack. */
function lineIn(stack: string, path: string): number | undefined {
  const after = stack
    .split(path)
    .slice(1)
    .find((rest) => /^:\d+/.test(rest));
  const line = after === undefined ? undefined : /^:(\d+)/.exec(after)?.[1];
  return line === undefined ? undefined : Number(line);
}
