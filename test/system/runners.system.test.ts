// Needs third-party test runners from the registry.
import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { blocksIn } from '../documentation/blocks.ts';
import { inherited } from '../end-to-end/running-command.ts';
import { CLIENTS, HAS_CLIENTS, ROOT } from './clients.ts';

const [VITEST = '', JEST = '', PLAYWRIGHT = '', WITH_MATCHERS = '', NODE = '', PLAIN = ''] = blocksIn(
  'js',
  'docs/testing.md',
).map(({ text }) => text);

const REQUIRE = `import { createRequire } from 'node:module';\nconst plant = createRequire(import.meta.url)('./bugs.cjs');\n`;

interface Runner {
  readonly name: string;
  readonly file: string;
  readonly setUp: string;
  readonly program: string;
  readonly plant: string;
  readonly command: readonly string[];
  /** Flag that ends the runner although a client is open, which the planted bug `lost` leaves behind. */
  readonly forced?: readonly string[];
}

const RUNNERS: readonly Runner[] = [
  {
    name: 'Vitest',
    file: 'signup.test.mjs',
    setUp: VITEST,
    program: WITH_MATCHERS,
    plant: `${REQUIRE}plant(test, () => receiver, expect);\n`,
    command: ['vitest/vitest.mjs', 'run', '--root', '.', '--reporter=verbose'],
  },
  {
    name: 'Jest',
    file: 'signup.test.js',
    setUp: JEST,
    program: WITH_MATCHERS,
    plant: `require('./bugs.cjs')(test, () => receiver, expect);\n`,
    command: ['jest/bin/jest.js', '--rootDir', '.', '--verbose'],
    forced: ['--forceExit'],
  },
  {
    name: 'Playwright',
    file: 'signup.spec.js',
    setUp: PLAYWRIGHT,
    program: WITH_MATCHERS,
    plant: `require('./bugs.cjs')(test, () => receiver, expect);\n`,
    command: ['@playwright/test/cli.js', 'test', '--reporter=list', '--workers=1'],
  },
  {
    name: 'node:test',
    file: 'signup.test.mjs',
    setUp: NODE,
    program: PLAIN,
    plant: `${REQUIRE}plant(test, () => receiver);\n`,
    command: ['--test', '--test-reporter=spec'],
    forced: ['--test-force-exit'],
  },
];

interface Ran {
  readonly code: number;
  readonly said: string;
}

/** Runs a program in a new folder beside the installed packages. */
function run({ name, file, command }: Runner, text: string): Promise<Ran> {
  const folder = join(CLIENTS, `run-${name.replace(/\W/g, '')}`);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  for (const helper of ['send.cjs', 'bugs.cjs']) {
    cpSync(fileURLToPath(new URL(helper, import.meta.url)), join(folder, helper));
  }
  writeFileSync(join(folder, 'package.json'), '{"private":true}');
  writeFileSync(join(folder, file), text);
  const [first = '', ...rest] = command;
  const isNode = first.startsWith('--');
  const args = isNode ? [first, ...rest, file] : [join(CLIENTS, 'node_modules', first), ...rest];
  const env = { ...inherited(), NO_COLOR: '1' };
  return new Promise((resolve) => {
    execFile(process.execPath, args, { cwd: folder, env, timeout: 400_000 }, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : 1, said: stdout + stderr });
    });
  });
}

/** The type that TypeScript cannot infer: with `any`, Playwright's `expect` does not have the matchers. */
const TYPE = `/** @type {import('hooks-cli/testing').TestReceiver} */`;

/** Compiles a program of the docs, and returns what the compiler says. */
function compiled(text: string, module: string, types: string): Promise<Ran> {
  const folder = join(CLIENTS, `compile-${module}`);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  writeFileSync(join(folder, 'signup.js'), text.replace('let receiver;', `${TYPE} let receiver;`));
  const flags = [
    '--noEmit',
    '--strict',
    '--allowJs',
    '--checkJs',
    '--noImplicitAny',
    'false',
    '--skipLibCheck',
  ];
  const target = ['--target', 'es2023', '--types', types, '--module', module];
  return new Promise((resolve) => {
    const args = [...flags, ...target, 'signup.js'];
    execFile(join(ROOT, 'node_modules/.bin/tsc'), args, { cwd: folder }, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : 1, said: stdout + stderr });
    });
  });
}

describe.skipIf(!HAS_CLIENTS).each([
  ['Jest', JEST, 'node,jest'],
  ['Playwright', PLAYWRIGHT, 'node'],
])('the program of the docs for %s', (_, setUp, types) => {
  it.each(['nodenext', 'preserve'])('compiles as JavaScript of module %s', async (module) => {
    expect(await compiled(`${setUp}\n${WITH_MATCHERS}`, module, types)).toEqual({ code: 0, said: '' });
  });
});

/** The sentence in the failure of each bug. */
const NAMED: Readonly<Record<string, RegExp>> = {
  renamed: /event: expected Signup, got Sign Up/,
  'missing-property': /properties\.plan: expected something, got nothing/,
  'number-as-text': /properties\.total: expected a value of type number, got "12\.5"/,
  twice: /Expected exactly 1 message with event=Signup, got 2 of 6/,
  lost: /Expected exactly 5 messages with messageId\?, got no message\b/,
  'too-large': /Expected a message with event=Signup that a tracking API takes, got one that it drops/,
  'no-user': /Expected exactly 0 messages with userId!\?, got 1 of 1/,
  'wrong-case': /Expected exactly 0 messages with integrations\.salesforce\?, got 1 of 5/,
  'personal-data': /Expected exactly 0 messages with properties\.email\?, got 1 of 5/,
  'late-identify': /type=track is missing after type=identify/,
  'old-timestamp': /Expected exactly 0 messages with timestamp<now-1h, got 1 of 5/,
  'unknown-event': /expected an event with a schema, got "Signup Strated"/,
};

describe.skipIf(!HAS_CLIENTS).each(RUNNERS)('$name', { timeout: 420_000 }, (runner) => {
  it('has a documented set-up of at most 10 lines that runs unchanged', async () => {
    expect(runner.setUp.trimEnd().split('\n').length).toBeLessThanOrEqual(10);
    expect(runner.program).toContain("test('a signup is tracked'");
    const { code, said } = await run(runner, `${runner.setUp}\n${runner.program}`);
    expect([code, said]).toEqual([0, expect.stringContaining('a signup is tracked')]);
  });

  it('names each of the twelve planted bugs, and passes without a bug', async () => {
    const { code, said } = await run(
      { ...runner, command: [...runner.command, ...(runner.forced ?? [])] },
      `${runner.setUp}\n${runner.plant}`,
    );
    expect(code).toBe(1);
    for (const [bug, sentence] of Object.entries(NAMED)) expect(said, bug).toMatch(sentence);
    expect(said.match(/(?:✓|✔|ok +\d+) .*\bright [\w-]+/g) ?? []).toHaveLength(Object.keys(NAMED).length);
  });
});
