import { describe, expect, it } from 'vitest';
import { loadSettings } from '../../src/config/settings.ts';
import { PlanCheck } from '../../src/plan/checking/plan-check.ts';
import { planOfSchemas } from '../../src/plan/plan.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { BLOCKS, blocksIn, commandsOf, fileOf, type Block } from './blocks.ts';

/** ci-jobs.system.test.ts and plan-job.system.test.ts run the workflows and the job. */
const isConfig = (block: Block): boolean => !/^\.git(?:hub\/|lab-)/.test(fileOf(block) ?? '');

describe('a file in the docs', () => {
  it.each(blocksIn('yaml').filter(isConfig))('is a config that loads: $page:$line', async ({ text }) => {
    const cwd = temporaryFolder({ '.hooksrc.yaml': text, 'package.json': '{}' });
    const names = [...text.matchAll(/\$\{(\w+)\}/g)].map(([, name = '']) => name);
    const env = Object.fromEntries(
      names.map((name) => [name, name === 'HOOKS_STORE' ? 'redis://h/0' : 'value-of-it']),
    );
    const notes: string[] = [];
    const settings = await loadSettings({ flags: {}, env, cwd, note: (line) => void notes.push(line) });
    const origins = settings.list().map(({ origin }) => origin);
    expect(origins).toContain('.hooksrc.yaml');
    expect(Object.keys(settings.sources).length).toBeGreaterThan(0);
    expect(notes).toEqual([]);
  });

  it.each(blocksIn('json'))('has the schemas of events: $page:$line', ({ text }) => {
    const value = JSON.parse(text) as Record<string, object>; // a block with an object
    expect(Object.keys(value)).not.toEqual([]);
    expect(new PlanCheck(planOfSchemas(value as never, 'a block'))).toBeInstanceOf(PlanCheck);
  });
});

describe('a curl command in the docs', () => {
  it('names the type of its body, because a receiver of Express reads no other body', () => {
    const commands = blocksIn('sh')
      .flatMap(commandsOf)
      .filter((command) => command.includes('--data-binary'));
    expect(commands).not.toEqual([]);
    expect(commands.filter((command) => !command.includes("-H 'Content-Type: application/json'"))).toEqual(
      [],
    );
  });
});

/** The tests that run the blocks of a language. */
const RUN_BY: Readonly<Record<string, string>> = {
  '': 'pages.*.test.ts compare it with the output of the command before',
  console: 'pages.*.test.ts',
  go: 'end-to-end/receivers.system.test.ts',
  haproxy: 'other-files.system.test.ts',
  js: 'programs.built.test.ts, system/runners.system.test.ts, end-to-end/receivers.system.test.ts',
  json: 'this file',
  python: 'pages.system.test.ts, end-to-end/receivers.system.test.ts',
  ruby: 'end-to-end/receivers.system.test.ts',
  sh: 'pages.*.test.ts, ci-jobs.system.test.ts',
  ts: 'system/matcher-types.system.test.ts',
  yaml: 'this file, ci-jobs.system.test.ts, plan-job.system.test.ts',
};

describe('the blocks of README.md and docs/', () => {
  it('are all in languages that a test runs', () => {
    expect(BLOCKS.length).toBeGreaterThan(50);
    expect([...new Set(BLOCKS.map(({ language }) => language))].toSorted()).toEqual(
      Object.keys(RUN_BY).toSorted(),
    );
  });
});
