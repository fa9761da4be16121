import { describe, expect, it } from 'vitest';
import { publicHostOf } from '../../../src/app/load/public-host.ts';

describe('a host before a load', () => {
  it.each([
    'http://8.8.8.8/',
    'http://134744072/',
    'http://[::ffff:8.8.8.8]/',
    'http://[64:ff9b::808:808]/',
    'http://[2002:808:808::1]/',
    'http://[2001:0:808:808::1]/',
    'http://192.0.2.1/',
  ])('is public at %s', async (url) => {
    expect(await publicHostOf(new URL(url), {})).toBeDefined();
  });

  it.each([
    'http://127.0.0.1/',
    'http://localhost/',
    'http://10.0.0.1/',
    'http://169.254.1.1/',
    'http://100.64.0.1/',
    'http://[fd00::1]/',
    'http://[::ffff:10.0.0.1]/',
    'http://[64:ff9b::a00:1]/',
  ])('is not public at %s', async (url) => {
    expect(await publicHostOf(new URL(url), {})).toBeUndefined();
  });

  it('counts as public if its name cannot be looked up, as it may be later', async () => {
    const host = await publicHostOf(new URL('http://receiver.invalid/'), {});
    expect(host).toBe('receiver.invalid, whose address is unknown');
  });
});
