// Needs python3.
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { openReport } from '../../src/report/open-report.ts';
import { hasTool } from '../external-tool.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { result, summary } from './results.ts';

let folder: string;

beforeEach(() => {
  folder = temporaryFolder();
});

const at = (name: string): string => join(folder, name);

async function written(name: string, results: readonly ReturnType<typeof result>[]): Promise<void> {
  const report = await openReport(at(name));
  for (const each of results) await report.add(each);
  await report.finish(summary());
}

const FAILED = { outcome: 'failed', error: 'http-5xx', status: 503 } as const;

/** Tags with their attributes and text, as read by Python's XML parser. */
function parsedXml(file: string): { tag: string; attributes: Record<string, string>; text: string }[] {
  const script =
    'import json,sys,xml.etree.ElementTree as e;print(json.dumps([{"tag":x.tag,"attributes":x.attrib,"text":x.text or ""} for x in e.parse(sys.argv[1]).iter()]))';
  return JSON.parse(execFileSync('python3', ['-c', script, file], { encoding: 'utf8' })) as ReturnType<
    typeof parsedXml
  >;
}

describe.skipIf(!hasTool('python3', '--version'))('a JUnit report', () => {
  it('has the totals before the cases', async () => {
    await written('r.xml', [
      result(),
      result({ outcome: 'queued' }),
      result({ ...FAILED, reason: '503 Service Unavailable', url: 'http://a/' }),
      result({ outcome: 'invalid', reason: 'no `type`' }),
      result({ outcome: 'unsent' }),
      result({ outcome: 'filtered' }),
    ]);
    const [suites, suite] = parsedXml(at('r.xml'));
    const totals = { tests: '6', failures: '1', errors: '2', skipped: '1', time: '1.500' };
    expect(suites).toMatchObject({ tag: 'testsuites', attributes: totals });
    expect(suite).toMatchObject({ tag: 'testsuite', attributes: totals });
  });

  it('reports the outcome of each message', async () => {
    await written('r.xml', [
      result(),
      result({ ...FAILED, reason: '503 "busy"', messageId: 'm', attempts: 2 }),
      result({ outcome: 'invalid', ms: undefined }),
    ]);
    const [, , delivered, failed, failure, invalid, error] = parsedXml(at('r.xml'));
    expect(delivered?.attributes).toEqual({
      classname: 'in.ndjson',
      name: 'track "Signup" (line 3)',
      file: 'in.ndjson',
      line: '3',
      time: '0.012',
    });
    expect(failed?.tag).toBe('testcase');
    expect(failure).toMatchObject({
      tag: 'failure',
      attributes: { message: '503 "busy"', type: 'http-5xx' },
    });
    expect(failure?.text.split('\n')).toEqual([
      'outcome: failed',
      'origin: in.ndjson:3',
      'messageId: m',
      'status: 503',
      'error: http-5xx',
      'attempts: 2',
      'reason: 503 "busy"',
    ]);
    expect(invalid?.attributes).not.toHaveProperty('time');
    expect(error).toMatchObject({ tag: 'error', attributes: { message: 'invalid', type: 'invalid' } });
  });

  it('is well-formed for any text', async () => {
    const nasty = '<&>"\' \u0000\u0007\u001b[31m \ud800 x\ufffe ]]> \n\t é 😀';
    await written('r.xml', [result({ name: nasty, outcome: 'failed', reason: nasty })]);
    const [, , testcase, failure] = parsedXml(at('r.xml'));
    const shown = '<&>"\' \\u0000\\u0007\\u001b[31m \\ud800 x\\ufffe ]]> \n\t é 😀';
    expect(testcase?.attributes['name']).toBe(`${shown} (line 3)`);
    expect(failure?.attributes['message']).toBe(shown);
    expect(failure?.text).toContain(shown);
  });

  it('is complete for many results', async () => {
    await written(
      'r.xml',
      Array.from({ length: 5_000 }, () => result()),
    );
    const elements = parsedXml(at('r.xml'));
    expect(elements).toHaveLength(5_002);
    expect(elements[0]?.attributes['tests']).toBe('5000');
  });
});
