import { lstat } from 'node:fs/promises';
import { isAbsolute, resolve } from 'node:path';
import { glob, isDynamicPattern } from 'tinyglobby';
import { InputError } from '../../errors.ts';
import { STDIN } from './inputs.ts';

/**
 * Expands the glob patterns among file arguments. Keeps the order of the arguments, and sorts the files of each pattern in
 * natural order (2 before 10). The name of an existing file is not treated as a pattern, even if it looks like one. Throws
 * InputError for a pattern that matches nothing, and for a second `-`. `openInputs` checks whether the files can be read.
 */
export async function expandInputs(patterns: readonly string[], cwd: string): Promise<readonly string[]> {
  if (patterns.filter((pattern) => pattern === STDIN).length > 1) {
    throw new InputError('Expected `-` (standard input) once, got it twice', { hint: 'name it once' });
  }
  const files: string[] = [];
  for (const pattern of patterns) files.push(...(await expandPattern(pattern, cwd)));
  return files;
}

async function expandPattern(pattern: string, cwd: string): Promise<readonly string[]> {
  if (pattern === STDIN || !isDynamicPattern(pattern) || (await exists(resolve(cwd, pattern)))) {
    return [pattern];
  }
  const files = await glob(pattern, {
    cwd,
    absolute: isAbsolute(pattern),
    expandDirectories: false,
    onlyFiles: true,
  });
  if (files.length > 0) return files.toSorted(naturally);
  throw new InputError(`No file matches ${pattern}`, { hint: 'check the pattern and the current folder' });
}

function exists(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}

const collator = new Intl.Collator('en', { numeric: true });

function naturally(a: string, b: string): number {
  return collator.compare(a, b) || (a < b ? -1 : 1);
}
