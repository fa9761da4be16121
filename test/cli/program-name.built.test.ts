import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, symlinkSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { BINARY } from '../end-to-end/hooks.ts';
import { temporaryFolder } from '../temporary-folder.ts';

const PACKAGE = fileURLToPath(new URL('../..', import.meta.url));
const NPM = { npm_execpath: '/opt/npm-cli.js' };

/** Creates a project that has the package and the link to its program in `node_modules`. */
function project(): string {
  const folder = temporaryFolder({ 'src/body.json': '{}', '.hooksrc.yaml': 'webhooks: 5\n' });
  const modules = join(folder, 'node_modules');
  mkdirSync(join(modules, '.bin'), { recursive: true });
  symlinkSync(PACKAGE, join(modules, 'hooks-cli'));
  symlinkSync(BINARY, join(modules, '.bin', 'hooks'));
  return folder;
}

interface Start {
  readonly cwd?: string;
  readonly path?: string;
  readonly env?: Record<string, string>;
}

/** Runs the linked program of a project and returns what it prints. */
async function run(folder: string, args: readonly string[], start: Start = {}): Promise<string> {
  const script = join(folder, 'node_modules', '.bin', 'hooks');
  const { cwd = folder, path = '/nowhere', env = {} } = start;
  const child = spawn(process.execPath, [script, ...args], {
    cwd,
    env: { HOME: folder, PATH: path, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: 30_000,
  });
  const printed = Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  const [stdout, stderr] = await printed;
  return stdout + stderr;
}

describe('the name of the program in commands to type', () => {
  it('is npx hooks if the shell does not find the program of the project', async () => {
    const folder = project();
    const printed = await run(folder, ['verify', '--evnt']);
    expect(printed).toContain('hint:  run npx hooks verify --help to see its flags');
    const help = await run(folder, ['send', 'track', '--help'], { cwd: join(folder, 'src') });
    expect(help).toContain('$ npx hooks send track --event Signup\n');
    expect(help).toContain('Usage: npx hooks send track [options]');
    expect(help).not.toMatch(/(?<!npx )hooks (?:send|help)/);
    expect(await run(folder, ['help', 'sending'])).toMatch(/^ {2}npx hooks send /m);
    expect(await run(folder, ['init', 'x.yaml', '-o', 'json'])).toContain('"npx hooks doctor -c x.yaml"');
    expect(await run(folder, [])).toContain('Run npx hooks COMMAND --help');
    expect(await run(folder, ['help', 'trigger'])).toContain('did you mean npx hooks send?');
  });

  it('is npx hooks in a script of npm, which adds the folder of the program to PATH', async () => {
    const folder = project();
    const path = `${join(folder, 'node_modules', '.bin')}${delimiter}/usr/bin`;
    expect(await run(folder, ['sign', '--x'], { path, env: NPM })).toContain('run npx hooks sign --help');
  });

  it('is hooks if the shell finds a program of this name', async () => {
    const folder = project();
    const own = join(folder, 'node_modules', '.bin');
    expect(await run(folder, ['sign', '--x'], { path: own })).toContain('hint:  run hooks sign --help');
    const global = temporaryFolder({ hooks: '#!/bin/sh\n' });
    chmodSync(join(global, 'hooks'), 0o700);
    const path = `${own}${delimiter}${global}`;
    expect(await run(folder, ['sign', '--x'], { path, env: NPM })).toContain('hint:  run hooks sign --help');
  });

  it('is npx hooks-cli outside the project, because npx would load another package for hooks', async () => {
    const printed = await run(project(), ['sign', '--x'], { cwd: temporaryFolder({}) });
    expect(printed).toContain('run npx hooks-cli sign --help');
  });

  it('is npx hooks in a clone, which npx runs from its cache', async () => {
    expect(await run(project(), ['sign', '--x'], { cwd: PACKAGE })).toContain('run npx hooks sign --help');
  });
});
