import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseAst } from 'rolldown/parseAst';
import { describe, expect, it } from 'vitest';

const SRC = fileURLToPath(new URL('../src', import.meta.url));

interface Source {
  readonly path: string;
  readonly text: string;
}

const SOURCES: readonly Source[] = readdirSync(SRC, { recursive: true, encoding: 'utf8' })
  .filter((path) => /\.tsx?$/.test(path))
  .map((path) => ({ path, text: readFileSync(join(SRC, path), 'utf8') }));

describe('the source', () => {
  it('gives a reason for each cast, on its line or the line above', () => {
    expect(SOURCES.flatMap(castsWithoutReason)).toEqual([]);
  });

  it('imports from Node first, then from packages, then from its own files', () => {
    expect(SOURCES.flatMap(importsOutOfOrder)).toEqual([]);
  });

  it('starts each error sentence with a capital', () => {
    expect(SOURCES.flatMap(lowerCaseSentences)).toEqual([]);
  });

  it('opens each comment with a noun or a verb', () => {
    expect(SOURCES.flatMap(commentsWithoutSubject)).toEqual([]);
  });

  it('is checked by rules that find mistakes', () => {
    for (const comment of [
      '/** Of all lanes. */',
      '// What waits, in order.',
      '/**\n * No more than ten. */',
    ]) {
      expect(commentsWithoutSubject({ path: 'a.ts', text: comment })).toEqual(['a.ts:1']);
    }
    expect(commentsWithoutSubject({ path: 'a.ts', text: '/** Waits with a limit. */' })).toEqual([]);
    expect(castsWithoutReason({ path: 'a.ts', text: 'const a = b as string;' })).toEqual(['a.ts:1']);
    expect(castsWithoutReason({ path: 'a.ts', text: '// as c says\nconst a = b as string;' })).toEqual([]);
    expect(castsWithoutReason({ path: 'a.ts', text: 'const a = [1] as const;' })).toEqual([]);
    const text = "import a from './a.ts';\nimport b from 'node:fs';\n";
    expect(importsOutOfOrder({ path: 'a.ts', text })).toEqual(['a.ts:2']);
    for (const faulty of [
      "throw new InputError('expected a file', { file });",
      'throw new ConfigError(`expected ${what}`);',
      "throw new QueueError(isThere ? 'The file is damaged' : 'there is no file');",
      "const problem = { sentence: 'expected ' + name };",
      "noteError(io, 'no response came');",
    ]) {
      expect(lowerCaseSentences({ path: 'a.ts', text: faulty })).toEqual(['a.ts:1']);
    }
    const good = 'throw new InputError(`${name} is damaged`, { file, cause: new Error("cut") });';
    expect(lowerCaseSentences({ path: 'a.ts', text: good })).toEqual([]);
  });
});

interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly typeAnnotation?: Node;
  readonly source?: { readonly value: string };
  readonly callee?: { readonly name?: string };
  readonly arguments?: readonly Node[];
  readonly key?: { readonly name?: string };
  readonly id?: { readonly name?: string };
  readonly value?: Node | string;
  readonly init?: Node;
  readonly left?: Node;
  readonly consequent?: Node;
  readonly alternate?: Node;
}

/** Yields every node of the file's syntax tree, each parent before its children. */
function* nodesOf({ path, text }: Source): Generator<Node> {
  const waiting: unknown[] = [parseAst(text, { lang: path.endsWith('x') ? 'tsx' : 'ts', astType: 'ts' })];
  while (waiting.length > 0) {
    const value = waiting.pop();
    if (typeof value !== 'object' || value === null) continue;
    if ('type' in value && typeof value.type === 'string') yield value as Node; // as the parser makes it
    waiting.push(...Object.values(value).toReversed());
  }
}

function castsWithoutReason(source: Source): string[] {
  const lines = source.text.split('\n');
  return [...nodesOf(source)]
    .filter(({ type }) => type === 'TSAsExpression')
    .filter(
      ({ typeAnnotation: { start, end } = { start: 0, end: 0 } }) =>
        source.text.slice(start, end) !== 'const',
    )
    .map(({ start, end }) => [lineAt(source, start), lineAt(source, end)] as const)
    .filter(([first, last]) => !lines.slice(first - 2, last).some((line) => /\/\/|\*\/|^\s*\*/.test(line)))
    .map(([first]) => `${source.path}:${first}`);
}

function importsOutOfOrder(source: Source): string[] {
  let last = 0;
  return [...nodesOf(source)]
    .filter(({ type }) => type === 'ImportDeclaration')
    .filter(({ source: from }) => {
      const rank = rankOf(from?.value ?? '');
      const isEarlier = rank < last;
      last = Math.max(last, rank);
      return isEarlier;
    })
    .map(({ start }) => `${source.path}:${lineAt(source, start)}`);
}

/** First words of a comment without a subject. */
const WITHOUT_SUBJECT =
  /(?:\/\*\*[\s*]+|(?<!\/\/[^\n]*\n\s*)\/\/ )(?:Of|With|As|Both|Those|Some|What|Where|Else|Such|Likewise|No more)\b/g;

function commentsWithoutSubject(source: Source): string[] {
  return [...source.text.matchAll(WITHOUT_SUBJECT)].map(
    ({ index }) => `${source.path}:${lineAt(source, index)}`,
  );
}

/** The error classes of src/errors.ts and their subclasses. */
const HOOKS_ERROR = /^(?:Validation|Config|Input|Signature|Transport|Queue|Closed|ReplayInUse)Error$/;

/** Returns the lines of error sentences that start in lower case, if the start is a literal where the error is created. */
function lowerCaseSentences(source: Source): string[] {
  return [...nodesOf(source)]
    .flatMap((node) => textsOf(sentenceIn(node)))
    .filter(({ start }) => /^[a-z]/.test(source.text.slice(start + 1)))
    .map(({ start }) => `${source.path}:${lineAt(source, start)}`);
}

/** Returns the texts that an expression can start with. */
function textsOf(node: Node | undefined): readonly Node[] {
  if (node?.type === 'ConditionalExpression') {
    return [...textsOf(node.consequent), ...textsOf(node.alternate)];
  }
  if (node?.type === 'BinaryExpression') return textsOf(node.left);
  return node?.type === 'Literal' || node?.type === 'TemplateLiteral' ? [node] : [];
}

/** Returns the node of an error sentence: the first argument of an error, or a value named `sentence`. */
function sentenceIn({ type, callee, arguments: given = [], key, id, value, init }: Node): Node | undefined {
  if (type === 'NewExpression' && HOOKS_ERROR.test(callee?.name ?? '')) return given[0];
  if (type === 'CallExpression' && callee?.name === 'noteError') return given[1];
  if (type === 'Property' && key?.name === 'sentence' && typeof value === 'object') return value;
  return type === 'VariableDeclarator' && id?.name === 'sentence' ? init : undefined;
}

function rankOf(specifier: string): number {
  if (specifier.startsWith('node:')) return 0;
  return specifier.startsWith('.') ? 2 : 1;
}

function lineAt({ text }: Source, offset: number): number {
  return text.slice(0, offset).split('\n').length;
}
