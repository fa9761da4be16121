import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { jsonLines } from '../../../end-to-end/receiving.ts';
import { temporaryFolder } from '../../../temporary-folder.ts';
import { hooks, startHooks } from '../../run-in-process.ts';

const schema = { properties: { properties: { properties: { n: { type: 'integer' } }, required: ['n'] } } };
const PLAN = JSON.stringify({ rules: [{ key: 'A', type: 'TRACK', version: 1, jsonSchema: schema }] });
const message = (properties: object, event = 'A'): string =>
  JSON.stringify({ type: 'track', event, userId: 'u', properties });
const GOOD = message({ n: 1 });

const lint = (files: Record<string, string>, ...args: readonly string[]) => {
  const cwd = temporaryFolder({ 'plan.json': PLAN, ...files });
  return hooks(['plan', 'lint', ...args], { cwd, stdin: files['<stdin>'] ?? '' }).then((result) => ({
    ...result,
    cwd,
  }));
};

it('prints file, line, event, place and reason of each violation, and exits with 1', async () => {
  const lines = [
    GOOD,
    message({ n: 'x' }),
    message({ n: 1, nn: 2 }),
    message({}, 'B'),
    '{"type":"track"}',
    '{',
  ];
  const { code, stdout } = await lint({ 'm.ndjson': lines.join('\n') }, 'plan.json', 'm.ndjson');
  expect(stdout.split('\n').slice(0, 5)).toEqual([
    'm.ndjson:2  A  /properties/n  Expected a value of type integer, got "x"',
    'm.ndjson:3  A  /properties/nn  Expected nothing (is "n" meant?), got 2',
    'm.ndjson:4  B  /event  Expected an event with a schema, got "B"',
    expect.stringMatching(/^m\.ndjson:5 {2}track {2}It is not a message that a tracking API accepts: /),
    expect.stringMatching(/^m\.ndjson:6 {2}no message {2}It is not a message: /),
  ]);
  expect(stdout).toContain('\n6 messages read, 1 follows the plan; 5 violations: 2 other, 1 type, ');
  expect(code).toBe(1);
});

it('reads batches, captures and standard input as replay does, and exits with 0', async () => {
  const batch = `{"batch":[${GOOD},${GOOD}]}`;
  const { code, stdout } = await lint({ 'b.json': batch, '<stdin>': GOOD }, 'plan.json', 'b.json', '-');
  expect([code, stdout]).toEqual([0, '3 messages read, all follow the plan\n']);
});

it('prints JSON for programs', async () => {
  const { stdout } = await lint({ 'm.json': message({ n: 'x' }) }, 'plan.json', 'm.json', '-o', 'json');
  expect(jsonLines(stdout)).toEqual([
    {
      file: 'm.json',
      line: 1,
      type: 'track',
      event: 'A',
      pointer: '/properties/n',
      kind: 'type',
      expected: 'a value of type integer',
      got: 'x',
    },
    { summary: { read: 1, valid: 0, violations: 1 } },
  ]);
});

it('accepts unplanned names with --allow-unplanned, and some violations with --max-violations', async () => {
  const files = { 'm.ndjson': [message({ n: 1, m: 1 }), message({}, 'B'), message({ n: 'x' })].join('\n') };
  expect(await lint(files, 'plan.json', 'm.ndjson', '--max-violations', '3')).toMatchObject({ code: 0 });
  expect(await lint(files, 'plan.json', 'm.ndjson', '--max-violations', '2')).toMatchObject({ code: 1 });
  const unreadable = await lint(
    { 'm.ndjson': `${GOOD}\n{` },
    'plan.json',
    'm.ndjson',
    '--max-violations',
    '9',
  );
  expect(unreadable.code).toBe(1);
  const { stdout } = await lint(files, 'plan.json', 'm.ndjson', '--allow-unplanned');
  expect(stdout).toContain('1 violation: 1 type');
});

it.each(['sarif', 'xml', 'json'])('writes a report with each violation in the format %s', async (format) => {
  const files = { 'm.ndjson': [GOOD, message({ n: 'x' })].join('\n') };
  const { cwd } = await lint(files, 'plan.json', 'm.ndjson', '--report', `r.${format}`);
  const report = readFileSync(join(cwd, `r.${format}`), 'utf8');
  const expected = {
    sarif: [
      '"ruleId":"type"',
      '"A: /properties/n: Expected a value of type integer',
      '"uri":"m.ndjson"',
      '"startLine":2',
      '"version":"2.1.0"',
    ],
    xml: [
      'tests="2" failures="1"',
      'message="/properties/n: Expected a value',
      'name="hooks plan lint"',
      'type="type"',
      'line="2"',
    ],
    json: ['"outcome":"violation"', '"error":"type"', '"origin":"m.ndjson:2"', '"violations":1'],
  }[format];
  for (const part of expected ?? []) expect(report).toContain(part);
  if (format !== 'xml') expect(JSON.parse(report)).toBeTypeOf('object');
});

it.each([
  ['a plan that is missing', ['none.json', 'm.json'], 'none.json: cannot be read: there is no such file'],
  [
    'a plan that is no plan',
    ['m.json', 'm.json'],
    'expected a JSON Schema that compiles: expected a value of type object',
  ],
  ['a file that is missing', ['plan.json', 'none.json'], 'none.json: no such file'],
  ['a file without a message', ['plan.json', 'empty.json'], 'there is no message in it'],
  ['a program in place of messages', ['plan.json', 'code.js'], 'there is no message in it'],
  [
    'a report of another format',
    ['plan.json', 'm.json', '--report', 'r.txt'],
    'to end in .sarif or .xml or .json',
  ],
])('exits with 2 for %s', async (_what, args, sentence) => {
  const { code, stderr } = await lint(
    { 'm.json': GOOD, 'empty.json': '', 'code.js': 'const a = 1;\nrun(a);\n' },
    ...args,
  );
  expect([code, stderr.toLowerCase()]).toEqual([2, expect.stringContaining(sentence.toLowerCase())]);
});

it('says plainly that a required property is missing', async () => {
  const rule = { type: 'object', properties: { properties: { type: 'object', required: ['n'] } } };
  const plan = JSON.stringify({ rules: [{ key: 'A', type: 'TRACK', version: 1, jsonSchema: rule }] });
  const { code, stdout } = await lint({ 'p.json': plan, 'm.ndjson': message({}) }, 'p.json', 'm.ndjson');
  expect([code, stdout.split('\n')[0]]).toEqual([1, 'm.ndjson:1  A  /properties/n  n is missing']);
});

it('writes no report and no summary if it is interrupted', async () => {
  const cwd = temporaryFolder({ 'plan.json': PLAN, 'm.ndjson': `${message({ n: 'x' })}\n`.repeat(50_000) });
  const running = startHooks(['plan', 'lint', 'plan.json', 'm.ndjson', '--report', 'r.xml'], { cwd });
  await running.lines.next();
  const { code, stdout, stderr } = await running.stop();
  expect([code, stderr]).toEqual([
    130,
    expect.stringMatching(/^interrupted after [\d,]+ messages; no report is written\n$/),
  ]);
  expect(stdout).not.toContain('messages read');
  expect(existsSync(join(cwd, 'r.xml'))).toBe(false);
});

it('aligns its columns at a terminal, and prints each sentence below', async () => {
  const long = 'a-very-long-event-name-of-forty-characters';
  const lines = [message({ n: 'x' }), message({ n: 1, [`p${'x'.repeat(90)}`]: 2 }), message({}, long)];
  const cwd = temporaryFolder({
    'plan.json': PLAN,
    'folder/of/messages-of-november.ndjson': lines.join('\n'),
  });
  const args = ['plan', 'lint', 'plan.json', 'folder/of/messages-of-november.ndjson'];
  const { stdout } = await hooks(args, { cwd, terminalColumns: 80 });
  const shown = stdout.trimEnd().split('\n');
  expect(shown.filter((line) => line.length > 80)).toEqual([]);
  const heads = shown.filter((line) => /ndjson:\d /.test(line));
  expect(heads.map((line) => line.indexOf(' /'))).toEqual([45, 45, 45]);
  expect(shown[0]).toBe(`folder/of/me…er.ndjson:1 A${' '.repeat(20)}/properties/n`);
  expect(shown[1]).toBe('  Expected a value of type integer, got "x"');
});
