import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { openCaseReport, type ReportedCase } from '../../src/report/case-report.ts';
import { temporaryFolder } from '../temporary-folder.ts';

let folder: string;
beforeEach(() => {
  folder = temporaryFolder();
});

const classname = 'http://a/';
const FAILURE = { message: 'it said <no> & "\u0007"', type: 'http-5xx', details: 'first\nsecond' };
const CASES: readonly ReportedCase[] = [
  { classname, name: 'one', outcome: 'passed', ms: 12, line: { check: 'one' } },
  { classname, name: 'two', outcome: 'failure', ms: 3, ...FAILURE, line: { check: 'two' } },
  { classname, name: 'three', outcome: 'skipped', message: 'no secret', line: { check: 'three' } },
  { classname, name: 'four', outcome: 'error', message: 'gone', type: 'unsent', line: { check: 'four' } },
];

async function written(name: string): Promise<string> {
  const report = await openCaseReport(join(folder, name), { name, suite: 'hooks test' });
  await report.finish(CASES, { ms: 1_500 });
  return readFileSync(join(folder, name), 'utf8');
}

describe('a report of cases', () => {
  it.each(['r.xml', 'r.json'])('escapes characters that change the text direction: %s', async (name) => {
    const report = await openCaseReport(join(folder, name), { name, suite: 'hooks expect' });
    const text = 'a\u202eb\u2066c\u2069';
    const named = { classname: text, name: text, line: { name: text } };
    const failed = { ...named, outcome: 'failure', message: text, details: text } as const;
    await report.finish([failed], { ms: 1 }, text);
    const content = readFileSync(join(folder, name), 'utf8');
    expect(content).not.toMatch(/[\u202a-\u202e\u2066-\u2069]/);
    expect(content).toContain(String.raw`a\u202eb\u2066c\u2069`);
  });

  it('is JUnit in an .xml file', async () => {
    expect((await written('r.xml')).split('\n')).toEqual([
      '<?xml version="1.0" encoding="UTF-8"?>',
      '<testsuites name="hooks" tests="4" failures="1" errors="1" skipped="1" time="1.500">',
      '<testsuite name="hooks test" tests="4" failures="1" errors="1" skipped="1" time="1.500">',
      '<testcase classname="http://a/" name="one" time="0.012"/>',
      '<testcase classname="http://a/" name="two" time="0.003"><failure message="it said &lt;no&gt; &amp; &quot;\\u0007&quot;" type="http-5xx">first&#10;second</failure></testcase>',
      '<testcase classname="http://a/" name="three"><skipped message="no secret"/></testcase>',
      '<testcase classname="http://a/" name="four"><error message="gone" type="unsent"></error></testcase>',
      '</testsuite>',
      '</testsuites>',
      '',
    ]);
  });

  it('is JSON in a .json file', async () => {
    expect(JSON.parse(await written('r.json'))).toEqual({
      results: CASES.map(({ line }) => line),
      summary: { ms: 1_500 },
    });
  });

  it('replaces an older file only when it is complete', async () => {
    writeFileSync(join(folder, 'r.xml'), 'old');
    const report = await openCaseReport(join(folder, 'r.xml'), { name: 'r.xml', suite: 's' });
    expect(readFileSync(join(folder, 'r.xml'), 'utf8')).toBe('old');
    await report.finish([], { ms: 1 });
    expect(readFileSync(join(folder, 'r.xml'), 'utf8')).toContain('tests="0"');
    expect(readdirSync(folder)).toEqual(['r.xml']);
  });
});
