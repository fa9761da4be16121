import { spawn } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { chmod, cp, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { MESSAGE_TYPES } from '../../src/message/types.ts';
import { hasTool } from '../external-tool.ts';
import { hooks } from './hooks.ts';
import { folder, receiving, ROOT, SECRET, track, tracks } from './receiving.ts';

const COMMANDS: readonly (readonly string[])[] = [
  [],
  ['send'],
  ...MESSAGE_TYPES.map((type) => ['send', type]),
  ['replay'],
  ['sign'],
  ['verify'],
  ['listen'],
  ['serve'],
  ['worker'],
  ['queue'],
  ['delete'],
  ['config'],
];

const helps = await Promise.all(
  COMMANDS.map(async (words) => ({ words, ...(await hooks([...words, '--help'])) })),
);

/** The command lines after `$ `, with the lines that continue them. */
function examplesIn(help: string): string[] {
  return [...help.matchAll(/^ {2}\$ (.*(?:(?<=\\)\n.*)*)$/gm)].map(([, example = '']) => example);
}

describe.each(helps)('hooks $words --help', ({ words, code, stdout, stderr }) => {
  it('begins with examples and fits 80 columns', () => {
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(/^Examples:\n {2}\$ .*hooks /);
    expect(stdout.split('\n').filter((line) => line.length > 80)).toEqual([]);
  });

  it('lists each flag once', () => {
    const flags: readonly string[] = stdout.match(/^ {2}(?:-\w, )?--[\w-]+/gm) ?? [];
    expect(flags.length).toBeGreaterThan(5);
    expect(flags.filter((flag, index) => flags.indexOf(flag) !== index)).toEqual([]);
  });

  it('is what `hooks help` shows', async () => {
    if (words.length !== 1) return;
    expect(await hooks(['help', ...words])).toMatchObject({ code: 0, stdout });
  });
});

/** Those that go on until they are told to stop, or name what is not there, are run by their own tests. */
const IS_RUN_ELSEWHERE = /hooks (serve|worker)|127\.0\.0\.1:8788|\bID\b|--source web/;

const EXAMPLES = [...new Set(helps.flatMap(({ stdout }) => examplesIn(stdout)))].filter(
  (example) => !IS_RUN_ELSEWHERE.test(example),
);

/** What the examples name: files, and `hooks` itself. */
async function surroundings(): Promise<string> {
  const body = track(1);
  const signature = createHmac('sha1', SECRET).update(body).digest('hex');
  const capture = JSON.stringify({
    capture: 1,
    method: 'POST',
    url: '/',
    headers: [['X-Signature', signature]],
    body,
  });
  const cwd = await folder({
    'event.json': body,
    'body.json': body,
    'capture.json': capture,
    'request.http': `POST / HTTP/1.1\r\nX-Signature: ${signature}\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    'secret.txt': `${SECRET}\n`,
    'staging.yaml': 'webhooks: [http://127.0.0.1:9]\n',
    'day.ndjson': tracks(3),
    'day.gz': gzipSync(tracks(3)),
    'events.ndjson.gz': gzipSync(tracks(3)),
    'package.json': '{}',
  });
  await cp(join(ROOT, 'fixtures'), join(cwd, 'fixtures'), { recursive: true });
  await mkdir(join(cwd, 'captures'));
  await writeFile(join(cwd, 'captures/1.json'), capture);
  await writeFile(join(cwd, 'hooks'), `#!/bin/sh\nexec '${process.execPath}' '${ROOT}bin/hooks.js' "$@"\n`);
  await chmod(join(cwd, 'hooks'), 0o755);
  return cwd;
}

async function sh(script: string, cwd: string, env: Readonly<Record<string, string>>) {
  const child = spawn('sh', ['-c', script], {
    cwd,
    env: { PATH: `${cwd}:${process.env['PATH'] ?? ''}`, HOOKS_DATA_DIR: join(cwd, 'data'), ...env },
    timeout: 15_000,
  });
  child.stdin.end();
  const [[code], stdout, stderr] = await Promise.all([
    once(child, 'close'),
    text(child.stdout),
    text(child.stderr),
  ]);
  return { code: code as number, stdout, stderr };
}

/** Whoever listens has to stop, and must not meet the port of another test. */
function ending(script: string): string {
  return `${script.replaceAll(/ --(port|within) \S+/g, '')} --port 0 --within 200ms`;
}

function toolsFor(example: string): string[] {
  return ['jq', 'zcat', 'curl'].filter((tool) => new RegExp(`(^|\\| )${tool} `).test(example));
}

describe('an example of the help', () => {
  it('is found for each command', () => {
    expect(EXAMPLES.length).toBeGreaterThan(20);
    for (const verb of ['send', 'replay', 'sign', 'verify', 'listen', 'config', 'queue', 'delete']) {
      expect(EXAMPLES.some((example) => example.includes(`hooks ${verb}`))).toBe(true);
    }
  });

  const runnable = EXAMPLES.filter((example) =>
    toolsFor(example).every((tool) => hasTool(tool, '--version')),
  );

  it.concurrent.each(runnable)('runs: %s', async (example) => {
    const to = await receiving();
    const cwd = await surroundings();
    const isListen = example.startsWith('hooks listen');
    const script = example
      .replaceAll('http://localhost:3000', to.url)
      .replaceAll(/s3cret|(?<=--secret )old/g, SECRET)
      .replace(/ #.*$/, '');
    const body = track(1);
    const signature = createHmac('sha1', SECRET).update(body).digest('hex');
    const { code, stderr } = await sh(isListen ? ending(script) : script, cwd, {
      HOOKS_URL: to.url,
      HTTP_X_SIGNATURE: signature,
    });
    expect(stderr.replace(/^(note|config|retry): .*$/gm, '')).not.toMatch(
      isListen ? /unknown|invalid/ : /error/,
    );
    // Nobody sends to a receiver that the test does not know the port of: what it waited for did not come.
    expect(code).toBe(isListen ? 1 : 0);
  });
});
