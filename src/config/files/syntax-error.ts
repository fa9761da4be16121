import { extname } from 'node:path';
import { printable } from '../../redact.ts';
import { isObject } from '../../validate-options.ts';
import { lineAt, repairJson, repairYaml, type Repair } from './repair-text.ts';

/** A problem in a config file, without any text of the file. */
interface FileProblem {
  /** Number of the line that has the problem, from 1. */
  readonly line?: number | undefined;
  readonly reason: string;
  /** How to fix the problem. @default the hint of the file's format */
  readonly hint?: string | undefined;
}

interface BrokenFile {
  readonly path: string;
  readonly text: string;
  /** Finds the line of a syntax error in code, without running the code. */
  readonly findSyntaxError: (source: string, filename: string) => Promise<number | undefined>;
}

/** Describes an error of the JSON or YAML parser, or of config code, as a problem of the file. */
export async function fileProblemOf(error: unknown, file: BrokenFile): Promise<FileProblem> {
  if (!(error instanceof Error)) return { reason: 'the config threw a value that is not an Error' };
  const conflict = file.text.search(/^<{7} .*$[^]*^={7}$/m);
  if (conflict >= 0) return { line: lineAt(file.text, conflict), ...CONFLICT };
  const text = file.text.replace(/^\uFEFF/, '');
  const isJson = extname(file.path) === '.json';
  if (isJson) {
    return { ...jsonProblem(error, text), ...(!isDuplicateKey(error) && repairOf(repairJson(text))) };
  }
  if (isYamlError(error)) {
    const { defaultLoaders } = await import('./yaml.ts');
    const load = defaultLoaders['.yaml'];
    const repair = isDuplicateKey(error) ? undefined : repairYaml(text, parsesAsMapping(file.path, load));
    return { ...yamlProblem(error, text), ...repairOf(repair) };
  }
  return codeProblem(error, file);
}

function repairOf(repair: Repair | undefined): Partial<FileProblem> {
  return repair === undefined ? {} : { line: repair.line, hint: `${repair.fix}: the file is valid then` };
}

/** Parses a repaired text. A config is a mapping, so a text that parses as one long string is not repaired. */
function parsesAsMapping(path: string, load: (path: string, text: string) => unknown) {
  return (text: string): boolean => {
    try {
      return isObject(load(path, text));
    } catch {
      return false;
    }
  };
}

const CONFLICT = {
  reason: 'has the marks of a merge conflict',
  hint: 'keep one side, and remove the lines that begin with <<<<<<<, ======= and >>>>>>>',
};

interface YamlError extends Error {
  /** The YAML parser's description of the problem, which quotes words of the file. */
  readonly reason: string;
  /** Position of the problem in the file. `line` counts from 0, `position` is in UTF-16 units. */
  readonly mark?: { readonly line: number; readonly position: number };
}

/** Whether an error of the YAML parser is about a duplicate key. */
export function isDuplicateKey(error: unknown): error is YamlError {
  return error instanceof Error && isYamlError(error) && error.reason === 'duplicated mapping key';
}

function isYamlError(error: Error): error is YamlError {
  return error.name === 'YAMLException' && 'reason' in error;
}

function yamlProblem({ reason, mark }: YamlError, text: string): FileProblem {
  // If a file ends too early, the YAML parser reports the line after the last one. The error is shown at the last line.
  const line = mark && Math.min(mark.line + 1, lineAt(text, text.trimEnd().length));
  const hint = YAML_HINTS.find(([pattern]) => pattern.test(reason))?.[1];
  return { line, reason: `not valid YAML: ${withoutQuotes(reason)}`, hint };
}

const YAML_HINTS: readonly (readonly [RegExp, string])[] = [
  [
    /missed comma between flow/,
    'put quotes around ${NAME}, and around values with { or [, inside [ ] and { }',
  ],
  [/duplicated mapping key/, 'the key of this line already occurs above: keep one of the two'],
  [/within a (?:double|single) quoted/, 'a quote is opened and never closed: look in the lines above, too'],
  [/stream contains non-printable|null byte/, 'remove the control characters'],
];

function jsonProblem(error: Error, text: string): FileProblem {
  if (isDuplicateKey(error)) return duplicateProblem(error, text);
  const { message } = error;
  // For an unexpected token or a text that ends too early, the message of V8 has no position.
  const position = / at position (\d+)/.exec(message)?.[1];
  const offset = message.includes('Unexpected end') ? text.trimEnd().length : Number(position);
  const reason = message.replace(/( in JSON at position|, "|, \.\.\.).*$/s, '');
  const line = Number.isNaN(offset) ? undefined : lineAt(text, offset);
  return { line, reason: `not valid JSON: ${reason}` };
}

function duplicateProblem({ mark }: YamlError, text: string): FileProblem {
  const offset = mark?.position ?? 0;
  const [literal = '""'] = /^"(?:[^"\\]|\\.)*"/.exec(text.slice(offset)) ?? [];
  const key = printable(String(JSON.parse(literal)), 80);
  return {
    line: lineAt(text, offset),
    reason: `expected each key once, got \`${key}\` twice`,
    hint: 'JSON parsers do not agree on which one counts: keep one of them',
  };
}

/** The problem of code that cannot be parsed, or that throws when it runs. */
async function codeProblem(error: Error, { path, text, findSyntaxError }: BrokenFile): Promise<FileProblem> {
  const { message, stack } = error;
  const [first = ''] = message.replace(/^ParseError: /, '').split('\n', 1);
  if (!(error instanceof SyntaxError || message.startsWith('ParseError: '))) {
    return { line: lineIn(`${stack}`, path), reason: `the config cannot be used: ${first}` };
  }
  const line = lineIn(`${message}\n${stack}`, path) ?? (await findSyntaxError(text, path));
  return { line, reason: `not valid code: ${withoutQuotes(first.trim())}` };
}

/**
 * Removes the words of the file that parsers quote. Keeps single characters, which help to find the problem and do not
 * reveal a secret.
 */
function withoutQuotes(reason: string): string {
  return reason.replaceAll(/(["'`]).{2,}\1|<.{2,}>/gs, '…');
}

/** Returns the line of the first `path:line` in an error's message or stack. Undefined if there is none. */
function lineIn(stack: string, path: string): number | undefined {
  const [, ...rests] = stack.split(path);
  const [line] = rests.flatMap((rest) => /^:(\d+)/.exec(rest)?.[1] ?? []);
  return line === undefined ? undefined : Number(line);
}
