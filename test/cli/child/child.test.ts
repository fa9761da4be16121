import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { startCommand, type StartChildOptions } from '../../../src/cli/child/child.ts';
import { PLAIN_PALETTE } from '../../../src/cli/palette.ts';
import { until } from '../../until.ts';
import { isRunning } from '../../is-running.ts';

function shown(more: Partial<StartChildOptions> = {}) {
  const lines: string[] = [];
  const { signal } = new AbortController();
  // Any stream can replace stderr, because only methods of streams are used.
  const stderr = new PassThrough().resume() as unknown as NodeJS.WriteStream;
  const io = {
    stderr,
    verbatim: { out: () => {}, note: (line: string) => void lines.push(line) },
    env: {},
    errColor: PLAIN_PALETTE,
    cwd: process.cwd(),
  };
  const { PATH = '' } = process.env;
  const options = { env: { PATH }, io, signal, secrets: [], ...more };
  return { options, lines };
}

/** A command that runs this code with Node, as the words after --. */
function node(program: string): string[] {
  return [process.execPath, '-e', program];
}

/** Prints its process id and that of a child that ignores SIGTERM, and keeps running. */
const PARENT = `
  const { spawn } = require('node:child_process');
  const child = spawn(process.execPath, ['-e', 'process.on("SIGTERM", () => {}); console.log("holds"); setInterval(() => {}, 1e6)'],
    { stdio: ['ignore', 'pipe', 'ignore'] });
  child.stdout.once('data', () => console.log(process.pid + ' ' + child.pid));
  setInterval(() => {}, 1e6);`;

describe('a command that is started', () => {
  it('has its output shown line by line, without secrets or control characters', async () => {
    const { options, lines } = shown({ secrets: ['s3cret'] });
    const text = 'one s3cret\\n\\ttab \\u001b[2J\\r\\nlast';
    const command = await startCommand(node(`process.stdout.write('${text}')`), options);
    await command.exited;
    await command.stop();
    expect(lines).toEqual(['| one ***', '|     tab \\u001b[2J', '| last']);
  });

  it('has its secrets masked in any spelling and over several lines', async () => {
    const secrets = ['<s3c&ret/1>', 'first line\n\n  of a secret\r\nand\n'];
    const { options, lines } = shown({ secrets });
    const command = await startCommand(
      node(`for (const secret of ${JSON.stringify(secrets)}) {
        console.log(secret);
        console.log(JSON.stringify({ secret }));
        console.log(encodeURIComponent(secret));
        console.log(Buffer.from(secret).toString('base64'));
      }
      console.log('&lt;s3c&amp;ret/1&gt; and the rest');`),
      options,
    );
    await command.exited;
    await command.stop();
    const [one, several] = [lines.slice(0, 4), lines.slice(4, -1)];
    expect(one).toEqual(['| ***', '| {"secret":"***"}', '| ***', '| ***=']);
    expect(several).toEqual([
      '| ***',
      '| ',
      '|   ***',
      '| and',
      '| ',
      '| {"secret":"***"}',
      '| ***',
      '| ***==',
    ]);
    expect(lines.at(-1)).toBe('| *** and the rest');
  });

  it('is stopped with its children, and killed if it does not stop', async () => {
    const { options, lines } = shown({ graceMs: 200 });
    const command = await startCommand(node(PARENT), options);
    const pids = await firstPids(lines);
    expect(await command.stop()).toEqual({ killed: true });
    expect(pids.map(isRunning)).toEqual([false, false]);
  });

  it('removes its listeners', async () => {
    const before = listeners();
    const { options } = shown();
    const command = await startCommand(node('setInterval(() => {}, 1e6)'), options);
    await command.stop();
    expect(listeners()).toBe(before);
  });
});

async function firstPids(lines: readonly string[]): Promise<number[]> {
  let found: RegExpExecArray | null = null;
  await until(() => (found = /^\| (\d+) (\d+)$/.exec(lines[0] ?? '')) !== null, 'two ids');
  return [...(found ?? [])].slice(1).map(Number);
}

function listeners(): number {
  return ['exit', 'SIGHUP', 'SIGQUIT', 'SIGINT', 'SIGTERM'].reduce(
    (sum, name) => sum + process.listenerCount(name),
    0,
  );
}
