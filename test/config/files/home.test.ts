import { homedir } from 'node:os';
import { afterEach, expect, it, vi } from 'vitest';
import { homeFolder } from '../../../src/config/files/home.ts';

afterEach(() => vi.unstubAllEnvs());

it('is HOME, or else the home folder of the system', () => {
  expect(homeFolder({ HOME: '/given' })).toBe('/given');
  expect(homeFolder({})).toBe(homedir());
});

it('ignores an empty HOME, which would be the current folder', () => {
  vi.stubEnv('HOME', '');
  expect(homeFolder({ HOME: '' })).toBeUndefined();
});
