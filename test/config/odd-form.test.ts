import { describe, expect, it } from 'vitest';
import { flagsTakenByNpm, oddForm } from '../../src/config/odd-form.ts';

describe('the form of a value', () => {
  it.each([
    ['"http://a.test/"', 'is in quotes, which are part of it'],
    ["'k3Yp'", 'is in quotes, which are part of it'],
    ['k3Yp\r', 'ends in a carriage return, as files of Windows have it'],
    ['k3Yp\n', 'ends in a line break'],
    [' k3Yp', 'begins or ends with white space'],
    ['k3Yp # the secret', 'has a comment at its end, which is part of it'],
    ['“k3Yp”', 'begins with a typographic quote'],
    ['${SECRET}', 'looks like the name of a variable that was not replaced'],
    ['<SECRET>', 'is a placeholder that was not filled in'],
    ['your-webhook-secret', 'is a placeholder that was not filled in'],
    ['changeme', 'is a placeholder that was not filled in'],
  ])('is odd: %j', (value, what) => {
    expect(oddForm(value)?.what).toBe(what);
  });

  it.each([
    'k3Yp-77aQ',
    'http://a.test/?a=b#c',
    'it’s',
    'a#b',
    'whsec_AAAA',
    's3cret',
    'my-secret',
    '5s',
    '',
  ])('is not odd: %j', (value) => {
    expect(oddForm(value)).toBeUndefined();
  });
});

it('names the flags that npm took, but not the settings of npm itself', () => {
  const env = { npm_lifecycle_event: 'webhook', npm_config_user_id: 'true', npm_config_yes: 'true' };
  expect(flagsTakenByNpm(['--event', '--user-id', '--yes'], env)).toEqual(['--user-id']);
  expect(flagsTakenByNpm(['--user-id'], { npm_config_user_id: 'true' })).toEqual([]);
});
