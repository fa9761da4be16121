import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseAst } from 'rolldown/parseAst';
import { expect, it } from 'vitest';
import * as layout from '../../../src/stores/server/bullmq-layout.ts';

const FOLDER = fileURLToPath(new URL('../../../src/stores/server', import.meta.url));

/** Words that are also our own: names of states, of the package, and of fields of an entry. */
const OWN = new Set([
  'waiting',
  'active',
  'delayed',
  'completed',
  'failed',
  'bullmq',
  'name',
  'data',
  'progress',
]);

const NAMES = Object.values(layout)
  .flatMap((value) => (typeof value === 'object' ? Object.values(value).flat() : value))
  .filter((value) => typeof value === 'string')
  .filter((name) => /^\D/.test(name));

/** The private names that a text of Lua, SQL or a key spells. */
function spelled(text: string): readonly string[] {
  return NAMES.filter((name) => {
    const word = name.replaceAll('.', '\\.');
    if (name.includes('_')) return new RegExp(`(?<!\\w)${word}(?!\\w)`).test(text);
    const isCalled = Object.values<string>(layout.FUNCTION).includes(name);
    if (isCalled && new RegExp(`SELECT ${word}\\(`).test(text)) return true;
    const isTable = Object.values<string>(layout.TABLE).includes(name);
    if (isTable && new RegExp(`(?:FROM|INTO|JOIN|UPDATE) ${word}\\b`).test(text)) return true;
    return !OWN.has(name) && (text === name || new RegExp(`'${word}'`).test(text));
  });
}

interface Node {
  readonly type?: unknown;
  readonly value?: unknown;
}

/** The texts of a file: its literals and the fixed parts of its templates, without imports and types. */
function textsOf(file: string): readonly string[] {
  const source = readFileSync(`${FOLDER}/${file}`, 'utf8');
  const nodes: unknown[] = [parseAst(source, { lang: 'ts', astType: 'ts' })];
  const texts: string[] = [];
  // Also visits the nodes that the loop itself adds.
  for (const node of nodes) {
    if (typeof node !== 'object' || node === null) continue;
    const { type, value } = node as Node;
    if (type === 'ImportDeclaration' || type === 'TSLiteralType') continue;
    if (type === 'Literal' && typeof value === 'string') texts.push(value);
    if (type === 'TemplateElement') texts.push((value as { readonly cooked: string }).cooked);
    nodes.push(...Object.values(node));
  }
  return texts;
}

it('spells the private names of BullMQ in one file', () => {
  const others = readdirSync(FOLDER, { recursive: true, encoding: 'utf8' }).filter(
    (file) => file.endsWith('.ts') && file !== 'bullmq-layout.ts',
  );
  expect(others.length).toBeGreaterThan(20);
  expect(
    others.flatMap((file) =>
      textsOf(file)
        .flatMap(spelled)
        .map((name) => `${file}: ${name}`),
    ),
  ).toEqual([]);
});

it.each([
  "redis.call('LPUSH', series .. 'wait', id)",
  'SELECT promote(a, b)',
  'SELECT FROM job',
  'ats',
  ':lock',
])('notices a private name: %s', (text) => {
  expect(spelled(text)).not.toEqual([]);
});
