import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { loadSettings } from '../src/config/settings.ts';
import { temporaryFolder } from './temporary-folder.ts';

interface Block {
  readonly page: string;
  readonly text: string;
}

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const pages = ['README.md', ...readdirSync(join(ROOT, 'docs')).map((name) => `docs/${name}`)];
const documentation = pages
  .filter((page) => page.endsWith('.md'))
  .map((page) => ({ page, text: readFileSync(join(ROOT, page), 'utf8') }));

/** The fenced blocks of README.md and docs/ in a language. */
function blocksIn(language: string): readonly Block[] {
  const fenced = new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\``, 'gms');
  return documentation.flatMap(({ page, text }) =>
    [...text.matchAll(fenced)].map(([, block = '']) => ({ page, text: block })),
  );
}

/** test/documentation/ci-jobs.system.test.ts runs the workflow and the job. */
const isConfig = ({ page }: Block): boolean => page !== 'docs/ci.md';

describe('a file in the docs', () => {
  it.each(blocksIn('yaml').filter(isConfig))('is a config that loads: $page', async ({ text }) => {
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

  it.each(blocksIn('json'))('is JSON: $page', ({ text }) => {
    expect(JSON.parse(text)).toBeTypeOf('object');
  });
});
