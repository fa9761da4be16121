import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { temporaryFolder } from '../temporary-folder.ts';
import { ROOT } from './receiving.ts';

/** A program that uses the built library in a process of its own. */
export interface LibraryProgram {
  readonly child: ChildProcess;
  /** The first line on stdout. */
  readonly firstLine: Promise<string>;
  /** Resolves when the program has ended. */
  readonly ended: Promise<Ended>;
}

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Starts `source`, in which `hooks` is the package. The program is killed when the test ends. */
export function startLibraryProgram(source: string, ...args: readonly string[]): LibraryProgram {
  const library = JSON.stringify(join(ROOT, 'dist/index.js'));
  const cwd = temporaryFolder({ 'program.mjs': `import * as hooks from ${library};\n${source}` });
  const child = spawn(process.execPath, ['program.mjs', ...args], { cwd, stdio: ['ignore', 'pipe', 'pipe'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  const said = { stdout: '', stderr: '' };
  const firstLine = new Promise<string>((resolve) => {
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      said.stdout += text;
      const [line, ...more] = said.stdout.split('\n');
      if (more.length > 0) resolve(line ?? '');
    });
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => (said.stderr += text));
  const ended = once(child, 'close').then(([code]) => ({ code: code as number | null, ...said }));
  return { child, firstLine, ended };
}
