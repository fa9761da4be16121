import { readdirSync } from 'node:fs';
import type { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { createProgram } from '../../src/cli/program.ts';
import { GUIDES } from '../../src/cli/help/guide.ts';
import { createIo } from '../../src/cli/io.ts';
import { MESSAGE_TYPES } from '../../src/message/types.ts';
import { hooks } from './run-in-process.ts';

const io = createIo(process);
const program = await createProgram([], io, () => {});
const VERBS = program.commands.map((command) => command.name()).filter((name) => name !== 'help');

/** Returns a command with its flags and subcommands. */
async function defined(verb: string): Promise<Command> {
  const whole = await createProgram([verb, ...MESSAGE_TYPES], io, () => {});
  const found = whole.commands.find((command) => command.name() === verb);
  if (found === undefined) throw new Error(`There is no ${verb}`);
  return found;
}

function helpLines(command: Command): string[] {
  const own = [command.summary(), ...command.options.map(({ description }) => description)];
  const args = command.registeredArguments
    .map(({ description }) => description)
    .filter((text) => text !== '');
  return [...own, ...args, ...command.commands.flatMap(helpLines)];
}

describe('the lines of the help', () => {
  it.each(VERBS)('of %s are verb phrases of at most 60 characters', async (verb) => {
    const lines = helpLines(await defined(verb));
    expect(lines.length).toBeGreaterThan(0);
    expect(lines.filter((line) => line.length > 60)).toEqual([]);
    expect(lines.filter((line) => !/^[a-z]+,? /.test(line))).toEqual([]);
  });

  it('of the program are verb phrases too', () => {
    const lines = program.options.map(({ description }) => description);
    expect(lines.filter((line) => line.length > 60 || !/^[a-z]+,? /.test(line))).toEqual([]);
  });
});

describe('hooks alone', () => {
  it('prints its commands in groups on stdout, without its examples and options', async () => {
    const { code, stdout, stderr } = await hooks([]);
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout.match(/^\S.*:$/gm)).toEqual([
      'Send:',
      'Receive and verify:',
      'Test:',
      'Operate:',
      'Set up:',
    ]);
    expect(stdout).not.toMatch(/^ +-/m);
    for (const verb of VERBS.filter((name) => name !== 'complete')) expect(stdout).toContain(`\n  ${verb} `);
  });
});

describe('hooks help TOPIC', () => {
  it('knows every page of docs/', () => {
    const pages = readdirSync(new URL('../../docs/', import.meta.url)).filter((name) => name.endsWith('.md'));
    expect(GUIDES).toEqual(pages.map((name) => name.replace('.md', '')));
  });

  it.each(GUIDES)('prints %s shortened, within 60 columns except for its commands', async (topic) => {
    const { code, stdout, stderr } = await hooks(['help', topic], { terminalColumns: 60 });
    expect([code, stderr]).toEqual([0, '']);
    const page = stdout.slice(stdout.search(/^[A-Z][^a-z\n]+$/m));
    const wide = page.split('\n').filter((line) => line.length > 60 && !/^ {2}|^The whole page: /.test(line));
    expect(wide).toEqual([]);
    expect(page).toMatch(new RegExp(`\n\nThe whole page: .*docs/${topic}\\.md\n$`));
    expect(page).not.toMatch(/\]\(|\*\*|^\||^#|```/m);
    expect(page).not.toMatch(/:\n\n[A-Z ]+\n/);
  });

  it('suggests a topic for a mistyped one, unless a command has that name', async () => {
    expect((await hooks(['help', 'recievers'])).stderr).toContain('did you mean hooks help receivers?');
    expect((await hooks(['help', 'ci', 'x'])).code).toBe(2);
    expect((await hooks(['help', 'exit-codes'])).stdout).toMatch(/^Exit codes$[^]*130, 143/im);
  });

  it.each(VERBS.filter((name) => !['complete', 'completion'].includes(name)))(
    'is named in the help of %s',
    async (verb) => {
      const { stdout } = await hooks([verb, '--help']);
      const topic = /\n\nGuide: hooks help ([a-z-]+)\n$/.exec(stdout)?.[1];
      expect(GUIDES).toContain(topic);
    },
  );
});
