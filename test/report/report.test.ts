import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { openReport } from '../../src/report/open-report.ts';
import { escapeXml } from '../../src/report/xml.ts';
import { result, summary } from './results.ts';
import { temporaryFolder } from '../temporary-folder.ts';

let folder: string;

beforeEach(() => {
  folder = temporaryFolder();
});

const at = (name: string): string => join(folder, name);

async function written(name: string, results: readonly ReturnType<typeof result>[]): Promise<string> {
  const report = await openReport(at(name));
  for (const each of results) await report.add(each);
  await report.finish(summary());
  return readFileSync(at(name), 'utf8');
}

/** What Python's parser, which is none of ours, reads: tags with their attributes and text. */
function parsedXml(file: string): { tag: string; attributes: Record<string, string>; text: string }[] {
  const script =
    'import json,sys,xml.etree.ElementTree as e;print(json.dumps([{"tag":x.tag,"attributes":x.attrib,"text":x.text or ""} for x in e.parse(sys.argv[1]).iter()]))';
  return JSON.parse(execFileSync('python3', ['-c', script, file], { encoding: 'utf8' })) as ReturnType<
    typeof parsedXml
  >;
}

describe('a JUnit report', () => {
  it('has the totals before the cases', async () => {
    await written('r.xml', [
      result(),
      result({ outcome: 'queued' }),
      result({
        outcome: 'failed',
        error: 'http-5xx',
        status: 503,
        reason: '503 Service Unavailable',
        url: 'http://a/',
      }),
      result({ outcome: 'invalid', reason: 'no `type`' }),
      result({ outcome: 'unsent' }),
      result({ outcome: 'filtered' }),
    ]);
    const [suites, suite] = parsedXml(at('r.xml'));
    const totals = { tests: '6', failures: '1', errors: '2', skipped: '1', time: '1.500' };
    expect(suites).toMatchObject({ tag: 'testsuites', attributes: totals });
    expect(suite).toMatchObject({ tag: 'testsuite', attributes: totals });
  });

  it('says of each message what became of it', async () => {
    await written('r.xml', [
      result(),
      result({
        outcome: 'failed',
        error: 'http-5xx',
        status: 503,
        reason: '503 "busy"',
        messageId: 'm',
        attempts: 2,
      }),
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

  it('is well-formed whatever the texts hold', async () => {
    const nasty = '<&>"\' \u0000\u0007\u001b[31m \ud800 x\ufffe ]]> \n\t é 😀';
    await written('r.xml', [result({ name: nasty, outcome: 'failed', reason: nasty })]);
    const [, , testcase, failure] = parsedXml(at('r.xml'));
    const shown = '<&>"\' \\u0000\\u0007\\u001b[31m \\ud800 x\\ufffe ]]> \n\t é 😀';
    expect(testcase?.attributes['name']).toBe(`${shown} (line 3)`);
    expect(failure?.attributes['message']).toBe(shown);
    expect(failure?.text).toContain(shown);
  });

  it('is whole for many results', async () => {
    await written(
      'r.xml',
      Array.from({ length: 5_000 }, () => result()),
    );
    const elements = parsedXml(at('r.xml'));
    expect(elements).toHaveLength(5_002);
    expect(elements[0]?.attributes['tests']).toBe('5000');
  });
});

describe('a JSON report', () => {
  it('holds the results and the summary', async () => {
    const text = await written('r.json', [result(), result({ outcome: 'failed', error: 'timeout' })]);
    expect(JSON.parse(text)).toEqual({
      results: [
        { name: 'track "Signup"', outcome: 'delivered', attempts: 1, ms: 12.4, origin: 'in.ndjson:3' },
        {
          name: 'track "Signup"',
          outcome: 'failed',
          error: 'timeout',
          attempts: 1,
          ms: 12.4,
          origin: 'in.ndjson:3',
        },
      ],
      summary: summary(),
    });
    expect(text.split('\n')).toHaveLength(5);
  });

  it('is valid without results', async () => {
    expect(JSON.parse(await written('r.json', []))).toEqual({ results: [], summary: summary() });
  });
});

describe('the file of a report', () => {
  it('is chosen by its extension, in either case', async () => {
    expect(await written('R.XML', [])).toMatch(/^<\?xml /);
    await expect(openReport(at('r.txt'))).rejects.toMatchObject({
      code: 'ERR_HOOKS_CONFIG',
      origin: '--report',
    });
  });

  it('is not touched before the report is complete', async () => {
    writeFileSync(at('r.json'), 'old');
    const report = await openReport(at('r.json'));
    await report.add(result());
    expect(readFileSync(at('r.json'), 'utf8')).toBe('old');
    await report.finish(summary());
    expect(readFileSync(at('r.json'), 'utf8')).not.toBe('old');
    expect(readdirSync(folder)).toEqual(['r.json']);
  });

  it('leaves nothing behind when it is abandoned', async () => {
    const report = await openReport(at('r.xml'));
    await report.add(result());
    await report.abandon();
    expect(readdirSync(folder)).toEqual([]);
  });

  it('takes away what a killed process has left of it, and nothing else', async () => {
    const child = spawn('true');
    await once(child, 'close');
    const [gone, alive] = [child.pid ?? 0, process.ppid].map((pid) => `.r.xml.${pid}-00000000-1.tmp`);
    const others = [alive, `.other.xml.${child.pid}-00000000-1.tmp`, '.r.xml.tmp', '.r.xml.notes.tmp'];
    for (const name of [gone, ...others]) writeFileSync(at(name ?? ''), '');
    await written('r.xml', []);
    expect(new Set(readdirSync(folder))).toEqual(new Set([...others, 'r.xml']));
  });

  it('is refused at once when it cannot be written', async () => {
    mkdirSync(at('folder.xml'));
    await expect(openReport(at('missing/r.xml'))).rejects.toMatchObject({
      message: 'cannot be written: there is no such folder',
      file: at('missing/r.xml'),
    });
    await expect(openReport(at('folder.xml'))).rejects.toThrow('it is a folder');
  });

  it.skipIf(!existsSync('/proc/self'))('is refused at once where nothing may be written', async () => {
    await expect(openReport('/proc/r.xml')).rejects.toThrow('cannot be written');
  });
});

describe('escaping for XML', () => {
  it('leaves ordinary text alone', () => {
    expect(escapeXml("Größe 5' 日本 😀")).toBe("Größe 5' 日本 😀");
  });
});

describe.each(['r.xml', 'r.json'])('the file of a report, %s', (name) => {
  it('is for its owner only, also in the place of an older one', async () => {
    await written(name, [result()]);
    expect(statSync(at(name)).mode & 0o777).toBe(0o600);
    chmodSync(at(name), 0o644);
    await written(name, [result()]);
    expect(statSync(at(name)).mode & 0o777).toBe(0o600);
  });

  it('is not written through a symbolic link', async () => {
    writeFileSync(at('precious'), 'precious');
    symlinkSync('precious', at(name));
    await expect(openReport(at(name))).rejects.toMatchObject({
      message: 'cannot be written: it is a symbolic link',
      file: at(name),
    });
    expect(readFileSync(at('precious'), 'utf8')).toBe('precious');
    expect(readdirSync(folder).toSorted()).toEqual(['precious', name]);
  });
});
