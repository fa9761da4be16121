import { chmod, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadFile } from '../../../src/config/files/load-file.ts';
import { failureOf } from '../settings-with.ts';
import { asNobody } from '../../as-nobody.ts';
import { temporaryFolder } from '../../temporary-folder.ts';

const VALUES = { store: 'sqlite:./x.db', webhooks: ['http://a.example'] };
const JSON_TEXT = JSON.stringify(VALUES);

describe('loadFile', () => {
  it.each([
    ['bom.json', `\uFEFF${JSON_TEXT}`],
    ['.hooksrc.js', `export default Promise.resolve(${JSON_TEXT})`],
    [
      'hooks.config.ts',
      `interface A { b: string }\nconst a: Record<string, unknown> = ${JSON_TEXT};\nexport default a;`,
    ],
    ['.hooksrc.ts', `export default await Promise.resolve(${JSON_TEXT} as unknown)`],
  ])('reads %s', async (name, text) => {
    const folder = temporaryFolder({ [name]: text });
    expect(await loadFile(join(folder, name), name)).toEqual(VALUES);
  });

  it.each([
    ['empty.yaml', ''],
    ['comment.yaml', '# store: x\n'],
    ['.hooksrc', '\n'],
  ])('reads %s, which is empty, as no settings', async (name, text) => {
    const folder = temporaryFolder({ [name]: text });
    expect(await loadFile(join(folder, name), name)).toEqual({});
  });

  it.each([
    ['token.json', '{\n  "a": {\n    "b": x }\n}', ': not valid JSON'],
    ['value.json', '{\n  "a": }\n}', ': not valid JSON'],
    ['missing.json', '{\n  "a": 1\n  "b": 2\n}', ':2: not valid JSON'],
    ['end.json', '{\n  "a": [1,\n', ':2: not valid JSON'],
    ['twice.json', '{\n  "a": 1,\n  "b": {},\n  "a": 3\n}', ':4: expected each key once, got `a` twice'],
    ['deep.json', '[{"a": 1},\n\t{"a": 1, "\\u0061": 2}]', ':2: expected each key once, got `a` twice'],
    ['bom.json', '\uFEFF{"__proto__": 1,\r\n"__proto__": 2}', ':2: expected each key once, got `__proto__`'],
    ['bad.yaml', 'a: 1\nb: [1,\n', ':2: not valid YAML'],
    ['twice.yaml', 'a: 1\nb: 2\na: 3\n', ':3: not valid YAML: duplicated mapping key'],
    ['bad.ts', 'const a: number = 1;\nexport default { webhooks: [ };\n', ':2: not valid code'],
    ['throws.cjs', '\nthrow new TypeError("no luck")\n', ':2: the config cannot be used: no luck'],
    ['string.mjs', 'throw "no luck"', ': the config threw a value that is not an Error'],
    ['named.ts', 'export const store: number = 1', ': the config cannot be used: it has no default export'],
    ['import.mjs', 'import "./nowhere.mjs"', ':1: the config cannot be used: Cannot find module'],
  ])('gives the position of the problem in %s', async (name, text, message) => {
    const folder = temporaryFolder({ [name]: text });
    expect((await failureOf(() => loadFile(join(folder, name), name))).message).toContain(
      `${name}${message}`,
    );
  });

  it.each([
    ['nested.yaml', nestedAliases(10)],
    ['.hooksrc', 'webhooks: &a [*a]\n'],
    ['itself.yaml', '&a\nsources: { one: *a }\n'],
    ['itself.mjs', 'const a = {}; a.webhooks = [a, a]; export default a'],
    ['package.json', `{ "hooks": { "webhooks": ${JSON.stringify(Array(100_000).fill('x'))} } }`],
  ])('rejects %s, which has too many values', async (name, text) => {
    const folder = temporaryFolder({ [name]: text });
    expect(await failureOf(() => loadFile(join(folder, name), name))).toMatchObject({
      message: `The config file ${name} has more than 100,000 values, or a value that contains itself`,
      hint: expect.stringContaining('*name') as string,
    });
  });

  it('accepts aliases that repeat little, and a package.json with much other content', async () => {
    const folder = temporaryFolder({
      'few.yaml': nestedAliases(3),
      'package.json': `{ "else": ${JSON.stringify(Array(100_000).fill('x'))}, "hooks": {} }`,
    });
    expect(await loadFile(join(folder, 'few.yaml'), 'few.yaml')).toHaveProperty('webhooks.2.9.9.9', 'x');
    expect(await loadFile(join(folder, 'package.json'), 'package.json')).toEqual({});
  });

  it.each([
    '{\n\t"a": [{ "b": 1 }, { "b": 2 }],\n\t"b": { "a": 1 }\n}',
    '{"<<":{"a":1},"a":2,"1":1,"1.0":2,"a ":3,"A":4,"null":5,"":6}',
    '{"constructor":1,"__proto__":2,"\\u00e9":3,"e\\u0301":4}',
    '{"a":12345678901234567890,"b":1E400,"c":-0,"d":"\\/\\ud83d\\ude00\\ud83d","e":"*x #y: &z"}',
    '{"a"\n:1,"b"\n:"\u007f"}',
    `{"${'k'.repeat(2_000)}":1,"a":${'['.repeat(150)}${']'.repeat(150)}}`,
    '"text"',
  ])('reads JSON without duplicate keys like JSON.parse: %j', async (text) => {
    const folder = temporaryFolder({ 'a.json': text });
    expect(await loadFile(join(folder, 'a.json'), 'a.json')).toEqual(JSON.parse(text));
  });

  it('accepts duplicate keys in a package.json', async () => {
    const text = `{"scripts":{"a":"b","a":"c"},"hooks":${JSON_TEXT}}`;
    const folder = temporaryFolder({ 'package.json': text });
    expect(await loadFile(join(folder, 'package.json'), 'package.json')).toEqual(VALUES);
  });

  it.each([
    ['a.json', '{"sharedSecret": "canary" x}'],
    ['b.json', '{"sharedSecret": canary}'],
    ['twice.json', '{"sharedSecret": "canary", "sharedSecret": "canary"}'],
    ['c.yaml', 'sharedSecret: *canary\n'],
    ['d.yaml', 'sharedSecret: "canary\n'],
    ['e.yaml', 'sharedSecret: !canary x\n'],
    ['f.yaml', 'sharedSecret: canary\nsharedSecret: canary\n'],
  ])('does not show the text of a broken file (%s)', async (name, text) => {
    const folder = temporaryFolder({ [name]: text });
    const { message, hint = '' } = await failureOf(() => loadFile(join(folder, name), name));
    expect(message + hint).not.toContain('canary');
  });

  it('runs code only once, even if it throws', async () => {
    const folder = temporaryFolder({
      'hooks.config.mjs': 'globalThis.timesRun = (globalThis.timesRun ?? 0) + 1; throw new Error("x")',
    });
    await failureOf(() => loadFile(join(folder, 'hooks.config.mjs'), 'hooks.config.mjs'));
    expect(Reflect.get(globalThis, 'timesRun')).toBe(1);
  });

  it('explains why a file cannot be read', async () => {
    const folder = temporaryFolder({ 'package.json': '{}', 'a.toml': '', 'locked.yaml': '' });
    await mkdir(join(folder, 'dir.json'));
    const messageFor = async (name: string) =>
      (await failureOf(() => loadFile(join(folder, name), name))).message;
    expect(await messageFor('dir.json')).toBe('The config file dir.json is a folder');
    expect(await messageFor('package.json')).toBe('The config file package.json has no key `hooks`');
    expect(await messageFor('a.toml')).toBe('The config file a.toml has the unknown ending .toml');
  });

  it('reports missing permission to read a file', async () => {
    const folder = temporaryFolder({ 'locked.yaml': '' });
    await chmod(join(folder, 'locked.yaml'), 0o000);
    await chmod(folder, 0o755);
    const { message } = await asNobody(() =>
      failureOf(() => loadFile(join(folder, 'locked.yaml'), 'locked.yaml')),
    );
    expect(message).toBe('The config file locked.yaml cannot be read: this user may not read it');
  });
});

/** YAML in which each level has ten aliases of the level before it. */
function nestedAliases(levels: number): string {
  const lines = Array.from({ length: levels }, (_, level) => {
    const repeated = Array(10).fill(level === 0 ? "'x'" : `*a${level - 1}`);
    return `  - &a${level} [${repeated.join(', ')}]\n`;
  });
  return `webhooks:\n${lines.join('')}`;
}
