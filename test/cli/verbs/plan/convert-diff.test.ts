import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { jsonLines } from '../../../end-to-end/receiving.ts';
import { temporaryFolder } from '../../../temporary-folder.ts';
import { hooks } from '../../run-in-process.ts';

const rule = (key: string | null, version = 1, type = 'TRACK'): object => {
  const properties = { properties: { type: 'object', properties: { a: { type: 'integer' } } } };
  return { key, type, version, jsonSchema: { type: 'object', properties } };
};
const plan = (...rules: readonly object[]): string => JSON.stringify({ rules });

const sorted = (all: readonly object[]): unknown[] =>
  all.map((each) => JSON.stringify({ ...each, jsonSchema: undefined })).toSorted();

it('converts a plan to a folder and back without losing a rule', async () => {
  const events = ['Order Completed', 'order-completed', '☃', 'identify', '../up', 'a'.repeat(200)];
  const rules = [
    ...events.map((event) => rule(event)),
    rule('Order Completed', 2),
    rule(null, 1, 'IDENTIFY'),
  ];
  const cwd = temporaryFolder({ 'plan.json': plan(...rules, rule(null, 1, 'COMMON')) });
  const folder = await hooks(['plan', 'convert', 'plan.json', '--to', 'folder', '--out', 's'], { cwd });
  expect(folder).toMatchObject({ code: 0, stderr: '9 rules in 9 files\n' });
  expect(readdirSync(join(cwd, 's')).toSorted().slice(0, 5)).toEqual([
    `${'a'.repeat(80)}.v1.json`,
    'common.v1.json',
    'event.v1.json',
    'identify.v1.json',
    'identify_event.v1.json',
  ]);
  const back = await hooks(['plan', 'convert', 's'], { cwd });
  const { rules: found } = JSON.parse(back.stdout) as { rules: { key: string; version: number }[] };
  expect(sorted(found)).toEqual(sorted(JSON.parse(plan(...rules, rule(null, 1, 'COMMON'))).rules));
  expect(await hooks(['plan', 'diff', 'plan.json', 's'], { cwd })).toMatchObject({
    code: 0,
    stdout: 'the plans accept the same messages\n',
  });
});

it('writes parts with at most 200 rules for the API', async () => {
  const rules = Array.from({ length: 401 }, (_, index) => rule(`Event ${index}`));
  const cwd = temporaryFolder({ 'plan.json': plan(...rules) });
  await hooks(['plan', 'convert', 'plan.json', '--out', 'parts'], { cwd });
  const counts = readdirSync(join(cwd, 'parts')).map((name) => {
    return (JSON.parse(readFileSync(join(cwd, 'parts', name), 'utf8')) as { rules: unknown[] }).rules.length;
  });
  expect(counts).toEqual([200, 200, 1]);
});

it('rejects a plan that lint rejects, with the same error', async () => {
  const wrong = { ...rule('A'), jsonSchema: { type: 'objects' } };
  const cwd = temporaryFolder({ 'wrong.json': plan(wrong), 'plan.json': plan(rule('A')), 'a.ndjson': '{}' });
  const rejected = await hooks(['plan', 'lint', 'wrong.json', 'a.ndjson'], { cwd });
  expect(rejected).toMatchObject({ code: 2, stdout: '' });
  expect(await hooks(['plan', 'convert', 'wrong.json'], { cwd })).toEqual(rejected);
  expect(await hooks(['plan', 'diff', 'plan.json', 'wrong.json'], { cwd })).toEqual(rejected);
  expect(await hooks(['plan', 'diff', 'wrong.json', 'plan.json'], { cwd })).toEqual(rejected);
});

it.each([
  ['no folder to write to', ['--to', 'folder'], 'name the folder: --out schemas'],
  ['a folder with files', ['--out', '.'], 'expected an empty or a new folder'],
])('rejects %s, and writes nothing', async (_what, args, sentence) => {
  const cwd = temporaryFolder({ 'plan.json': plan(rule('A')) });
  const { code, stderr } = await hooks(['plan', 'convert', 'plan.json', ...args], { cwd });
  expect([code, stderr]).toEqual([2, expect.stringContaining(sentence)]);
  expect(readdirSync(cwd)).toEqual(['plan.json']);
});

it('compares two plans as text, JSON and Markdown, and exits with 1 for a breaking change', async () => {
  const cwd = temporaryFolder({
    'old.json': plan(rule('A'), rule('a|`b`')),
    'new.json': plan(rule('A'), rule('B')),
  });
  const diff = (...args: readonly string[]) =>
    hooks(['plan', 'diff', 'old.json', 'new.json', ...args], { cwd });
  expect(await diff()).toMatchObject({
    code: 1,
    stdout:
      '✓ compatible  track "B"  is new\n✗ breaking    track "a|`b`"  is gone\n1 breaking, 1 compatible\n',
  });
  const { stdout } = await diff('-o', 'json');
  expect(jsonLines(stdout)).toEqual([
    { change: 'compatible', type: 'track', event: 'B', version: 1, path: '', what: 'is new' },
    { change: 'breaking', type: 'track', event: 'a|`b`', version: 1, path: '', what: 'is gone' },
    { summary: { breaking: 1, compatible: 1 } },
  ]);
  expect((await diff('--markdown')).stdout).toContain(
    '| breaking | `` track "a\\|`b`" `` |  | `is gone` |\n',
  );
});
