import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
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

/** Characters that change the text direction, or end a line. */
const TURNING = '\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f\u061c\u2028\u2029';

describe.each(['r.json', 'r.xml'])('a report %s', (name) => {
  it('escapes characters that change the text direction', async () => {
    const text = await written(name, [
      result({ name: TURNING, outcome: 'failed', error: 'timeout', reason: TURNING }),
    ]);
    expect(text).not.toMatch(new RegExp(`[${TURNING}]`));
    expect(text).toContain(String.raw`\u202e`);
  });
});

describe('a JSON report', () => {
  it('has the results and the summary', async () => {
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
  it('has its format by its extension, in upper or lower case', async () => {
    expect(await written('R.XML', [])).toMatch(/^<\?xml /);
    await expect(openReport(at('r.txt'))).rejects.toMatchObject({
      code: 'ERR_HOOKS_CONFIG',
      origin: '--report',
    });
  });

  it('is unchanged until the report is complete', async () => {
    writeFileSync(at('r.json'), 'old');
    const report = await openReport(at('r.json'));
    await report.add(result());
    expect(readFileSync(at('r.json'), 'utf8')).toBe('old');
    await report.finish(summary());
    expect(readFileSync(at('r.json'), 'utf8')).not.toBe('old');
    expect(readdirSync(folder)).toEqual(['r.json']);
  });

  it('is removed if the report is abandoned', async () => {
    const report = await openReport(at('r.xml'));
    await report.add(result());
    await report.abandon();
    expect(readdirSync(folder)).toEqual([]);
  });

  it('removes only its own remains of a killed process', async () => {
    const child = spawn('true');
    await once(child, 'close');
    const [gone, alive] = [child.pid ?? 0, process.ppid].map((pid) => `.r.xml.${pid}-00000000-1.tmp`);
    const others = [alive, `.other.xml.${child.pid}-00000000-1.tmp`, '.r.xml.tmp', '.r.xml.notes.tmp'];
    for (const name of [gone, ...others]) writeFileSync(at(name ?? ''), '');
    await written('r.xml', []);
    expect(new Set(readdirSync(folder))).toEqual(new Set([...others, 'r.xml']));
  });
});

describe('escaping for XML', () => {
  it('does not change ordinary text', () => {
    expect(escapeXml("Größe 5' 日本 😀")).toBe("Größe 5' 日本 😀");
  });
});

describe.each(['r.xml', 'r.json'])('the file of a report, %s', (name) => {
  it('is accessible only to its owner, also if it replaces an older file', async () => {
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
      message: 'Cannot be written: it is a symbolic link',
      file: at(name),
    });
    expect(readFileSync(at('precious'), 'utf8')).toBe('precious');
    expect(readdirSync(folder).toSorted()).toEqual(['precious', name]);
  });
});
