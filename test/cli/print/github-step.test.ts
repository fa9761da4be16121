import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { GithubStep } from '../../../src/cli/print/github-step.ts';
import { track } from '../../end-to-end/receiving.ts';
import { freePort } from '../../free-port.ts';
import { temporaryFolder } from '../../temporary-folder.ts';
import { hooks } from '../run-in-process.ts';

let cwd: string;
let env: Record<string, string>;
beforeEach(() => {
  cwd = temporaryFolder({ 'one.json': track(1), 'bad.ndjson': `${track(1)}\n{"type":"trac"}\n` });
  env = { GITHUB_ACTIONS: 'true', GITHUB_STEP_SUMMARY: join(cwd, 'summary.md') };
});

const summary = (): string => readFileSync(join(cwd, 'summary.md'), 'utf8');
const annotations = (stderr: string): string[] =>
  stderr.split('\n').filter((line) => line.startsWith('::error '));

describe('in a workflow of GitHub', () => {
  it('replay annotates the line of each message that was not delivered', async () => {
    const { code, stderr } = await hooks(['replay', 'bad.ndjson', '--loopback'], { cwd, env });
    expect(code).toBe(1);
    expect(annotations(stderr)).toEqual([
      expect.stringMatching(
        /^::error file=bad\.ndjson,line=2,title=hooks replay%3A invalid entry::Expected `type` to be page, .*%0Adid you mean "track"\?$/,
      ),
    ]);
    expect(summary()).toMatch(/^### ✗ hooks replay\n\nread 2<br>delivered 1<br>invalid 1/);
    expect(summary()).toContain(
      '| bad.ndjson:2: hooks replay: invalid entry | Expected &#96;type&#96; to be page, ',
    );
  });

  it('replay annotates a common cause once, with the number of its messages', async () => {
    const names = Array.from({ length: 12 }, (_, index) => `${index}.json`);
    cwd = temporaryFolder({
      'bad.json': '{"type":"trac"}',
      ...Object.fromEntries(names.map((name) => [name, track(1)])),
    });
    env['GITHUB_STEP_SUMMARY'] = join(cwd, 'summary.md');
    const url = `http://127.0.0.1:${await freePort()}/`;
    const flags = ['--url', url, '--retry-for', '0', '--concurrency', '1'];
    const { stderr } = await hooks(['replay', 'bad.json', ...names, ...flags], { cwd, env });
    expect(annotations(stderr).toSorted()).toEqual([
      expect.stringMatching(/^::error file=0\.json,line=1,title=.* and 11 more::/),
      expect.stringMatching(/^::error file=bad\.json,line=1,title=hooks replay%3A invalid entry::/),
    ]);
    expect(summary().match(/^\| \S+\.json:1: /gm)).toHaveLength(2);
    expect(summary()).toContain('and 11 more | ');
  });

  it('a replay of standard input names no file', async () => {
    const run = await hooks(['replay', '-', '--loopback'], { cwd, env, stdin: '{"type":"trac"}\n' });
    expect(annotations(run.stderr)).toEqual([expect.stringMatching(/^::error title=hooks replay/)]);
  });

  it('a receiver that does not start is one error, with its output in the report', async () => {
    const url = `http://127.0.0.1:${await freePort()}/`;
    const command = ['sh', '-c', 'echo "out & <in>"; exit 3'];
    const { code, stderr } = await hooks(
      ['test', url, '--secret', 's', '--report', 'r.xml', '--', ...command],
      { cwd, env },
    );
    expect(code).toBe(2);
    expect(annotations(stderr)).toHaveLength(1);
    expect(annotations(stderr)[0]).toMatch(/::The receiver ended with exit code 3 .*%0Alook at its output/);
    const xml = readFileSync(join(cwd, 'r.xml'), 'utf8');
    expect(xml).toContain('<testsuites name="hooks" tests="1" failures="0" errors="1"');
    expect(xml).toContain('<system-err>out &amp; &lt;in&gt;&#10;</system-err>');
    expect(summary()).toMatch(/^### ✗ hooks test\n\n1 not tried\n/);
  });

  it('expect annotates a missing message, and shows the output of its command', async () => {
    const flags = ['--messages', '1', '--within', '1s', '--report', 'r.xml'];
    const command = ['--', 'sh', '-c', 'echo "sent $HOOKS_SECRET"'];
    const run = await hooks(['expect', ...flags, '--secret', 'hidden-one', ...command], { cwd, env });
    expect(run.code).toBe(1);
    expect(annotations(run.stderr)).toEqual([
      '::error title=hooks expect%3A messages::Expected 1 message, got no request',
    ]);
    expect(readFileSync(join(cwd, 'r.xml'), 'utf8')).toContain('<system-err>sent ***&#10;</system-err>');
  });

  it('a command that cannot run reports why, and appends to the summary of earlier steps', async () => {
    await hooks(['replay', 'one.json', '--loopback'], { cwd, env });
    const { code, stderr } = await hooks(['replay', 'none.json', '--loopback'], { cwd, env });
    expect(code).toBe(2);
    expect(annotations(stderr)).toEqual([
      expect.stringMatching(/^::error file=none\.json,title=hooks replay::none/),
    ]);
    expect(summary()).toMatch(/^### ✓ hooks replay\n[^]*### ✗ hooks replay\n/);
  });

  it('a summary that cannot be written does not change the result', async () => {
    env['GITHUB_STEP_SUMMARY'] = join(cwd, 'none', 'summary.md');
    const { code, stderr } = await hooks(['replay', 'one.json', '--loopback'], { cwd, env });
    expect([code, stderr]).toEqual([0, 'note: the summary cannot be added to GITHUB_STEP_SUMMARY: ENOENT\n']);
  });

  it('commands annotate nothing outside of a workflow', async () => {
    delete env['GITHUB_ACTIONS'];
    const { stderr } = await hooks(['replay', 'bad.ndjson', '--loopback'], { cwd, env });
    expect(annotations(stderr)).toEqual([]);
    expect(summary).toThrow('ENOENT');
  });
});

const stepIo = (note: (line: string) => unknown) => ({
  env,
  note: (line: string) => void note(line),
  verbatim: { out: () => {}, note: (line: string) => void note(line) },
});

describe('a step of a GitHub workflow', () => {
  const lines: string[] = [];
  const failing = (count: number, message: string): Promise<void> => {
    lines.length = 0;
    const step = new GithubStep(
      'hooks test',
      stepIo((line) => lines.push(line)),
    );
    for (let index = 0; index < count; index++) step.fail({ title: 'a,b:c', message });
    return step.end();
  };

  it('prints at most ten annotations, as many as GitHub shows, and counts the others in the summary', async () => {
    await failing(60, 'no');
    expect(lines).toHaveLength(10);
    expect(lines.at(-1)).toBe('::error title=hooks test::and 51 more');
    expect(summary().match(/^\| a/gm)).toHaveLength(50);
    expect(summary()).toContain('\nand 10 more\n');
  });

  it('prints one annotation for each reason, with the number and names of its failures', async () => {
    const notes: string[] = [];
    env = {};
    const step = new GithubStep(
      'hooks test',
      stepIo((line) => notes.push(line)),
    );
    const failed = { classname: 'u', outcome: 'failure', ms: 1, type: 't', details: '', line: {} } as const;
    step.addCases([
      ...['track', 'page'].map((name) => ({
        ...failed,
        name,
        message: '404 Not Found',
        hint: 'check the path',
      })),
      { ...failed, name: 'unsigned', message: '200 OK', hint: 'verify it' },
    ]);
    await step.end();
    expect(notes).toEqual([
      '::error title=hooks test%3A 2 failures::404 Not Found%0Acheck the path%0Atrack%0Apage',
      '::error title=hooks test%3A unsigned::200 OK%0Averify it',
    ]);
  });

  it('escapes text that would start a command, end a property or be markup', async () => {
    await failing(1, '100%\r\n::set-output name=a::b\u001b[2J <img src=x> | [a](b)');
    expect(lines).toEqual([
      '::error title=a%2Cb%3Ac::100%25%0A::set-output name=a::b\\u001b[2J <img src=x> | [a](b)',
    ]);
    const row =
      summary()
        .split('\n')
        .find((line) => line.startsWith('| a')) ?? '';
    expect(row.match(/\|/g)).toHaveLength(3);
    expect(row.replaceAll('<br>', '')).not.toMatch(/[<>[\]()]/);
  });
});
