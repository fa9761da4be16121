import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { expectRejected } from '../cli/expect-rejected.ts';
import { hooks } from '../cli/run-in-process.ts';
import { track } from './receiving.ts';
import { temporaryFolder } from '../temporary-folder.ts';

const GREEN = '<testsuites name="hooks" tests="1" failures="0" errors="0"/>';

const NO_SECRET = { HOOKS_SECRET: '' };
const CASES: Readonly<Record<string, { args: string[]; env?: Record<string, string>; sentence: RegExp }>> = {
  'nothing to replay': {
    args: ['replay', 'empty.json', '--loopback'],
    sentence: /^empty.json: nothing to read/,
  },
  'no file to replay': { args: ['replay', 'none.json', '--loopback'], sentence: /^none\.json: / },
  'an invalid URL': {
    args: ['replay', 'one.json', '--url', 'ftp://a/'],
    sentence: /^Expected `--url` to be a URL/,
  },
  'an invalid flag': { args: ['replay', 'one.json', '--loopback', '--rate', 'fast'], sentence: /`--rate`/ },
  'an empty secret of a receiver': {
    args: ['test', 'http://127.0.0.1:9/'],
    env: NO_SECRET,
    sentence: /HOOKS_SECRET/,
  },
  'no receiver to test': { args: ['test'], sentence: /^Expected the URL of the receiver/ },
  'an empty secret of a sender': {
    args: ['expect', '--count', '1'],
    env: NO_SECRET,
    sentence: /HOOKS_SECRET/,
  },
  'no expectation': { args: ['expect'], sentence: /^Nothing is expected/ },
};

function folder(): string {
  return temporaryFolder({
    'one.json': track(1),
    'empty.json': '',
    'r.xml': GREEN,
    'r.json': '{"results":[]}',
  });
}

describe('a report of an earlier run', () => {
  it.each(['--dry-run', '--curl'])('is kept by %s', async (flag) => {
    const cwd = folder();
    const args = ['replay', 'none.json', '--url', 'http://127.0.0.1:9/', flag, '--report', 'r.xml'];
    expect(await hooks(args, { cwd })).toMatchObject({ code: 2 });
    expect(await readFile(join(cwd, 'r.xml'), 'utf8')).toBe(GREEN);
  });
});

describe.concurrent('a report of an earlier run is replaced after', () => {
  it.each(Object.entries(CASES))('%s', async (_name, { args, env = {}, sentence }) => {
    const cwd = folder();
    const command = args[0] === 'expect' ? ['--', 'true'] : [];
    for (const report of ['r.xml', 'r.json']) {
      expect(await hooks([...args, '--report', report, ...command], { cwd, env })).toMatchObject({ code: 2 });
    }
    const xml = await readFile(join(cwd, 'r.xml'), 'utf8');
    expect(xml).toContain('<testsuites name="hooks" tests="1" failures="0" errors="1" skipped="0"');
    expect(xml).toContain(`<testcase classname="hooks ${args[0]}" name="the command"><error message="`);
    const { results, summary } = JSON.parse(await readFile(join(cwd, 'r.json'), 'utf8')) as Report;
    expect([results.length, summary]).toEqual([1, { errors: 1, ms: 0 }]);
    expect(results[0]).toMatchObject({ outcome: 'error', reason: expect.stringMatching(sentence) });
  });
});

interface Report {
  readonly results: readonly unknown[];
  readonly summary: unknown;
}

it.concurrent('the report of a failure never replaces an input', async () => {
  const cwd = folder();
  const before = await stat(join(cwd, 'one.json'));
  const report = ['--report', './one.json'];
  const runs = [
    ['one.json', 'none.json', '--loopback'],
    ['*.json', '--url', 'ftp://a/'],
    ['one.json', '--loopback'],
    ['none.json', '--loopback', '--failed', 'one.json'],
  ].map((args) => hooks(['replay', ...args, ...report], { cwd }));
  for (const { code } of await Promise.all(runs)) expect(code).toBe(2);
  expect((await stat(join(cwd, 'one.json'))).ino).toBe(before.ino);
  expect(await readFile(join(cwd, 'one.json'), 'utf8')).toBe(track(1));
});

it.concurrent('a report that cannot be written does not hide the first error', async () => {
  const cwd = folder();
  const args = ['test', 'http://127.0.0.1:9/', '--report', 'none/r.xml'];
  await expectRejected(args, /^error: .*HOOKS_SECRET.*\nhint: .*\n$/, { cwd, env: NO_SECRET });
});
