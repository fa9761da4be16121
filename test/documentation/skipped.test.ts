import { describe, expect, it } from 'vitest';
import packageJson from '../../package.json' with { type: 'json' };
import { blocksIn, commandsOf } from './blocks.ts';
import { runnable, SKIPPED } from './skipped.ts';

const LINES = blocksIn('sh').flatMap(commandsOf);

describe('a part of a command that the tests of the docs skip', () => {
  it.each(SKIPPED)('is in the docs: %s', (part, reason) => {
    expect(LINES.filter((line) => part.test(line))).not.toEqual([]);
    expect(reason).toMatch(/^(?:installs|changes|needs)/);
  });

  it('is small: most commands run', () => {
    const skipped = LINES.filter((line) => line !== '' && runnable(line) === '');
    expect(skipped.length).toBeLessThan(10);
    expect(LINES.length).toBeGreaterThan(60);
  });
});

describe('the tarball that the docs install', () => {
  it('is that of this version', () => {
    const names = LINES.flatMap((line) => line.match(/hooks-cli-\S+\.tgz/g) ?? []);
    expect(names.length).toBeGreaterThan(2);
    const { version } = packageJson;
    expect(names.filter((name) => ![`hooks-cli-${version}.tgz`, 'hooks-cli-*.tgz'].includes(name))).toEqual(
      [],
    );
  });
});

describe('a package that the docs install beside hooks-cli', () => {
  const { devDependencies, peerDependencies } = packageJson;
  const named = LINES.filter((line) => line.startsWith('npm install ') && !line.includes('.tgz')).flatMap(
    (line) =>
      [
        ...line.replace(/\s# .*$/, '').matchAll(/(?<=["\s])([a-z][\w-]*)@([^"\s]+(?: [^"\s]+)?)(?="|\s|$)/g),
      ].map(([, name = '', range = '']) => [name, range] as const),
  );

  it('exists', () => {
    expect(named).toHaveLength(5);
  });

  it.each(named)('is tested in this version: %s %s', (name, range) => {
    const peer = (peerDependencies as Record<string, string>)[name];
    const tested = (devDependencies as Record<string, string>)[name]?.replace('^', '') ?? '';
    expect(peer === range || tested.startsWith(`${range}.`)).toBe(true);
  });
});
