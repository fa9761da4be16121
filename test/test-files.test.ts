import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const TEST = fileURLToPath(new URL('.', import.meta.url));
const texts = new Map(
  readdirSync(TEST, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts') && path !== 'test-files.test.ts')
    .map((path) => [path, readFileSync(join(TEST, path), 'utf8')]),
);

/** Programs on every machine with Node: a POSIX shell and its commands, and npm. */
const ALWAYS_THERE = new Set(['sh', 'true', 'kill', 'npm', 'npx']);
/** Finds code that starts a program by its name, or asks whether it is installed. */
const PROGRAM = /(?<!\.)\b(?:spawn|spawnSync|exec|execSync|execFile|execFileSync|hasTool)\(\s*'([^'/ ]+)'/g;
/** Helpers that start other programs by computed names. */
const STARTERS = new Set([
  'stores/server/servers.ts',
  'failing-disk.ts',
  'faketime.ts',
  'end-to-end/browser.ts',
]);
const BUILT_PROGRAM = /bin\/hooks\.js|'dist\//;

describe('the name of a test file', () => {
  const files = [...texts.keys()].filter((path) => path.endsWith('.test.ts'));

  it('ends in .system.test.ts when the file needs another program', () => {
    expect(files.filter((file) => !isSystem(file) && reached(file).some(needsProgram))).toEqual([]);
  });

  it('ends in .built.test.ts or .system.test.ts when the file needs the built program', () => {
    const unbuilt = files.filter((file) => !isSystem(file) && !file.endsWith('.built.test.ts'));
    expect(unbuilt.filter((file) => reached(file).some(needsBuild))).toEqual([]);
  });

  it('ends in .system.test.ts when the first line of the file says what it needs', () => {
    expect(files.filter((file) => isSystem(file) !== saysWhatItNeeds(file))).toEqual([]);
  });

  it('depends on the file and its helpers', () => {
    expect(reached('cli/stdin.system.test.ts').filter(needsProgram)).toContain('end-to-end/terminal.ts');
    expect(reached('end-to-end/disk-faults.system.test.ts').filter(needsProgram)).toContain(
      'failing-disk.ts',
    );
    expect(reached('end-to-end/interruption.system.test.ts').filter(needsBuild)).toEqual([
      'end-to-end/hooks.ts',
    ]);
    expect(reached('duration.test.ts')).toEqual(['duration.test.ts']);
  });
});

describe('a helper of several test files', () => {
  it('cleans up by afterEachFile or afterEachTest, because a hook would be registered for the first file only', () => {
    const helpers = [...texts.keys()].filter((path) => !path.endsWith('.test.ts') && path !== 'clean-up.ts');
    expect(helpers.length).toBeGreaterThan(50);
    expect(helpers.filter((path) => /^(?:after|before)(?:All|Each)\(/m.test(texts.get(path) ?? ''))).toEqual(
      [],
    );
  });
});

describe('a path of this repository', () => {
  it('comes from fileURLToPath, because the pathname of a URL is wrong for a path with a blank or an ü', () => {
    const files = readdirSync(TEST, { recursive: true, encoding: 'utf8' }).filter((path) =>
      /\.[jt]s$/.test(path),
    );
    const wrong = files.filter((path) =>
      /import\.meta\.url\)\.pathname/.test(readFileSync(join(TEST, path), 'utf8')),
    );
    expect(wrong).toEqual([]);
  });
});

function isSystem(file: string): boolean {
  return file.endsWith('.system.test.ts');
}

function saysWhatItNeeds(file: string): boolean {
  return /^\/\/ (?:Needs|Takes|Kills|Measures) /.test(texts.get(file) ?? '');
}

function needsProgram(file: string): boolean {
  const programs = [...(texts.get(file) ?? '').matchAll(PROGRAM)].map(([, name = '']) => name);
  return STARTERS.has(file) || programs.some((name) => !ALWAYS_THERE.has(name));
}

function needsBuild(file: string): boolean {
  return BUILT_PROGRAM.test(texts.get(file) ?? '');
}

/** Returns a file with all files in test/ that it imports directly or indirectly, except for types. */
function reached(from: string): string[] {
  const found = new Set([from]);
  for (const file of found) for (const next of importsOf(file)) found.add(next);
  return [...found];
}

function importsOf(file: string): string[] {
  const statements = (texts.get(file) ?? '').matchAll(
    /^(?:import|export)\s+([^'";]*?)\s*from\s*'(\.[^']+)'/gm,
  );
  return [...statements]
    .filter(([, names = '']) => !isTypesOnly(names))
    .map(([, , path = '']) => normalize(join(dirname(file), path)))
    .filter((path) => texts.has(path));
}

function isTypesOnly(names: string): boolean {
  if (names.startsWith('type ')) return true;
  const words = names.replace(/[{}]/g, '').split(',');
  return words.filter((word) => word.trim() !== '').every((word) => word.trim().startsWith('type '));
}
