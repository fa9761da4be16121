// Needs curl, jq, sqlite3, zcat, bash, python3.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { programsFolder } from '../documentation/programs-folder.ts';
import { hasTool } from '../external-tool.ts';
import { saysTaken } from '../free-port.ts';
import { COMMANDS, examplesOfHelp, runOf, preparedFolder } from './examples.ts';
import { hooks } from './hooks.ts';

/** Made before any example runs. */
const PROGRAMS = await programsFolder();
const helps = await Promise.all(COMMANDS.map((words) => hooks([...words, '--help'])));
const ofHelp = [...new Set(helps.flatMap(({ stdout }) => examplesOfHelp(stdout)))];

interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

async function sh(script: string, cwd: string, env: Readonly<Record<string, string>>): Promise<Ended> {
  // In a process group, so that a script that hangs is killed with all its processes.
  const child = spawn('sh', ['-c', script], { cwd, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  const timer = setTimeout(() => process.kill(-(child.pid ?? 0), 'SIGKILL'), 45_000);
  const [[code], stdout, stderr] = await Promise.all([
    once(child, 'close') as Promise<[number | null]>,
    text(child.stdout),
    text(child.stderr),
  ]);
  clearTimeout(timer);
  return { code, stdout, stderr };
}

/** An error at the start of a line. Notes and logs contain the word elsewhere. */
const COMPLAINT = /^(?:error|[^ ]*: (?:not found|command not found)|sh: )/m;

async function run(example: string): Promise<Ended & { readonly script: string }> {
  const { cwd, env, ...place } = await preparedFolder(example, PROGRAMS);
  const { script } = runOf(example, place);
  return { script, ...(await sh(script, cwd, env)) };
}

async function expectToRun(example: string): Promise<void> {
  let ended = await run(example);
  if (saysTaken(ended.stderr)) ended = await run(example);
  const { script, code, stdout, stderr } = ended;
  const isListen = example.startsWith('hooks listen');
  const said = stderr.replaceAll(/^(note|config|retry): .*$/gm, '');
  expect(isListen ? /unknown|invalid/.exec(said) : COMPLAINT.exec(said), `${script}\n${stderr}`).toBeNull();
  expect(code, `${script}\n${stdout}${stderr}`).toBe(0);
}

function hasToolsFor(example: string): boolean {
  const { tools } = runOf(example, { id: 'x', free: 'http://127.0.0.1:1/', url: 'http://127.0.0.1:1' });
  return tools.every((tool) => hasTool(tool, '--version'));
}

describe('the examples of the help', () => {
  it('exist for every command', async () => {
    const { stdout } = await hooks(['--help']);
    const verbs = [...stdout.matchAll(/^ {2}(?!help )(\w+)/gm)].map(([, verb = '']) => verb);
    expect(verbs.length).toBeGreaterThan(10);
    expect(new Set(COMMANDS.flatMap(([verb]) => verb ?? []))).toEqual(new Set(verbs));
    for (const verb of verbs) {
      expect(
        ofHelp.some((example) => example.includes(`hooks ${verb}`)),
        verb,
      ).toBe(true);
    }
  });

  it.concurrent.each(ofHelp.filter(hasToolsFor))('succeed: %s', expectToRun);
});
