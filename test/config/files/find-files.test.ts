import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { findProjectFile, findUserFile, unreadConfigs } from '../../../src/config/files/find-files.ts';
import { temporaryFolder } from '../../temporary-folder.ts';

const PACKAGE = '{ "name": "x" }';

describe('unreadConfigs', () => {
  it('finds configs that are not supported in the searched folders', () => {
    const names = ['.hooksrc.toml', '.hooksrc.json5', 'hooks.config.json', 'hooks.config.mts'];
    const files = Object.fromEntries([...names, '.hooksrc.yaml', '.hooksrc.yaml~'].map((name) => [name, '']));
    const folder = temporaryFolder({ ...files, 'package.json': PACKAGE, 'a/x': '' });
    const found = names.map((name) => join(folder, name));
    expect(unreadConfigs(join(folder, 'a'), {}).toSorted()).toEqual(found.toSorted());
  });
});

describe('unreadConfigs without a config', () => {
  it('finds files with a similar name and a setting of hooks', () => {
    const near = ['hooksrc.yaml', 'hooks.yml', '.hookrc', 'hooks-config.json'];
    const files = Object.fromEntries(near.map((name) => [name, '{ "webhooks": [] }']));
    const others = {
      'hooks.json': '{ "PreToolUse": [] }',
      'hooks.ts': 'export const a = 1;',
      'x.yaml': 'webhooks: []',
    };
    const folder = temporaryFolder({ ...files, ...others });
    expect(unreadConfigs(folder, {}).toSorted()).toEqual(near.map((name) => join(folder, name)).toSorted());
    const found = temporaryFolder({ ...files, '.hooksrc.yaml': '' });
    expect(unreadConfigs(found, {})).toEqual([]);
  });
});

describe('unreadConfigs of the user', () => {
  it('finds configs that are not supported, or that would run code', () => {
    const names = ['config.toml', '.hooksrc.json5', 'config.js'];
    const files = Object.fromEntries(
      [...names, 'config.yaml', 'notes.txt'].map((name) => [`hooks/${name}`, '']),
    );
    const folder = temporaryFolder({ ...files, 'empty/x': '' });
    const found = unreadConfigs(join(folder, 'empty'), { XDG_CONFIG_HOME: folder });
    expect(found.toSorted()).toEqual(names.map((name) => join(folder, 'hooks', name)).toSorted());
  });
});

describe('findProjectFile', () => {
  it('finds a package.json only if it has the key hooks', async () => {
    for (const text of ['{ "hooks": {} }', '\ufeff{ "hooks": {} }']) {
      const folder = temporaryFolder({ 'package.json': text });
      expect(findProjectFile(folder)).toBe(join(folder, 'package.json'));
    }
    const none = temporaryFolder({ 'package.json': '{ "keywords": ["hooks"], "x": { "hooks": 1 } }' });
    expect(findProjectFile(none)).toBeUndefined();
  });

  it('searches every folder up to the nearest package.json', async () => {
    const folder = temporaryFolder({
      '.hooksrc': '',
      'app/package.json': PACKAGE,
      'app/src/deep/x': '',
      'app/src/.hooksrc.json': '{}',
      'lib/package.json': PACKAGE,
      'lib/src/x': '',
    });
    expect(findProjectFile(join(folder, 'app/src/deep'))).toBe(join(folder, 'app/src/.hooksrc.json'));
    expect(findProjectFile(join(folder, 'app'))).toBeUndefined();
    expect(findProjectFile(join(folder, 'lib/src'))).toBeUndefined();
  });

  it('searches only the current folder if there is no package.json above', async () => {
    const folder = temporaryFolder({ '.hooksrc.js': '', 'a/x': '', 'b/.hooksrc': '' });
    expect(findProjectFile(join(folder, 'a'))).toBeUndefined();
    expect(findProjectFile(join(folder, 'b'))).toBe(join(folder, 'b/.hooksrc'));
  });
});

describe('findUserFile', () => {
  it.each(['config', 'config.json', 'config.yaml', 'config.yml', '.hooksrc', '.hooksrc.yaml'])(
    'finds %s in XDG_CONFIG_HOME',
    async (name) => {
      const folder = temporaryFolder({ [`hooks/${name}`]: '' });
      expect(findUserFile({ XDG_CONFIG_HOME: folder })).toBe(join(folder, 'hooks', name));
    },
  );

  it('searches ~/.config without XDG_CONFIG_HOME', async () => {
    const folder = temporaryFolder({ '.config/hooks/config.yaml': '' });
    expect(findUserFile({ HOME: folder })).toBe(join(folder, '.config/hooks/config.yaml'));
  });

  it('ignores code', async () => {
    const folder = temporaryFolder({
      'hooks/config.js': '',
      'hooks/hooks.config.ts': '',
      'hooks/.hooksrc.mjs': '',
    });
    expect(findUserFile({ XDG_CONFIG_HOME: folder })).toBeUndefined();
  });
});
