import { homedir } from 'node:os';
import { afterEach, expect, it, vi } from 'vitest';
import { homeFolder } from '../../../src/config/files/home.ts';

afterEach(() => vi.unstubAllEnvs());

it('is the HOME that is given, else that of the system', () => {
  expect(homeFolder({ HOME: '/given' })).toBe('/given');
  expect(homeFolder({})).toBe(homedir());
});

it('is not an empty one, which would be the current folder', () => {
  vi.stubEnv('HOME', '');
  expect(homeFolder({ HOME: '' })).toBeUndefined();
});
