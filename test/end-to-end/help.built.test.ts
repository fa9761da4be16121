import { describe, expect, it } from 'vitest';
import { COMMANDS } from './examples.ts';
import { hooks } from '../cli/run-in-process.ts';

const helps = await Promise.all(
  COMMANDS.map(async (words) => ({ words, ...(await hooks([...words, '--help'])) })),
);

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

  it('names a default once', () => {
    expect(stdout).not.toMatch(/\(default: [^)]*\)\s*\(default: /);
  });

  it('is the same as that of `hooks help`', async () => {
    if (words.length !== 1) return;
    const shown = await hooks(['help', ...words]);
    expect(shown.code).toBe(0);
    // For `serve`, a topic follows.
    expect(shown.stdout.slice(0, stdout.length)).toBe(stdout);
  });
});
